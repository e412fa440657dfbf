//! Segments: one immutable file with all tables of one sorted run, the ids once, indexes and code tables
//! (format-spec/segment.md, ids.md, text-ids.md).
//!
//! A segment never changes; it appears under its name only when it is complete and durable. Readers check every byte
//! before they use it: opening reads and checks footer, codes, and of each index the directory and the last chunk;
//! other chunks and pages are checked at the first touch. Damage is an error with path and offset, never a wrong
//! answer.
//!
//! **Writing.** [`write_segment`] (`build`) takes sorted records in chunks ([`RecordChunk`]). It encodes the primary
//! table (`table_writer`, or rows of wide fingerprints) and the ids (`text_ids` for texts) as the chunks come, then the
//! secondary tables from sorted keys. All threads of the executor encode; one more thread writes the sections in order
//! (`writer`).
//!
//! **Reading.** [`Segment`] (`reader`) has a [`Table`] for each table of the design and the `Ids` (`id_reader`). A
//! search goes from a key to its block by [`BlockIndex`] (`block_index`, `index_chunk`, `directory`), past the prefix
//! [`Filter`] if there is one, and reads and decodes the block (`file`, [`Table::block`]). Its rank in the primary
//! table leads to the ids, which stand in units (`id_unit`, `id_places`). [`IdCursor`] and [`SegmentRecords`] walk over
//! everything in order; [`Ranks`] finds ranks in order, [`RankSearch`] those of many keys together.
//!
//! **Upkeep.** `verify` checks every byte, `salvage` reads the sound parts of a damaged segment, and `obsolete_files`
//! removes files after their last reader. A `Segment` is shared between threads by `Arc`, and no read of a mapped file
//! takes a lock: filters are set once (`OnceLock`); chunks of indexes and bits for checked pages are atomics. Positioned
//! reads take one of the page cache.

mod block_index;
mod build;
mod damage;
mod directory;
mod file;
mod filter;
mod id_cursor;
mod id_places;
mod id_reader;
mod id_unit;
mod index_chunk;
pub(crate) mod name;
mod obsolete_files;
mod rank_search;
mod ranks;
mod reader;
mod records;
mod salvage;
mod saved_filters;
mod sketches;
mod table;
mod table_writer;
mod text_ids;
mod verify;
mod verify_ids;
mod writer;

pub(crate) use block_index::{BlockIndex, IndexSlot};
pub(crate) use build::builder::{Building, Making, SecondaryKeySource, SketchSource, write_segment};
pub(crate) use build::chunk::{Expected, RecordChunk, chunks};
pub(crate) use build::id_index::{IdIndexEntries, id_hash, id_hash_of};
pub(crate) use build::key_sorters::KeySorters;
pub use damage::Damage;
pub(crate) use directory::Directory;
pub(crate) use file::{PageBuffer, SegmentFile};
pub(crate) use filter::{Filter, FilterPrefix, Nearness};
pub(crate) use id_cursor::IdCursor;
pub(crate) use id_reader::IdPlace;
#[cfg(any(test, fuzzing))]
pub(crate) use id_reader::Ids;
pub(crate) use id_unit::IdScratch;
pub(crate) use name::{filters_path, is_filters, is_segment_name, segment_name, segment_of_filters};
pub(crate) use obsolete_files::ObsoleteFiles;
pub(crate) use rank_search::{RankSearch, TOGETHER};
pub(crate) use ranks::{RankCursor, Ranks};
pub(crate) use reader::{Segment, fingerprints_of, read_footer};
pub(crate) use records::SegmentRecords;
pub(crate) use salvage::{Salvage, SalvagedIds, SalvagedUnit};
pub(crate) use saved_filters::{save_filters, saved_filter, verify_filters};
pub(crate) use table::{Scratch, Table};
pub(crate) use table_writer::TableEncoder;
pub(crate) use verify::verify_segment;
#[cfg(any(test, fuzzing))]
pub(crate) use verify_ids::IdVerifier;
