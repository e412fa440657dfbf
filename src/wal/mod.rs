//! The write-ahead log: what was written and is in no segment yet.
//!
//! Each batch of writes is one frame, appended before anybody is told that it is done; a batch is there whole or not at
//! all. A log begins with a header that is placed durably before the first frame is written, and ends with zeros, which
//! were allocated ahead so that syncing a frame does not have to change the file's length. When the writes of a log are
//! in segments, it is removed. Specified in format-spec/wal.md.
//!
//! **A torn tail** is what a crash leaves: frames at the end that were not synced, in part. It is left out, and is gone when
//! the log is written anew: nobody was promised more. **Damage** is anything else: every frame says how much of the log was durable when it was written, so
//! bytes that do not hold although a later frame knows of them as durable were lost by the media, and that is an error.

#[cfg(test)]
mod hostile;
mod log;
mod reader;
mod scan;
mod search;

use crate::env::Env;
use crate::error::{Error, Result};
use std::path::Path;

pub(crate) use log::{Log, rewrite};
pub(crate) use reader::{LogReader, Tail};
pub(crate) use scan::FramePlace;

/// Ending of the names of logs.
const SUFFIX: &str = ".wal";

/// The name of a log's file.
pub(crate) fn name(number: u64) -> String {
    format!("{number:08}{SUFFIX}")
}

/// The number of a log by its file's name; none if it is no log.
pub(crate) fn number_of(file: &str) -> Option<u64> {
    let number = file.strip_suffix(SUFFIX).and_then(|digits| digits.parse().ok())?;
    (name(number) == file).then_some(number)
}

/// Whether a path is that of a log.
pub(crate) fn is_log(path: &Path) -> bool {
    path.file_name().and_then(|name| number_of(name.to_str()?)).is_some()
}

/// The numbers of the logs in a store's directory from one on, in order.
///
/// # Errors
/// `Io`.
pub(crate) fn numbers_from(env: &dyn Env, store: &Path, first: u64) -> Result<Vec<u64>> {
    let names = env.list(store).map_err(|error| Error::io("cannot list", store, error))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
    numbers.retain(|&number| number >= first);
    numbers.sort_unstable();
    Ok(numbers)
}

/// When a write is done.
///
/// Whatever the level, a write that has returned is seen by all who ask the store from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// When the operating system has it: it survives the end of the process, however that comes, but perhaps not a power
    /// failure.
    Buffered,
    /// When the device has its bytes: it survives a power failure too (`fdatasync`).
    SyncData,
    /// When the device has its bytes and all that the file system knows of the file (`fsync`): for file systems on which
    /// that makes a difference.
    SyncAll,
}
