//! How far the next memtable is.

use crate::db::promise::Promise;
use crate::memtable::Memtable;
use std::sync::Arc;

/// How far the next memtable is.
#[derive(Debug)]
pub(crate) enum Next {
    /// It is not needed yet.
    Later,
    /// The thread that flushes is to make it, and to make durable what was written up to then.
    Wanted(Option<Promise>),
    /// It is being made, or could not be made: then the write that needs it tries.
    Tried,
    /// It is there.
    Made(Arc<Memtable>),
}
