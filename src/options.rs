//! How an open store behaves; nothing here is persisted.

use crate::env::{Env, FileSystem, ReadMode};
use std::sync::Arc;

/// Options of an open store.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) read_mode: ReadMode,
    pub(crate) env: Arc<dyn Env>,
}

impl Default for Options {
    /// The real file system, read by memory map.
    fn default() -> Self {
        Self { read_mode: ReadMode::default(), env: Arc::new(FileSystem) }
    }
}

impl Options {
    /// The same as [`Options::default`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads segments in this way.
    #[must_use]
    pub fn with_read_mode(mut self, mode: ReadMode) -> Self {
        self.read_mode = mode;
        self
    }

    /// Keeps all files in this environment.
    #[must_use]
    pub fn with_env(mut self, env: Arc<dyn Env>) -> Self {
        self.env = env;
        self
    }
}
