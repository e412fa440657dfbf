//! Ids in the order of the first table to pages and their index.

use crate::fingerprint::Record;
use crate::format::id_page::{self, IdEntry};
use crate::format::page;

/// The ids of a segment, ready to be written.
#[derive(Debug, Default)]
pub(super) struct EncodedIds {
    /// Pages of ids.
    pub(super) pages: Vec<u8>,
    /// How many fingerprints begin in each page, and checksums.
    pub(super) index: Vec<u8>,
}

/// Pages in one checksummed chunk of the index.
pub(super) const INDEX_CHUNK: usize = 1024;

/// Encodes the ids of records that are sorted by fingerprint, then id.
pub(super) fn encode_ids(records: &[Record]) -> EncodedIds {
    let mut previous = None;
    let entries: Vec<IdEntry> = records
        .iter()
        .map(|record| IdEntry {
            id: record.id,
            begins: previous.replace(record.fingerprint) != Some(record.fingerprint),
        })
        .collect();
    let (mut rest, mut begun) = (entries.as_slice(), Vec::new());
    let mut ids = EncodedIds::default();
    for number in 0.. {
        if rest.is_empty() {
            break;
        }
        let (now, behind) = rest.split_at(id_page::fill(rest));
        let mut page = Vec::with_capacity(id_page::SIZE);
        id_page::write(now, &mut page);
        id_page::close(&mut page, number, behind.is_empty());
        ids.pages.append(&mut page);
        begun.push(u16::try_from(now.iter().filter(|entry| entry.begins).count()).unwrap_or(u16::MAX));
        rest = behind;
    }
    for (number, chunk) in (0..).zip(begun.chunks(INDEX_CHUNK)) {
        let bytes: Vec<u8> = chunk.iter().flat_map(|count| count.to_le_bytes()).collect();
        ids.index.extend_from_slice(&bytes);
        ids.index.extend_from_slice(&page::checksum(page::Stream::IdIndex, number, &bytes).to_le_bytes());
    }
    ids
}
