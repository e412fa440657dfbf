//! From the records that have keys of a query to its answer.

use super::candidates::Candidates;
use super::options::{KeyMatch, KeyQuery};
use super::similarity::jaccard;
use crate::error::{Error, Result};
use crate::fingerprint::Id;
use crate::format::KeyFormat;
use crate::segment::{IdScratch, PageBuffer, RankCursor, Scratch, Segment};
use crate::version::{ReadView, Run};
use std::cmp::Reverse;
use std::sync::Arc;

/// A query, as its answer needs it. The sketch may be empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) sketch: &'a [u8],
    pub(super) how: &'a KeyQuery,
    pub(super) format: KeyFormat,
}

/// A record that shares enough keys.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// The number of its run, and its rank in the run's records.
    run: usize,
    rank: u64,
    number: u64,
    shared: u64,
    jaccard: Option<f64>,
}

/// Makes answers, and reuses its buffers.
#[derive(Debug, Default)]
pub(super) struct Answerer {
    scratch: Scratch,
    ids: IdScratch,
    buffer: PageBuffer,
    found: Vec<Candidate>,
}

impl Answerer {
    /// Forgets the records that an error left.
    pub(super) fn begin(&mut self) {
        self.found.clear();
    }

    /// Adds those of a run's candidates that are there and similar enough.
    pub(super) fn add(
        &mut self,
        view: &ReadView,
        number_of_run: usize,
        candidates: &mut Candidates,
        asked: Asked<'_>,
    ) -> Result<()> {
        let Some(run) = view.version.runs.get(number_of_run) else { return Ok(()) };
        let (Some(keys), Some(records)) = (&run.keys, &run.records) else { return Ok(()) };
        let mut removed = Removed::new(view, number_of_run);
        for &(number, shared) in candidates.counted() {
            if shared < asked.how.threshold.min_shared || removed.has(number, &mut self.scratch)? {
                continue;
            }
            let rank = records.rank_of(number, &mut self.scratch)?.ok_or_else(|| unknown(keys))?;
            let mut similarity = None;
            if !asked.sketch.is_empty() {
                let own = jaccard(asked.format, asked.sketch, keys.sketch(rank, &mut self.buffer)?);
                if own < asked.how.threshold.min_jaccard {
                    continue;
                }
                similarity = Some(own);
            }
            self.found.push(Candidate { run: number_of_run, rank, number, shared, jaccard: similarity });
        }
        Ok(())
    }

    /// The answer: the records that were added since the last one, most shared keys first, then by id.
    pub(super) fn take(&mut self, view: &ReadView, most: usize) -> Result<Vec<KeyMatch>> {
        let mut candidates = std::mem::take(&mut self.found);
        candidates.sort_unstable_by_key(|candidate| (Reverse(candidate.shared), candidate.number));
        let answer = self.matches(&candidates, view, most);
        candidates.clear();
        self.found = candidates;
        answer
    }

    /// The first `most` candidates, which are ordered by shared keys, by id too.
    fn matches(&mut self, candidates: &[Candidate], view: &ReadView, most: usize) -> Result<Vec<KeyMatch>> {
        let mut matches: Vec<KeyMatch> = Vec::new();
        for same in candidates.chunk_by(|a, b| a.shared == b.shared) {
            if matches.len() >= most {
                break;
            }
            let before = matches.len();
            matches.reserve_exact(same.len());
            for &Candidate { run, rank, shared, jaccard, .. } in same {
                let records = view.version.runs.get(run).and_then(|run| run.records.as_ref());
                let mut first: Option<Id> = None;
                if let Some(records) = records {
                    records.ids().ids_of(rank, &mut self.ids, |id| _ = first.get_or_insert(id))?;
                }
                matches.extend(first.map(|id| KeyMatch { id, shared, jaccard }));
            }
            if let Some(new) = matches.get_mut(before..) {
                new.sort_unstable_by(|a, b| a.id.cmp(&b.id));
            }
        }
        matches.truncate(most);
        Ok(matches)
    }
}

/// Finds removed records of one run, by ascending numbers.
struct Removed<'a> {
    view: &'a ReadView,
    /// The tombstones of later runs.
    later: Vec<(&'a Segment, RankCursor<u64>)>,
    in_memory: bool,
}

impl<'a> Removed<'a> {
    fn new(view: &'a ReadView, run: usize) -> Self {
        let later = view.version.runs.iter().skip(run + 1);
        let tombstones = later.filter_map(|run: &Arc<Run>| run.tombstones.as_deref());
        let later = tombstones.map(|tombstones| (tombstones, RankCursor::default())).collect();
        Self { view, later, in_memory: view.memtables().any(|(memtable, _)| memtable.has_tombstones()) }
    }

    /// Whether a record was removed. Its number is given only once, so no record replaces it.
    fn has(&mut self, number: u64, scratch: &mut Scratch) -> Result<bool> {
        for (tombstones, cursor) in &mut self.later {
            if cursor.rank_of(number, tombstones.primary_table()?, scratch)?.is_some() {
                return Ok(true);
            }
        }
        if !self.in_memory {
            return Ok(false);
        }
        let mut entries = Vec::new();
        Ok(self.view.memtables().any(|(memtable, visible)| {
            let entry = memtable.find(number);
            entry.is_some_and(|entry| {
                memtable.entries_of(entry, visible, &mut entries);
                entries.iter().any(|(_, is_tombstone)| *is_tombstone)
            })
        }))
    }
}

#[cold]
fn unknown(keys: &Segment) -> Error {
    Error::damaged("a key of a record that the run does not have").at_path(keys.path())
}
