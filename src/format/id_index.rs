//! The index of pages of ids: how many fingerprints begin in each page, in chunks (format-spec/ids.md).

use super::fields::Fields;
use super::page::{self, Stream};
use crate::error::Result;

/// Pages in one checksummed chunk.
const CHUNK: usize = 1024;

pub(crate) fn write(begun: &[u16]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, chunk) in (0..).zip(begun.chunks(CHUNK)) {
        let mut bytes: Vec<u8> = chunk.iter().flat_map(|count| count.to_le_bytes()).collect();
        page::seal(&mut bytes, Stream::IdIndex, number);
        out.append(&mut bytes);
    }
    out
}

/// How many fingerprints begin in each of `pages` pages.
pub(crate) fn parse(fields: &mut Fields<'_>, pages: u64) -> Result<Vec<u16>> {
    let (mut begun, mut left) = (Vec::new(), pages);
    for number in 0.. {
        if left == 0 {
            break;
        }
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK);
        let bytes = fields.bytes("fingerprints that begin in a page", count * 2, &format_args!("{count} pages"))?;
        fields.checksum_of(page::checksum(Stream::IdIndex, number, bytes))?;
        begun.extend(bytes.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair)));
        left -= count as u64;
    }
    fields.end()?;
    Ok(begun)
}
