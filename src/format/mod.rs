//! The on-disk structures: struct to bytes and back, mirrored line by line in format-spec/.
//!
//! Integers are little-endian. Every byte of every file is covered by a CRC-32 (the one of zlib), by a fixed value that
//! is checked, or is padding that has to be zero. Parsing never panics, never allocates more than the bytes at hand
//! justify, and refuses what the specification calls invalid, with the offset where it stands.

pub(crate) use conventions::{CHECKSUM, VERSION};

pub(crate) mod codes;
mod conventions;
pub(crate) mod fields;
pub(crate) mod footer;
pub(crate) mod header;
pub(crate) mod id_index;
pub(crate) mod id_page;
pub(crate) mod index;
pub(crate) mod log;
pub(crate) mod manifest;
pub(crate) mod page;
pub(crate) mod parameters;
pub(crate) mod text_frame;
pub(crate) mod text_index;

pub use fields::Field;
pub use parameters::Parameters;
