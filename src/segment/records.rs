use super::id_unit::IdScratch;
use super::{IdCursor, Scratch, Segment};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, IdKind, IdRef, Record};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::vec::IntoIter;

/// Iterates over records by fingerprint, then id, with a block of fingerprints, a piece of a unit of ids and its
/// records in memory. Ends after the first error.
#[derive(Debug)]
pub(crate) struct SegmentRecords<F = u64> {
    segment: Arc<Segment>,
    fingerprints: Fingerprints<F>,
    ids: IdCursor,
    current: Option<F>,
    /// The next records, and the error behind them.
    batch: IntoIter<Record<F>>,
    failed: Option<Error>,
    /// Whether nothing else is left to read.
    ended: bool,
}

/// Walks over the fingerprints of a segment.
#[derive(Debug)]
struct Fingerprints<F> {
    segment: Arc<Segment>,
    scratch: Scratch,
    /// The number of the next block of the primary table.
    block: usize,
    /// The remaining fingerprints of the block before, the next one last.
    rest: Vec<F>,
}

impl<F: Fingerprint> Fingerprints<F> {
    #[inline]
    fn next(&mut self) -> Result<Option<F>> {
        match self.rest.pop() {
            Some(next) => Ok(Some(next)),
            None => self.next_block(),
        }
    }

    fn next_block(&mut self) -> Result<Option<F>> {
        let table = self.segment.primary_table()?;
        while self.rest.is_empty() && self.block < table.index().len() {
            table.fingerprints(self.block, &mut self.scratch, &mut self.rest)?;
            self.rest.reverse();
            self.block += 1;
        }
        Ok(self.rest.pop())
    }
}

impl<F: Fingerprint> SegmentRecords<F> {
    pub(crate) fn new(segment: Arc<Segment>) -> Self {
        let fingerprints =
            Fingerprints { segment: Arc::clone(&segment), scratch: Scratch::default(), block: 0, rest: Vec::new() };
        Self {
            ids: IdCursor::new(Arc::clone(&segment)),
            segment,
            fingerprints,
            current: None,
            batch: IntoIter::default(),
            failed: None,
            ended: false,
        }
    }

    /// Starts at the first record whose fingerprint begins with at least these 64 bits, or some records before it.
    pub(crate) fn near(segment: &Arc<Segment>, head: u64) -> Result<Self> {
        let mut records = Self::new(Arc::clone(segment));
        let index = segment.primary_table()?.index();
        let block = index.find(head)?;
        records.fingerprints.block = block;
        if block < index.len() {
            records.ids.seek(index.rank(block)?)?;
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
        if block < self.fingerprints.block || self.ended {
            return Ok(());
        }
        self.batch = IntoIter::default();
        self.fingerprints.rest.clear();
        (self.fingerprints.block, self.current) = (block, None);
        self.ended = block >= index.len();
        if self.ended { Ok(()) } else { self.ids.seek(index.rank(block)?) }
    }

    /// Calls `visit` with the records that [`SegmentRecords::near`] returns, until it breaks. Does not allocate texts.
    pub(crate) fn visit_near<E: From<Error>>(
        segment: &Arc<Segment>,
        head: u64,
        mut visit: impl FnMut(F, IdRef<'_>) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<(), E> {
        let ids = segment.ids();
        Self::visit_stored(segment, head, |fingerprint, _, id| visit(fingerprint, ids.borrowed(id)))
    }

    /// As [`SegmentRecords::visit_near`], with whether the record shows that its fingerprint has several: it is not the
    /// first one, or counts more than one.
    pub(crate) fn visit_repeats_near<E: From<Error>>(
        segment: &Arc<Segment>,
        head: u64,
        mut visit: impl FnMut(F, bool) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<(), E> {
        let counts = segment.ids().kind == IdKind::None;
        Self::visit_stored(segment, head, |fingerprint, begins, id| {
            visit(fingerprint, !begins || counts && matches!(id, IdRef::Number(count) if count > 1))
        })
    }

    /// As [`SegmentRecords::visit_near`], with whether the record is the first one of its fingerprint, and with a count
    /// as if it were a number.
    fn visit_stored<E: From<Error>>(
        segment: &Arc<Segment>,
        head: u64,
        mut visit: impl FnMut(F, bool, IdRef<'_>) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<(), E> {
        let (index, ids) = (segment.primary_table()?.index(), segment.ids());
        let mut records = Self::new(Arc::clone(segment));
        let block = index.find(head)?;
        records.fingerprints.block = block;
        if block >= index.len() {
            return Ok(());
        }
        let wrong = |what| Error::damaged(what).at_path(segment.path());
        let (first, nth) = ids.place_of(index.rank(block)?)?;
        let before = Cell::new(nth);
        let mut step = |begins: bool, id: IdRef<'_>| {
            if begins && before.get() > 0 {
                before.set(before.get() - 1);
            } else if begins {
                let next = records.fingerprints.next()?;
                records.current = Some(next.ok_or_else(|| wrong("there are ids of no fingerprint"))?);
            }
            records.current.map_or(Ok(ControlFlow::Continue(())), |fingerprint| visit(fingerprint, begins, id))
        };
        let (mut scratch, mut result) = (IdScratch::default(), Ok(ControlFlow::Continue(())));
        for number in first..ids.unit_count() {
            ids.with_checked_unit(number, &mut scratch, |unit| {
                let (start, skipped) = if number == first { unit.start_of(nth) } else { (0, 0) };
                before.set(before.get() - skipped);
                unit.visit_from(start, usize::MAX, |begins, id| {
                    result = step(begins, id);
                    *result.as_ref().unwrap_or(&ControlFlow::Break(()))
                })
            })?;
            if !matches!(result, Ok(ControlFlow::Continue(()))) {
                return result.map(drop);
            }
        }
        match records.fingerprints.next()? {
            None => Ok(()),
            Some(_) => Err(wrong("a fingerprint has no ids").into()),
        }
    }

    /// The next records: some at once, which costs less than one by one. None after the last, and after an error, which
    /// the iterator returns.
    pub(crate) fn next_batch(&mut self) -> IntoIter<Record<F>> {
        if self.batch.len() == 0 && !self.ended {
            let mut records = Vec::new();
            let read = self.read(&mut records);
            self.ended = read.is_err() || records.is_empty();
            (self.failed, self.batch) = (read.err(), records.into_iter());
        }
        std::mem::take(&mut self.batch)
    }

    /// Reads the records of the next ids. After an error, those before it are there.
    fn read(&mut self, records: &mut Vec<Record<F>>) -> Result<()> {
        let wrong = |what| Error::damaged(what).at_path(self.segment.path());
        let ids = self.ids.take_piece()?;
        if ids.len() == 0 && self.fingerprints.next()?.is_some() {
            return Err(wrong("a fingerprint has no ids"));
        }
        records.reserve_exact(ids.len());
        for (begins, id) in ids {
            if begins {
                self.current = self.fingerprints.next()?;
            }
            let fingerprint = self.current.ok_or_else(|| wrong("there are ids of no fingerprint"))?;
            records.push(Record { fingerprint, id });
        }
        Ok(())
    }
}

impl<F: Fingerprint> Iterator for SegmentRecords<F> {
    type Item = Result<Record<F>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.batch.len() == 0 {
            self.batch = self.next_batch();
        }
        self.batch.next().map(Ok).or_else(|| self.failed.take().map(Err))
    }
}
