//! What has to be durable before a write returns.

use crate::error::Result;
use crate::wal::{Durability, Log};
use std::sync::Arc;

/// What has to be durable before somebody is told that a write is done.
#[derive(Debug)]
pub(crate) struct Promise {
    pub(crate) log: Arc<Log>,
    pub(crate) end: u64,
}

impl Promise {
    /// Returns when it is.
    pub(crate) fn keep(&self, durability: Durability) -> Result<()> {
        self.log.sync(self.end, durability)
    }
}
