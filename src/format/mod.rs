//! The on-disk structures: struct to bytes and back. Each file mirrors a part of format-spec/.
//!
//! Every byte of every file is covered by a CRC-32 (the one of zlib), is a fixed value that readers check, or is
//! padding that must be zero. Parsing never panics, never allocates more than the bytes at hand justify, and reports
//! every violation of the specification as `Damaged` or `Unsupported`, with its offset.
//!
//! Parsers take named fields from [`fields::Fields`], which can also record them for `fpdump hex`. Units with a
//! checksum of their own (pages, chunks) are closed and opened by `page`; the checksum covers the unit's place.
//! [`Parameters`] (`parameters`) stand in every file.
//!
//! * A segment (segment.md): `header`; for each table `page` for its blocks, `codes` (codes.md) and `index`; `id_page`,
//!   `id_groups`, `id_groups_writer`, `joined` and `id_index` (ids.md), or `text_frame` and `text_index` (text-ids.md);
//!   `footer`.
//! * The manifest (manifest.md): `manifest`. The write-ahead log (wal.md): `log`. Saved filters (filters.md):
//!   `filters`.
//!
//! Everything here is pure: no files, threads or locks. `segment`, `version` and `wal` do the input and output.

pub(crate) use conventions::{CHECKSUM, VERSION};

pub(crate) mod codes;
mod columns;
mod conventions;
pub(crate) mod fields;
pub(crate) mod filters;
pub(crate) mod footer;
pub(crate) mod header;
mod id_groups;
mod id_groups_writer;
pub(crate) mod id_index;
pub(crate) mod id_page;
pub(crate) mod index;
mod joined;
mod key_format;
pub(crate) mod log;
pub(crate) mod manifest;
pub(crate) mod page;
pub(crate) mod parameters;
pub(crate) mod text_frame;
pub(crate) mod text_index;

pub use fields::Field;
pub use key_format::KeyFormat;
pub use parameters::Parameters;
