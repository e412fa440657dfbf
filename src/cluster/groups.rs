//! The records of a store in shares that threads take, fingerprint by fingerprint.

use crate::cluster::components::Components;
use crate::cluster::numbers::{Ascending, Numbers};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::segment::Segment;
use crate::version::{RecordIter, Share};
use std::iter::Peekable;
use std::sync::Arc;

const SHARE: u64 = 1 << 14;

/// Cuts all fingerprints into shares, which threads take one after another.
pub(crate) fn shares(segments: &[Arc<Segment>]) -> Result<Vec<Share>> {
    Share::of_size(segments, SHARE)
}

const PIECE: usize = 4096;

/// Walks over the fingerprints of a share, and over the ids of each, some at a time.
#[derive(Debug)]
pub(crate) struct Groups<'a, F: Fingerprint> {
    records: Peekable<RecordIter<F>>,
    numbers: Ascending<'a, F>,
    components: &'a Components,
    number: u32,
}

impl<'a, F: Fingerprint> Groups<'a, F> {
    pub(crate) fn new(
        segments: &'a [Arc<Segment>],
        numbers: &'a Numbers<F>,
        components: &'a Components,
        share: Share,
    ) -> Result<Self> {
        let records = RecordIter::of_share(segments, share)?.peekable();
        Ok(Self { records, numbers: numbers.ascending()?, components, number: 0 })
    }

    /// The next fingerprint, and its component if that has others. Call it after all ids of the fingerprint before.
    pub(crate) fn next_fingerprint(&mut self) -> Result<Option<(F, Option<usize>)>> {
        let fingerprint = match self.records.peek() {
            None => return Ok(None),
            Some(Ok(record)) => record.fingerprint,
            Some(Err(_)) => return self.fail().map(|()| None),
        };
        self.number = self.numbers.of(fingerprint)?;
        Ok(Some((fingerprint, self.components.of(self.number))))
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Sets `ids` to the next ids of a fingerprint, ascending; to none after the last.
    pub(crate) fn next_ids(&mut self, fingerprint: F, ids: &mut Vec<Id>) -> Result<()> {
        ids.clear();
        let same = |next: &Result<Record<F>>| next.as_ref().is_ok_and(|record| record.fingerprint == fingerprint);
        while ids.len() < PIECE
            && let Some(Ok(record)) = self.records.next_if(same)
        {
            ids.push(record.id);
        }
        self.fail()
    }

    /// Skips the other ids of a fingerprint and returns the number of their records.
    pub(crate) fn count_rest(&mut self, fingerprint: F) -> Result<u64> {
        let (mut records, mut ids) = (0u64, Vec::new());
        while self.has_more(fingerprint) {
            self.next_ids(fingerprint, &mut ids)?;
            records = records.saturating_add(records_of(&ids));
        }
        Ok(records)
    }

    pub(crate) fn has_more(&mut self, fingerprint: F) -> bool {
        self.records.peek().is_some_and(|next| next.as_ref().is_ok_and(|record| record.fingerprint == fingerprint))
    }

    fn fail(&mut self) -> Result<()> {
        match self.records.next_if(Result::is_err) {
            Some(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

pub(crate) fn records_of(ids: &[Id]) -> u64 {
    ids.iter().map(Id::records).fold(0, u64::saturating_add)
}
