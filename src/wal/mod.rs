//! The write-ahead log: the writes that are in no segment yet.
//!
//! Each batch of writes is one frame, appended before the write returns; recovery finds a batch whole or not at all.
//! The log of a full memtable ends when the memtable is sealed, and is removed when its writes are in segments.
//! Specified in format-spec/wal.md.
//!
//! **Writing.** [`Log`] (`log.rs`) appends frames under the writer lock; its file is allocated ahead, because a sync is
//! faster if the file's length does not change. [`Promise`] names the frames that a write waits for, outside that lock.
//! [`Durability`] is the caller's choice.
//!
//! **Reading.** [`LogReader`] (`reader.rs`) returns the batches up to the first frame that does not hold, and tells a
//! torn tail from damage:
//!
//! * **A torn tail** is left by a crash: frames at the end that were not synced, in part. No write in it has returned,
//!   so recovery leaves it out, and it is gone when the log is rewritten.
//! * **Damage** is everything else. Each frame states how much of the log was durable when it was written. If bytes do
//!   not hold that a later frame states as durable, the media lost them: an error.
//!
//! `search.rs` finds later frames in linear time, whatever the bytes are; `scan.rs` lists all frames of a damaged log,
//! for repair.

#[cfg(test)]
mod hostile;
mod log;
mod names;
mod reader;
mod scan;
mod search;

pub use log::Durability;
pub(crate) use log::{Log, Promise, rewrite};
pub use names::is_log;
pub(crate) use names::{name, number_at, number_of, numbers_from};
pub(crate) use reader::LogReader;
pub(crate) use scan::FramePlace;
