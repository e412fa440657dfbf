//! Ids in the order of the first table to pages and their index.

use super::pieces::Pieces;
use crate::fingerprint::Record;
use crate::format::id_page::{self, IdEntry};
use crate::format::page;

/// Pages in one checksummed chunk of the index.
pub(super) const INDEX_CHUNK: usize = 1024;

/// Most records that wait for their page.
const WAITING: usize = 4 * id_page::MAX_RECORDS;

/// Encodes the ids of records that are sorted by fingerprint, then id, and distinct. Their pages go to `pages` as they
/// are done; returns their index: how many fingerprints begin in each page, and checksums.
///
/// # Errors
/// That of `pages`, if they are not taken any more.
pub(crate) fn encode_ids<E>(records: impl Iterator<Item = Record>, mut pages: Pieces<'_, E>) -> Result<Vec<u8>, E> {
    let mut previous = None;
    let mut entries = records
        .map(|record| IdEntry {
            id: record.id,
            begins: previous.replace(record.fingerprint) != Some(record.fingerprint),
        })
        .peekable();
    let (mut waiting, mut done, mut begun) = (Vec::new(), 0, Vec::new());
    for number in 0.. {
        // A page takes no more than it can count: what comes later does not matter to it.
        if waiting.len() - done < id_page::MAX_RECORDS {
            waiting.drain(..done);
            done = 0;
            waiting.extend(entries.by_ref().take(WAITING - waiting.len()));
        }
        let rest = waiting.get(done..).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        let (now, behind) = rest.split_at(id_page::fill(rest));
        let mut page = Vec::with_capacity(id_page::SIZE);
        id_page::write(now, &mut page);
        id_page::close(&mut page, number, behind.is_empty() && entries.peek().is_none());
        pages.append(&mut page)?;
        begun.push(u16::try_from(now.iter().filter(|entry| entry.begins).count()).unwrap_or(u16::MAX));
        done += now.len();
    }
    pages.finish()?;
    let mut index = Vec::new();
    for (number, chunk) in (0..).zip(begun.chunks(INDEX_CHUNK)) {
        let bytes: Vec<u8> = chunk.iter().flat_map(|count| count.to_le_bytes()).collect();
        index.extend_from_slice(&bytes);
        index.extend_from_slice(&page::checksum(page::Stream::IdIndex, number, &bytes).to_le_bytes());
    }
    Ok(index)
}
