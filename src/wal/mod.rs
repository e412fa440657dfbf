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

mod durability;
#[cfg(test)]
mod hostile;
mod log;
mod names;
mod reader;
mod scan;
mod search;

pub use durability::Durability;
pub(crate) use log::{Log, rewrite};
pub(crate) use names::{is_log, name, number_of, numbers_from};
pub(crate) use reader::{LogReader, Tail};
pub(crate) use scan::FramePlace;
