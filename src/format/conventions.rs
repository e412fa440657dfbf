//! What all files have in common: format-spec/conventions.md.

/// Version of all files; raised by any change of a byte's meaning.
pub(crate) const VERSION: u32 = 5;

/// Size of a checksum in bytes.
pub(crate) const CHECKSUM: usize = 4;
