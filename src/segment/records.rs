use super::id_unit::IdScratch;
use super::{IdCursor, Scratch, Segment};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, IdRef, Record};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Iterates over records by fingerprint, then id, with a block of fingerprints and a unit of ids in memory. Ends after
/// the first error.
#[derive(Debug)]
pub(crate) struct SegmentRecords<F = u64> {
    segment: Arc<Segment>,
    scratch: Scratch,
    ids: IdCursor,
    /// The number of the next block of the primary table.
    block: usize,
    /// The remaining fingerprints of the block before, the next one last.
    fingerprints: Vec<F>,
    current: Option<F>,
    ended: bool,
}

impl<F: Fingerprint> SegmentRecords<F> {
    pub(crate) fn new(segment: Arc<Segment>) -> Self {
        Self {
            ids: IdCursor::new(Arc::clone(&segment)),
            segment,
            scratch: Scratch::default(),
            block: 0,
            fingerprints: Vec::new(),
            current: None,
            ended: false,
        }
    }

    /// Starts at the first record whose fingerprint begins with at least these 64 bits, or some records before it.
    pub(crate) fn near(segment: &Arc<Segment>, head: u64) -> Result<Self> {
        let mut records = Self::new(Arc::clone(segment));
        let index = segment.primary_table()?.index();
        records.block = index.find(head)?;
        if records.block < index.len() {
            records.ids.seek(index.rank(records.block)?)?;
        } else {
            records.ended = true;
        }
        Ok(records)
    }

    /// Goes on at the first record whose fingerprint begins with at least these 64 bits, or some records before it; the
    /// records that came so far are before it too.
    pub(crate) fn skip_to(&mut self, head: u64) -> Result<()> {
        let index = self.segment.primary_table()?.index();
        let block = index.find(head)?;
        if block < self.block || self.ended {
            return Ok(());
        }
        self.fingerprints.clear();
        (self.block, self.current) = (block, None);
        self.ended = block >= index.len();
        if self.ended { Ok(()) } else { self.ids.seek(index.rank(block)?) }
    }

    /// Calls `visit` with the records that [`SegmentRecords::near`] returns, until it breaks. Does not allocate texts.
    pub(crate) fn visit_near<E: From<Error>>(
        segment: &Arc<Segment>,
        head: u64,
        mut visit: impl FnMut(F, IdRef<'_>) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<(), E> {
        let (index, ids) = (segment.primary_table()?.index(), segment.ids());
        let mut records = Self::new(Arc::clone(segment));
        records.block = index.find(head)?;
        if records.block >= index.len() {
            return Ok(());
        }
        let wrong = |what| Error::damaged(what).at_path(segment.path());
        let (first, mut before) = ids.place_of(index.rank(records.block)?)?;
        let mut step = |begins: bool, id: IdRef<'_>| {
            if begins && before > 0 {
                before -= 1;
            } else if begins {
                let next = records.next_fingerprint()?;
                records.current = Some(next.ok_or_else(|| wrong("there are ids of no fingerprint"))?);
            }
            records.current.map_or(Ok(ControlFlow::Continue(())), |fingerprint| visit(fingerprint, id))
        };
        let (mut scratch, mut result) = (IdScratch::default(), Ok(ControlFlow::Continue(())));
        for number in first..ids.unit_count() {
            ids.with_checked_unit(number, &mut scratch, |unit| {
                let visited = unit.visit_all(|begins, id| {
                    result = step(begins, ids.borrowed(id));
                    *result.as_ref().unwrap_or(&ControlFlow::Break(()))
                });
                visited.map(|_| ())
            })?;
            if !matches!(result, Ok(ControlFlow::Continue(()))) {
                return result.map(drop);
            }
        }
        match records.next_fingerprint()? {
            None => Ok(()),
            Some(_) => Err(wrong("a fingerprint has no ids").into()),
        }
    }

    fn next_fingerprint(&mut self) -> Result<Option<F>> {
        let table = self.segment.primary_table()?;
        while self.fingerprints.is_empty() && self.block < table.index().len() {
            table.fingerprints(self.block, &mut self.scratch, &mut self.fingerprints)?;
            self.fingerprints.reverse();
            self.block += 1;
        }
        Ok(self.fingerprints.pop())
    }

    fn next_record(&mut self) -> Result<Option<Record<F>>> {
        let Some((begins, id)) = self.ids.take()? else {
            return match self.next_fingerprint()? {
                None => Ok(None),
                Some(_) => Err(self.damaged("a fingerprint has no ids")),
            };
        };
        if begins {
            self.current = self.next_fingerprint()?;
        }
        match self.current {
            Some(fingerprint) => Ok(Some(Record { fingerprint, id })),
            None => Err(self.damaged("there are ids of no fingerprint")),
        }
    }

    #[cold]
    fn damaged(&self, what: &str) -> Error {
        Error::damaged(what).at_path(self.segment.path())
    }
}

impl<F: Fingerprint> Iterator for SegmentRecords<F> {
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_record().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
