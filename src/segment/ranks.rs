//! Ranks of fingerprints that are asked for in order.

use super::reader::Segment;
use super::table::{Scratch, Table};
use crate::error::Result;
use crate::fingerprint::Fingerprint;

/// Finds ranks in the first table of a segment. Decodes a block once for all fingerprints in it that are asked for one after the
/// other.
#[derive(Debug)]
pub(crate) struct Ranks<'a, F> {
    table: &'a Table,
    scratch: Scratch,
    /// The block that was decoded last, and its fingerprints.
    block: usize,
    keys: Vec<F>,
    /// From this one to the last of them, none is in another block.
    from: F,
    /// Where the one that was found last is.
    at: usize,
}

impl<'a, F: Fingerprint> Ranks<'a, F> {
    /// Ranks in this segment.
    ///
    /// # Errors
    /// `Damaged` if it has no table.
    pub(crate) fn new(segment: &'a Segment) -> Result<Self> {
        let table = segment.first_table()?;
        Ok(Self { table, scratch: Scratch::default(), block: 0, keys: Vec::new(), from: F::default(), at: 0 })
    }

    /// The rank of a fingerprint, if it is there.
    ///
    /// # Errors
    /// As [`Table::block`].
    pub(crate) fn of(&mut self, fingerprint: F) -> Result<Option<u64>> {
        if self.keys.get(self.at + 1) == Some(&fingerprint) {
            self.at += 1;
        } else {
            if fingerprint < self.from || self.keys.last().is_none_or(|&last| last < fingerprint) {
                let least = if fingerprint < self.from { 0 } else { self.block };
                (self.at, self.from) = (0, fingerprint);
                self.block = self.table.block_of(fingerprint, least, &mut self.scratch, &mut self.keys)?;
            }
            let Ok(at) = self.keys.binary_search(&fingerprint) else { return Ok(None) };
            self.at = at;
        }
        Ok(Some(self.table.index().rank(self.block) + self.at as u64))
    }
}
