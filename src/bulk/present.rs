//! Leaving out what a store has already, so that it stays a set.

use super::SortedRecords;
use crate::error::{Error, Result};
use crate::fingerprint::Record;
use crate::segment::{Scratch, Segment};

/// Removes the records that a segment has. Only the blocks that may hold one of their fingerprints are read.
///
/// # Errors
/// `Damaged` or `Io` from reading the segment.
pub(crate) fn remove_present(segment: &Segment, records: &mut SortedRecords) -> Result<()> {
    let mut present = Present { segment, scratch: Scratch::default(), page: Vec::new(), block: None, ids: None };
    let mut failed: Option<Error> = None;
    records.retain(|record| {
        // Nothing more is read once reading has failed.
        if failed.is_some() {
            return true;
        }
        present.has(record).map_or_else(
            |error| {
                failed = Some(error);
                true
            },
            |has| !has,
        )
    });
    failed.map_or(Ok(()), Err)
}

/// What was read last: records come sorted, so the next one often needs the same.
struct Present<'a> {
    segment: &'a Segment,
    scratch: Scratch,
    page: Vec<u8>,
    /// A block's number and its keys.
    block: Option<(usize, Vec<u64>)>,
    /// A fingerprint and its ids.
    ids: Option<(u64, Vec<u64>)>,
}

impl Present<'_> {
    fn has(&mut self, record: Record) -> Result<bool> {
        if self.ids.as_ref().is_none_or(|&(fingerprint, _)| fingerprint != record.fingerprint) {
            let ids = self.read(record.fingerprint)?;
            self.ids = Some((record.fingerprint, ids));
        }
        Ok(self.ids.as_ref().is_some_and(|(_, ids)| ids.binary_search(&record.id).is_ok()))
    }

    /// The ids of a fingerprint; none if the segment does not have it.
    fn read(&mut self, fingerprint: u64) -> Result<Vec<u64>> {
        let table = self.segment.first_table()?;
        let index = table.index();
        let number = index.find(fingerprint);
        let mut ids = Vec::new();
        if number < index.len() {
            if self.block.as_ref().is_none_or(|&(decoded, _)| decoded != number) {
                self.block = Some((number, table.block(number, &mut self.scratch)?.to_vec()));
            }
            let position = self.block.as_ref().and_then(|(_, keys)| keys.binary_search(&fingerprint).ok());
            if let Some(position) = position {
                self.segment.ids().ids_of(index.rank(number) + position as u64, &mut self.page, &mut ids)?;
            }
        }
        Ok(ids)
    }
}
