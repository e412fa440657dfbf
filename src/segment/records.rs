//! All records of a segment in order.

use super::ids::{IdScratch, Ids};
use super::{IdCursor, Scratch, Segment};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, IdRef, Record};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Iterates over records by fingerprint, then id, with a block of fingerprints and a page of ids in memory. Ends after
/// the first error.
#[derive(Debug)]
pub(crate) struct SegmentRecords<F = u64> {
    segment: Arc<Segment>,
    scratch: Scratch,
    ids: IdCursor,
    /// The number of the next block of the first table.
    block: usize,
    /// The fingerprints of the block before it, the next one last.
    fingerprints: Vec<F>,
    /// The fingerprint whose ids come.
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

    /// In front of the first record whose fingerprint begins with at least these 64 bits, or some records before it.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub(crate) fn near(segment: &Arc<Segment>, head: u64) -> Result<Self> {
        let mut records = Self::new(Arc::clone(segment));
        let index = segment.first_table()?.index();
        records.block = index.find(head);
        if records.block < index.len() {
            records.ids.seek(index.rank(records.block))?;
        } else {
            records.ended = true;
        }
        Ok(records)
    }

    /// Calls `visit` with the records that [`SegmentRecords::near`] has, until it breaks. Makes no text of its own of any id.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading; those of `visit`.
    pub(crate) fn visit_near<E: From<Error>>(
        segment: &Arc<Segment>,
        head: u64,
        mut visit: impl FnMut(F, IdRef<'_>) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<(), E> {
        let Ids::Texts(texts) = segment.ids() else {
            for record in Self::near(segment, head)? {
                let Record { fingerprint, id } = record?;
                if visit(fingerprint, id.as_ref())?.is_break() {
                    break;
                }
            }
            return Ok(());
        };
        let mut records = Self::new(Arc::clone(segment));
        let index = segment.first_table()?.index();
        records.block = index.find(head);
        if records.block >= index.len() {
            return Ok(());
        }
        // Fingerprints of the first frame that come before.
        let (first, mut before) = segment.ids().place_of(index.rank(records.block))?;
        let (mut scratch, mut has_begun, mut result) = (IdScratch::default(), false, Ok(ControlFlow::Continue(())));
        for number in first..texts.frame_count() {
            texts.with_frame(number, scratch.text(), |frame| {
                for (begins, text) in frame.iter() {
                    if begins && before == 0 {
                        has_begun = true;
                        records.current = records.next_fingerprint()?;
                    } else if begins {
                        before -= 1;
                    }
                    match records.current.filter(|_| has_begun) {
                        Some(fingerprint) => result = visit(fingerprint, IdRef::Text(text)),
                        None if has_begun => return Err(Error::damaged("there are ids of no fingerprint")),
                        None => continue,
                    }
                    if !matches!(result, Ok(ControlFlow::Continue(()))) {
                        break;
                    }
                }
                Ok(())
            })?;
            if !matches!(result, Ok(ControlFlow::Continue(()))) {
                return result.map(drop);
            }
        }
        match records.next_fingerprint()? {
            None => Ok(()),
            Some(_) => Err(Error::damaged("a fingerprint has no ids").at_path(segment.path()).into()),
        }
    }

    /// The next fingerprint of the first table, if there is one.
    fn next_fingerprint(&mut self) -> Result<Option<F>> {
        let table = self.segment.first_table()?;
        while self.fingerprints.is_empty() && self.block < table.index().len() {
            table.fingerprints(self.block, &mut self.scratch, &mut self.fingerprints)?;
            self.fingerprints.reverse();
            self.block += 1;
        }
        Ok(self.fingerprints.pop())
    }

    fn next_record(&mut self) -> Result<Option<Record<F>>> {
        let segment = Arc::clone(&self.segment);
        let wrong = |what| Err(Error::damaged(what).at_path(segment.path()));
        let Some((begins, id)) = self.ids.take()? else {
            return match self.next_fingerprint()? {
                None => Ok(None),
                Some(_) => wrong("a fingerprint has no ids"),
            };
        };
        if begins {
            self.current = self.next_fingerprint()?;
        }
        match self.current {
            Some(fingerprint) => Ok(Some(Record { fingerprint, id })),
            None => wrong("there are ids of no fingerprint"),
        }
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
