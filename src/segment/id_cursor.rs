//! The ids of a segment one after another.

use super::Segment;
use super::id_unit::IdScratch;
use crate::error::Result;
use crate::fingerprint::Id;
use std::sync::Arc;
use std::vec::Drain;

/// Walks over the ids of a segment in order, with one unit in memory, however many ids a fingerprint has.
#[derive(Debug)]
pub(crate) struct IdCursor {
    segment: Arc<Segment>,
    scratch: IdScratch,
    /// The ids of the last unit that was read, and whether each begins a fingerprint.
    unit: Vec<(bool, Id)>,
    at: usize,
    /// How many fingerprints begin before the next one in the unit.
    begun: usize,
    /// The unit after them.
    next_unit: u64,
}

impl IdCursor {
    pub(crate) fn new(segment: Arc<Segment>) -> Self {
        Self { segment, scratch: IdScratch::default(), unit: Vec::new(), at: 0, begun: 0, next_unit: 0 }
    }

    /// The first id of the fingerprint with this rank in the primary table, and a cursor after it.
    pub(crate) fn of_rank(segment: &Arc<Segment>, rank: u64) -> Result<(Self, Option<Id>)> {
        let mut cursor = Self::new(Arc::clone(segment));
        cursor.seek(rank)?;
        let first = cursor.take()?.map(|(_, id)| id);
        Ok((cursor, first))
    }

    /// Goes to the first id of the fingerprint with this rank in the primary table. Cheap if it is a little ahead.
    pub(crate) fn seek(&mut self, rank: u64) -> Result<()> {
        let (number, nth) = self.segment.ids().place_of(rank)?;
        if number + 1 != self.next_unit || nth < self.begun {
            self.read(number)?;
        }
        // The unit agrees with the index, so it has enough.
        while let Some(&(begins, _)) = self.unit.get(self.at) {
            if begins && self.begun == nth {
                break;
            }
            self.advance();
        }
        Ok(())
    }

    /// The next id, and whether it begins a fingerprint; `None` after the last one.
    pub(crate) fn peek(&mut self) -> Result<Option<(bool, &Id)>> {
        while self.at == self.unit.len() && self.next_unit < self.segment.ids().unit_count() {
            self.read(self.next_unit)?;
        }
        Ok(self.unit.get(self.at).map(|(begins, id)| (*begins, id)))
    }

    /// Skips the next id.
    pub(crate) fn advance(&mut self) {
        if let Some((begins, _)) = self.unit.get(self.at) {
            self.begun += usize::from(*begins);
            self.at += 1;
        }
    }

    /// As [`IdCursor::peek`]; skips the id.
    pub(crate) fn take(&mut self) -> Result<Option<(bool, Id)>> {
        self.peek()?;
        let taken = self.unit.get_mut(self.at).map(|(begins, id)| (*begins, std::mem::replace(id, Id::Count(0))));
        self.advance();
        Ok(taken)
    }

    /// Takes the remaining ids of the unit, or all of the next one; none after the last one.
    pub(crate) fn take_unit(&mut self) -> Result<Drain<'_, (bool, Id)>> {
        self.peek()?;
        // To go back to one of them, the unit has to be read again.
        self.begun = usize::MAX;
        Ok(self.unit.drain(self.at..))
    }

    /// As [`IdCursor::take`], but `None` where the next fingerprint begins.
    pub(crate) fn take_same(&mut self) -> Result<Option<Id>> {
        match self.peek()? {
            Some((false, _)) => Ok(self.take()?.map(|(_, id)| id)),
            _ => Ok(None),
        }
    }

    fn read(&mut self, number: u64) -> Result<()> {
        (self.at, self.begun) = (0, 0);
        self.unit.clear();
        self.next_unit = number + 1;
        let entries = &mut self.unit;
        let read = self.segment.ids().unit(number, &mut self.scratch, |begins, id| entries.push((begins, id)));
        if read.is_err() {
            self.unit.clear();
        }
        read
    }
}
