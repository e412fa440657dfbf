//! All records of a segment in order.

use super::{Scratch, Segment};
use crate::error::Result;
use crate::fingerprint::Record;

/// Iterates over records by fingerprint, then id. Ends after the first error.
#[derive(Debug)]
pub(crate) struct SegmentRecords<'a> {
    segment: &'a Segment,
    scratch: Scratch,
    buffer: Vec<u8>,
    block: usize,
    rank: u64,
    /// Records of the current block, the next one last.
    ready: Vec<Record>,
    failed: bool,
}

impl<'a> SegmentRecords<'a> {
    pub(crate) fn new(segment: &'a Segment) -> Self {
        Self {
            segment,
            scratch: Scratch::default(),
            buffer: Vec::new(),
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
        let mut ids = Vec::new();
        for &fingerprint in table.block(self.block, &mut self.scratch)? {
            ids.clear();
            self.segment.ids().ids_of(self.rank, &mut self.buffer, &mut ids)?;
            self.ready.extend(ids.iter().map(|&id| Record { fingerprint, id }));
            self.rank += 1;
        }
        self.ready.reverse();
        self.block += 1;
        Ok(true)
    }
}

impl Iterator for SegmentRecords<'_> {
    type Item = Result<Record>;

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
