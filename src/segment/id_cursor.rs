//! The ids of a segment one after another.

use super::Segment;
use super::id_unit::IdScratch;
use crate::error::Result;
use crate::fingerprint::Id;
use std::sync::Arc;

/// Walks over the ids of a segment in order, with one unit in memory, however many ids a fingerprint has.
#[derive(Debug)]
pub(crate) struct IdCursor {
    segment: Arc<Segment>,
    scratch: IdScratch,
    /// The ids of the last unit that was read, and whether each begins a fingerprint.
    page: Vec<(bool, Id)>,
    at: usize,
    /// How many fingerprints begin before the next one in the unit.
    begun: usize,
    /// The unit after them.
    next_page: u64,
}

impl IdCursor {
    pub(crate) fn new(segment: Arc<Segment>) -> Self {
        Self { segment, scratch: IdScratch::default(), page: Vec::new(), at: 0, begun: 0, next_page: 0 }
    }

    /// Goes to the first id of the fingerprint with this rank in the primary table. Cheap if it is a little ahead.
    pub(crate) fn seek(&mut self, rank: u64) -> Result<()> {
        let (page, nth) = self.segment.ids().place_of(rank)?;
        if page + 1 != self.next_page || nth < self.begun {
            self.read(page)?;
        }
        // The unit agrees with the index, so it has enough.
        while let Some(&(begins, _)) = self.page.get(self.at) {
            if begins && self.begun == nth {
                break;
            }
            self.advance();
        }
        Ok(())
    }

    /// The next id, and whether it begins a fingerprint; `None` after the last one.
    pub(crate) fn peek(&mut self) -> Result<Option<(bool, &Id)>> {
        while self.at == self.page.len() && self.next_page < self.segment.ids().unit_count() {
            self.read(self.next_page)?;
        }
        Ok(self.page.get(self.at).map(|(begins, id)| (*begins, id)))
    }

    /// Skips the next id.
    pub(crate) fn advance(&mut self) {
        if let Some((begins, _)) = self.page.get(self.at) {
            self.begun += usize::from(*begins);
            self.at += 1;
        }
    }

    /// As [`IdCursor::peek`]; skips the id.
    pub(crate) fn take(&mut self) -> Result<Option<(bool, Id)>> {
        self.peek()?;
        let taken = self.page.get_mut(self.at).map(|(begins, id)| (*begins, std::mem::replace(id, Id::Count(0))));
        self.advance();
        Ok(taken)
    }

    fn read(&mut self, page: u64) -> Result<()> {
        (self.at, self.begun) = (0, 0);
        self.page.clear();
        self.next_page = page + 1;
        let entries = &mut self.page;
        let read = self.segment.ids().unit(page, &mut self.scratch, |begins, id| entries.push((begins, id)));
        if read.is_err() {
            self.page.clear();
        }
        read
    }
}
