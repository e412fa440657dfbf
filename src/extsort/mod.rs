//! Sorting more than memory holds.
//!
//! A [`Sorter`] takes items of fixed size in any order, a [`TextSorter`] fingerprints with texts. Both keep them until
//! the memory they may use is full, sort it ([`radix`]), and have a thread append it as a *run* to one temporary file
//! without a name (`runs.rs`). [`Sorted`] and [`SortedTexts`] return the result as often as wanted, to any number of
//! threads, in *chunks*: ascending, each record once unless the sorter keeps equal ones, together all of them.
//! Runs of items consist of compressed blocks (`columns.rs`), which all threads merge (`merge.rs`); one thread merges
//! runs of texts (`merge_texts.rs`). The reader threads of the executor make the next chunk while the caller works on
//! this one (`ahead.rs`), in the memory of the one before (`pool.rs`). Without runs everything stays in memory.
//!
//! Guaranteed: the buffers of a sorter, including copies made to sort, take no more than the bytes it was given, and
//! those of an iterator over chunks no more than the bytes that it was given, for any items. Besides there are the
//! buckets of `radix`, at worst a million items a thread if the items are skewed, three blocks a run, the copies of
//! pieces that are merged, 32,768 items a thread, and single records larger than the memory. No temporary data remain
//! after a failure or when the process is killed.
//!
//! A [`Workspace`] is the memory and the directory of a load, and divides the memory among its phases. A [`Spool`]
//! keeps bytes until their place in a file is reached. [`TextRanks`] turns texts into numbers of the same order.
//! [`deal`] and [`Dealer`] deal values to buckets on several threads.

mod ahead;
mod columns;
mod deal;
mod item;
mod memory;
mod merge;
mod merge_texts;
mod piece;
mod pool;
pub(crate) mod radix;
mod runs;
mod sample;
mod sorted;
mod sorted_texts;
mod sorter;
mod spool;
mod temporary_file;
#[cfg(test)]
mod tests;
mod text_chunk;
mod text_ranks;
mod text_sorter;
#[cfg(test)]
mod text_tests;
mod texts;
mod walk;
mod workspace;

pub(crate) use deal::{Dealer, cut, deal};
pub(crate) use item::{Item, NumberedRecord};
pub(crate) use piece::Piece;
pub(crate) use pool::{Lent, Pool};
pub(crate) use radix::{drop_equal, sorted};
pub(crate) use sample::Sample;
pub(crate) use sorted::Sorted;
pub(crate) use sorted_texts::SortedTexts;
pub(crate) use sorter::Sorter;
pub(crate) use spool::Spool;
pub(crate) use text_chunk::TextChunk;
pub use text_ranks::TextRanks;
pub(crate) use text_sorter::TextSorter;
pub(crate) use walk::Walk;
pub(crate) use workspace::Workspace;
