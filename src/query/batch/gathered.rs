//! From pairs of a merge to the answers of the queries.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Match, distance};
use crate::query::batch::answer_budget::AnswerBudget;
use crate::query::batch::merge_join::merge_segment;
use crate::query::batch::worker::Pair;
use crate::query::probe::compare::Found;
use crate::query::view_searcher::{in_order, rank_of};
use crate::query_stats::QueryStats;
use crate::segment::{IdScratch, MANY_UNITS, Scratch, Segment};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Matches with the numbers of their queries.
type Numbered<F> = Vec<(u32, Match<F>)>;

/// For each part of the queries: matches, and the queries that have more.
type Parts<F> = Vec<(Numbered<F>, Vec<u32>)>;

/// Parts of the queries for each thread.
const PARTS: usize = 16;

#[derive(Debug)]
pub(crate) struct Bounds {
    /// Bytes for pairs of queries and fingerprints, of one segment at a time.
    pairs: u64,
    matches: AnswerBudget,
    /// Queries near a fingerprint with more units of ids are answered alone.
    most_units: u64,
}

impl Bounds {
    pub(crate) fn none() -> Self {
        Self { pairs: u64::MAX, matches: AnswerBudget::new(u64::MAX), most_units: u64::MAX }
    }

    /// Leaves a quarter to the caller, for its use of the answers.
    pub(crate) fn of(bytes: u64) -> Self {
        Self { pairs: bytes / 4, matches: AnswerBudget::new(bytes / 2), most_units: MANY_UNITS }
    }
}

/// The matches of all queries, part by part.
#[derive(Debug)]
pub(crate) struct Gathered<F> {
    bounds: Bounds,
    /// Number of queries of each part but the last.
    pub(crate) length: usize,
    pub(crate) parts: Vec<AnswerPart<F>>,
}

/// The matches of consecutive queries.
#[derive(Clone, Debug)]
pub(crate) struct AnswerPart<F> {
    first: usize,
    found: Vec<Numbered<F>>,
    /// Queries near a fingerprint with very many records.
    apart: Vec<u32>,
}

impl<F: Fingerprint> Gathered<F> {
    pub(crate) fn new(queries: usize, threads: usize, bounds: Bounds) -> Self {
        let length = queries.div_ceil(threads * PARTS).max(1);
        let part = |first| AnswerPart { first, found: Vec::new(), apart: Vec::new() };
        Self { bounds, length, parts: (0..queries).step_by(length).map(part).collect() }
    }

    /// Merges the queries with a segment; whether memory sufficed.
    pub(crate) fn merge(&mut self, segment: &Segment, queries: &[F], k: u32, stats: &mut QueryStats) -> Result<bool> {
        let budget = AnswerBudget::new(self.bounds.pairs);
        let tables = merge_segment(segment, queries, k, &budget, stats)?;
        if budget.is_full() {
            return Ok(false);
        }
        for pairs in tables {
            self.add(segment, queries, pairs)?;
        }
        Ok(!self.bounds.matches.is_full())
    }

    fn add(&mut self, segment: &Segment, queries: &[F], mut pairs: Vec<Pair<F>>) -> Result<()> {
        // In the order of the primary table, the ids of one pair lie near those of the next.
        let place = |pair: &Pair<F>| (pair.found.rank, pair.found.fingerprint);
        if !pairs.is_sorted_by_key(place) {
            pairs.par_sort_unstable_by_key(place);
        }
        let Self { bounds, length, parts } = self;
        let (length, number_of_parts) = (*length, parts.len());
        let chunks: Result<Vec<Parts<F>>> = pairs
            .par_chunks(pairs.len().div_ceil(rayon::current_num_threads() * 4).max(1))
            .map(|pairs| {
                let mut records = RecordsOf::default();
                let mut chunk: Parts<F> = vec![Default::default(); number_of_parts];
                for pair in pairs.iter().take_while(|_| !bounds.matches.is_full()) {
                    let fingerprint = pair.found.fingerprint;
                    let number = pair.query as usize;
                    let distance = queries.get(number).map_or(0, |&query| distance(query, fingerprint));
                    let Some((into, apart)) = chunk.get_mut(number / length) else { continue };
                    // Queries near each other find the same fingerprints, one after another.
                    if records.fingerprint != Some(fingerprint) {
                        records.read(segment, pair.found, bounds.most_units)?;
                    }
                    if records.are_many {
                        apart.push(pair.query);
                        continue;
                    }
                    let (before, texts) = (into.capacity(), records.texts);
                    let records = records.ids.iter().cloned();
                    into.extend(records.map(|id| (pair.query, Match { distance, fingerprint, id })));
                    let bytes = (into.capacity() - before) * size_of::<(u32, Match<F>)>() + texts;
                    // Most matches fit the lists as they are; all threads change the budget.
                    if bytes > 0 {
                        bounds.matches.take(bytes as u64);
                    }
                }
                Ok(chunk)
            })
            .collect();
        for chunk in chunks? {
            for (part, (found, mut apart)) in parts.iter_mut().zip(chunk) {
                part.found.push(found);
                part.apart.append(&mut apart);
            }
        }
        Ok(())
    }
}

/// The records of a stored fingerprint.
#[derive(Debug, Default)]
struct RecordsOf<F> {
    fingerprint: Option<F>,
    ids: Vec<Id>,
    /// Bytes of text ids.
    texts: usize,
    /// Whether there are more than were asked for, so that they were not read.
    are_many: bool,
    scratch: (Scratch, IdScratch),
}

impl<F: Fingerprint> RecordsOf<F> {
    /// Reads the ids of a fingerprint, unless they are in more units than that.
    fn read(&mut self, segment: &Segment, found: Found<F>, most_units: u64) -> Result<()> {
        let Self { fingerprint, ids, texts, are_many, scratch } = self;
        *fingerprint = Some(found.fingerprint);
        let rank = rank_of(segment, found.fingerprint, found.rank, &mut scratch.0)?;
        *are_many = most_units < u64::MAX && segment.ids().units_of(rank)? > most_units;
        ids.clear();
        *texts = 0;
        if *are_many {
            return Ok(());
        }
        segment.ids().ids_of(rank, &mut scratch.1, |id| {
            *texts += id.text().map_or(0, |text| text.len() + 16);
            ids.push(id);
        })
    }
}

impl<F: Fingerprint> AnswerPart<F> {
    /// Adds the matches to the answers of the queries and sorts these. Returns the positions of queries that have more.
    pub(crate) fn distribute(self, answers: &mut [Vec<Match<F>>]) -> BTreeSet<usize> {
        let place = |query: u32| query as usize - self.first;
        let mut counts = vec![0; answers.len()];
        for &(query, _) in self.found.iter().flatten() {
            if let Some(count) = counts.get_mut(place(query)) {
                *count += 1;
            }
        }
        answers.iter_mut().zip(counts).for_each(|(answer, count)| answer.reserve_exact(count));
        for (query, found) in self.found.into_iter().flatten() {
            if let Some(answer) = answers.get_mut(place(query)) {
                answer.push(found);
            }
        }
        answers.iter_mut().for_each(|answer| *answer = in_order(std::mem::take(answer)));
        self.apart.into_iter().map(place).collect()
    }
}
