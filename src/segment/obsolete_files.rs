//! Removing the files of segments that a store does without.

use crate::env::Env;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

/// Removes files as long as their store is open for writing. Readers may keep a segment longer than that; by then the directory
/// may be another process's, or have another store in it that gave the file's name to a segment of its own.
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
            // What cannot be removed now, the next writer removes.
            let _ = self.env.remove(path);
        }
    }

    /// Removes nothing from now on: the next writer does.
    pub(crate) fn close(&self) {
        *self.is_open.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
