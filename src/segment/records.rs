//! All records of a segment in order.

use super::{IdScratch, Scratch, Segment};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Record};

/// Iterates over records by fingerprint, then id. Ends after the first error.
#[derive(Debug)]
pub(crate) struct SegmentRecords<'a, F = u64> {
    segment: &'a Segment,
    scratch: Scratch,
    ids: IdScratch,
    fingerprints: Vec<F>,
    block: usize,
    rank: u64,
    /// Records of the current block, the next one last.
    ready: Vec<Record<F>>,
    failed: bool,
}

impl<'a, F: Fingerprint> SegmentRecords<'a, F> {
    pub(crate) fn new(segment: &'a Segment) -> Self {
        Self {
            segment,
            scratch: Scratch::default(),
            ids: IdScratch::default(),
            fingerprints: Vec::new(),
            block: 0,
            rank: 0,
            ready: Vec::new(),
            failed: false,
        }
    }

    /// Fills `ready` with the next block; whether there was one.
    fn advance(&mut self) -> Result<bool> {
        let table = self.segment.first_table()?;
        if self.block == table.index().len() {
            return Ok(false);
        }
        table.fingerprints(self.block, &mut self.scratch, &mut self.fingerprints)?;
        for &fingerprint in &self.fingerprints {
            let ready = &mut self.ready;
            self.segment.ids().ids_of(self.rank, &mut self.ids, |id| ready.push(Record { fingerprint, id }))?;
            self.rank += 1;
        }
        self.ready.reverse();
        self.block += 1;
        Ok(true)
    }
}

impl<F: Fingerprint> Iterator for SegmentRecords<'_, F> {
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.failed {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
        self.ready.pop().map(Ok)
    }
}
