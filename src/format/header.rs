use super::fields::{Fields, seal};
use crate::error::Result;

const MAGIC: &[u8; 8] = b"fpsegmnt";
pub(crate) const SIZE: usize = 16;

pub(crate) fn write() -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&super::VERSION.to_le_bytes());
    seal(&mut out);
    out
}

pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<()> {
    fields.magic(MAGIC)?;
    fields.version()?;
    fields.checksum()
}
