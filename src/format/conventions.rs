//! Constants of all files (format-spec/conventions.md).

/// Version of all files; every change of a byte's meaning raises it.
pub(crate) const VERSION: u32 = 6;

/// Size of a checksum in bytes.
pub(crate) const CHECKSUM: usize = 4;
