//! The header of a segment file: 16 bytes (format-spec/segment.md).

use super::fields::{Fields, seal};
use crate::error::Result;

/// First bytes of a segment file.
const MAGIC: &[u8; 8] = b"fpsegmnt";
/// Size of the header.
pub(crate) const SIZE: usize = 16;

/// The header's bytes.
pub(crate) fn write() -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&super::VERSION.to_le_bytes());
    seal(&mut out);
    out
}

/// Checks the header.
pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<()> {
    fields.magic(MAGIC)?;
    fields.version()?;
    fields.checksum()
}
