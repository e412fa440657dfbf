//! Segments: one immutable file with all tables of one sorted run, the ids once, index and code tables.
//!
//! [`SegmentWriter`] makes the file in one forward pass under a temporary name. [`Segment`] opens it: index, code
//! tables and the directory of ids are read into memory and checked whole, pages of blocks and ids are checked when
//! they are read. The file is specified in format-spec/segment.md.

mod block_index;
pub(crate) mod checkpoints;
mod directory;
mod file;
mod filter;
mod id_cursor;
mod id_reader;
mod id_search;
mod id_writer;
mod ids;
mod ranks;
mod reader;
mod records;
mod remover;
mod row_writer;
mod salvage;
mod table;
mod table_writer;
mod text_ids;
mod verify;
mod verify_ids;
mod writer;

pub(crate) use block_index::BlockIndex;
pub(crate) use checkpoints::Checkpoints;
pub(crate) use directory::Directory;
pub(crate) use file::SegmentFile;
pub(crate) use filter::{Filter, FilterPrefix};
pub(crate) use id_cursor::IdCursor;
pub(crate) use id_reader::parse_index as parse_id_index;
pub(crate) use id_writer::IdEncoder;
pub(crate) use ids::{IdScratch, Ids};
pub(crate) use ranks::{RankCursor, Ranks};
pub(crate) use reader::{Segment, fingerprints_of, read_footer};
pub(crate) use records::SegmentRecords;
pub(crate) use remover::Remover;
pub(crate) use row_writer::RowEncoder;
pub(crate) use salvage::{Salvage, SalvagedIds, SalvagedUnit};
pub(crate) use table::{Scratch, Table};
pub(crate) use table_writer::{EncodedTable, TableEncoder};
pub(crate) use text_ids::TextEncoder;
#[cfg(fuzzing)]
pub(crate) use text_ids::{TextIds, TextScratch};
pub use verify::Damage;
pub(crate) use verify::verify_segment;
pub(crate) use writer::{EncodedIds, Part, SegmentWriter};
