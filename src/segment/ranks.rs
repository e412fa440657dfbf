//! Finds the ranks of fingerprints in order.

use super::reader::Segment;
use super::table::{Scratch, Table};
use crate::error::Result;
use crate::fingerprint::Fingerprint;

/// Finds ranks in the primary table of a segment. Decodes a block once for consecutive fingerprints in it.
#[derive(Debug)]
pub(crate) struct Ranks<'a, F> {
    table: &'a Table,
    scratch: Scratch,
    cursor: RankCursor<F>,
}

impl<'a, F: Fingerprint> Ranks<'a, F> {
    pub(crate) fn new(segment: &'a Segment) -> Result<Self> {
        let table = segment.primary_table()?;
        Ok(Self { table, scratch: Scratch::default(), cursor: RankCursor::default() })
    }

    pub(crate) fn of(&mut self, fingerprint: F) -> Result<Option<u64>> {
        self.cursor.rank_of(fingerprint, self.table, &mut self.scratch)
    }
}

/// The block of a primary table that was searched last.
#[derive(Debug, Default)]
pub(crate) struct RankCursor<F> {
    block: usize,
    /// Its fingerprints; none before the first search, and after the last block.
    fingerprints: Vec<F>,
    /// No fingerprint from this one to the last of them is in another block.
    from: F,
    at: usize,
}

impl<F: Fingerprint> RankCursor<F> {
    /// The rank of a fingerprint in a table, which must be the same at every call. Searches neither index nor rows if
    /// the fingerprint belongs to the block of the one before.
    pub(crate) fn rank_of(&mut self, fingerprint: F, table: &Table, scratch: &mut Scratch) -> Result<Option<u64>> {
        if self.fingerprints.get(self.at + 1) == Some(&fingerprint) {
            self.at += 1;
        } else {
            if fingerprint < self.from || self.fingerprints.last().is_none_or(|&last| last < fingerprint) {
                self.search(fingerprint, table, scratch)?;
            }
            let Ok(at) = self.fingerprints.binary_search(&fingerprint) else { return Ok(None) };
            self.at = at;
        }
        Ok(Some(table.index().rank(self.block)? + self.at as u64))
    }

    fn search(&mut self, fingerprint: F, table: &Table, scratch: &mut Scratch) -> Result<()> {
        let least = match self.fingerprints.last() {
            _ if fingerprint < self.from => 0,
            Some(&last) if last < fingerprint => self.block + 1,
            _ => self.block,
        };
        let block = table.block_of(fingerprint, least, scratch)?;
        if block != self.block || self.fingerprints.is_empty() {
            self.fingerprints.clear();
            if block < table.index().len() {
                table.fingerprints(block, scratch, &mut self.fingerprints)?;
            }
            (self.block, self.at) = (block, 0);
        }
        self.from = fingerprint;
        Ok(())
    }
}
