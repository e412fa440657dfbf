//! Segments: one immutable file with all tables of one sorted run, the ids once, index and code tables.
//!
//! [`SegmentWriter`] makes the file in one forward pass under a temporary name. [`Segment`] opens it: index, code
//! tables and the directory of ids are read into memory and checked whole, pages of blocks and ids are checked when
//! they are read. The file is specified in format-spec/segment.md.

mod block_index;
mod build;
mod damage;
mod directory;
mod file;
mod filter;
mod id_cursor;
mod id_places;
mod id_reader;
mod id_search;
mod id_unit;
mod id_writer;
pub(crate) mod name;
mod obsolete_files;
mod ranks;
mod reader;
mod records;
mod row_writer;
mod salvage;
mod table;
mod table_writer;
mod text_ids;
mod verify;
mod verify_ids;
mod writer;

pub(crate) use crate::segment::build::expected::Expected;
pub(crate) use block_index::BlockIndex;
pub(crate) use build::builder::Building;
pub(crate) use build::builder::SecondaryKeySource;
pub(crate) use build::builder::write_segment;
pub(crate) use build::chunk::{RecordChunk, chunks};
pub(crate) use build::id_index::{IdIndexEntries, id_hash, id_hash_of};
pub use damage::Damage;
pub(crate) use directory::Directory;
pub(crate) use file::SegmentFile;
pub(crate) use filter::{Filter, FilterPrefix};
pub(crate) use id_cursor::IdCursor;
#[cfg(any(test, fuzzing))]
pub(crate) use id_reader::Ids;
pub(crate) use id_unit::IdScratch;
pub(crate) use name::{is_segment_name, keys_of, segment_name};
pub(crate) use obsolete_files::ObsoleteFiles;
pub(crate) use ranks::{RankCursor, Ranks};
pub(crate) use reader::{Segment, fingerprints_of, read_footer};
pub(crate) use records::SegmentRecords;
pub(crate) use salvage::Salvage;
pub(crate) use salvage::{SalvagedIds, SalvagedUnit};
pub(crate) use table::{Scratch, Table};
pub(crate) use table_writer::TableEncoder;
pub(crate) use verify::verify_segment;
#[cfg(any(test, fuzzing))]
pub(crate) use verify_ids::IdVerifier;
