//! The records of a store in shares that threads take, fingerprint by fingerprint.

use crate::cluster::components::Components;
use crate::cluster::keeper::Keeper;
use crate::cluster::numbers::{Ascending, Numbers};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::{JobContext, Output, ordered};
use crate::segment::Segment;
use crate::version::{RecordIter, Share};
use std::ops::ControlFlow;
use std::sync::Arc;

const SHARE: u64 = 1 << 14;

/// Cuts all fingerprints into shares, which threads take one after another.
pub(crate) fn shares(segments: &[Arc<Segment>]) -> Result<Vec<Share>> {
    Share::of_size(segments, SHARE)
}

const PIECE: usize = 4096;
/// Fingerprints that threads hand on together.
const CHUNK: usize = 1 << 13;

/// Calls `sink` with each fingerprint whose number is wanted, its number, and the best of its ids or, with the place of
/// a kept one by number, that one.
pub(crate) fn visit_best<F: Fingerprint>(
    job: &JobContext,
    (segments, numbers): (&[Arc<Segment>], &Numbers<F>),
    is_wanted: impl Fn(u32) -> bool + Sync,
    keeper: &Keeper,
    kept: Option<&[u32]>,
    sink: &mut dyn FnMut(F, u32, &Id) -> Result<()>,
) -> Result<()> {
    let alone = Components::default();
    let work = |(): &mut (), share: Share, output: &Output<_>| {
        job.progress.check()?;
        let mut found = Vec::new();
        let mut groups = Groups::new(segments, numbers, &alone, share)?;
        while let Some((fingerprint, _)) = groups.next_fingerprint()? {
            if !is_wanted(groups.number()) {
                groups.count_rest(fingerprint)?;
                continue;
            }
            let best = groups.best_id(fingerprint, keeper, kept)?;
            found.extend(best.map(|best| (fingerprint, groups.number(), best)));
            if found.len() == CHUNK {
                output.send(std::mem::take(&mut found))?;
            }
        }
        output.send(found)
    };
    let mut take = |found: Vec<(F, u32, Id)>| {
        found.iter().try_for_each(|(fingerprint, number, best)| sink(*fingerprint, *number, best))?;
        Ok(ControlFlow::Continue(()))
    };
    ordered(None, &*job.executor.crew()?, shares(segments)?, || (), work, &mut take).map(drop)
}

/// Walks over the fingerprints of a share, and over the ids of each, some at a time.
#[derive(Debug)]
pub(crate) struct Groups<'a, F: Fingerprint> {
    records: RecordIter<F>,
    numbers: Ascending<'a, F>,
    components: &'a Components,
    number: u32,
    /// The number of the next fingerprint, after the first one of the only segment.
    next_number: Option<u32>,
}

impl<'a, F: Fingerprint> Groups<'a, F> {
    pub(crate) fn new(
        segments: &'a [Arc<Segment>],
        numbers: &'a Numbers<F>,
        components: &'a Components,
        share: Share,
    ) -> Result<Self> {
        let records = RecordIter::of_share(segments, share)?;
        Ok(Self { records, numbers: numbers.ascending()?, components, number: 0, next_number: None })
    }

    /// The next fingerprint, and its component if that has others. Call it after all ids of the fingerprint before.
    pub(crate) fn next_fingerprint(&mut self) -> Result<Option<(F, Option<usize>)>> {
        let Some(&Record { fingerprint, .. }) = self.records.peek() else {
            return self.fail().map(|()| None);
        };
        self.number = match self.next_number {
            // The records of a segment have all of its fingerprints.
            Some(number) => number,
            None => self.numbers.of(fingerprint)?,
        };
        self.next_number = self.numbers.of_next(self.number);
        Ok(Some((fingerprint, self.components.of(self.number))))
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Sets `ids` to the next ids of a fingerprint, ascending; to none after the last.
    pub(crate) fn next_ids(&mut self, fingerprint: F, ids: &mut Vec<Id>) -> Result<()> {
        ids.clear();
        while ids.len() < PIECE
            && let Some(record) = self.records.next_if(|next| next.fingerprint == fingerprint)
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

    /// The best of a fingerprint's ids or, with the place of a kept one by number, that one.
    fn best_id(&mut self, fingerprint: F, keeper: &Keeper, kept: Option<&[u32]>) -> Result<Option<Id>> {
        let place = kept.map(|kept| kept.get(self.number as usize).map_or(usize::MAX, |&place| place as usize));
        let (mut best, mut ids, mut before) = (None, Vec::new(), 0);
        while self.has_more(fingerprint) {
            self.next_ids(fingerprint, &mut ids)?;
            best = match place {
                None => keeper.better(best, keeper.best(&ids)),
                Some(place) => best.or(place.checked_sub(before).and_then(|place| ids.get(place)).cloned()),
            };
            before += ids.len();
        }
        Ok(best)
    }

    pub(crate) fn has_more(&mut self, fingerprint: F) -> bool {
        self.records.peek().is_some_and(|next| next.fingerprint == fingerprint)
    }

    fn fail(&mut self) -> Result<()> {
        self.records.take_error().map_or(Ok(()), Err)
    }
}

pub(crate) fn records_of(ids: &[Id]) -> u64 {
    ids.iter().map(Id::records).fold(0, u64::saturating_add)
}
