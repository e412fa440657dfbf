//! Removes the files of obsolete segments.

use crate::env::Env;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

/// Removes files while their store is open for writing. Readers may keep a segment longer; by then the directory may
/// belong to another process, or to another store that reused the file's name.
#[derive(Debug)]
pub(crate) struct ObsoleteFiles {
    env: Arc<dyn Env>,
    is_open: RwLock<bool>,
}

impl ObsoleteFiles {
    pub(crate) fn new(env: &Arc<dyn Env>) -> Arc<Self> {
        Arc::new(Self { env: Arc::clone(env), is_open: RwLock::new(true) })
    }

    pub(super) fn remove(&self, path: &Path) {
        let is_open = self.is_open.read().unwrap_or_else(PoisonError::into_inner);
        if *is_open {
            // The next writer removes the files that remain.
            let _ = self.env.remove(path);
        }
    }

    pub(crate) fn close(&self) {
        *self.is_open.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
