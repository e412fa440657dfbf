mod ahead;
mod chunks;
mod cut;
mod deal;
mod entry;
mod item;
mod lengths;
mod merge;
mod peak;
pub(crate) mod radix;
mod runs;
mod sample;
mod sorter;
mod spool;
#[cfg(test)]
mod tests;
mod text_chunks;
mod text_runs;
mod text_sorter;
#[cfg(test)]
mod text_tests;
mod texts;
mod workspace;

pub(crate) use chunks::{Chunk, Chunks, Sorted};
pub(crate) use deal::{Dealer, cut, deal};
pub(crate) use entry::{NumberedRecord, fingerprints};
pub(crate) use item::Item;
pub(crate) use radix::{drop_equal, sorted};
pub(crate) use sample::Sample;
pub(crate) use sorter::Sorter;
pub(crate) use spool::Spool;
pub(crate) use text_chunks::{SortedTexts, TextChunk};
pub(crate) use text_sorter::TextSorter;
pub(crate) use workspace::Workspace;
