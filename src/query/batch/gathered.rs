//! What merging a batch of queries has found, until it becomes answers.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Match, distance};
use crate::query::batch::job::Pair;
use crate::query::batch::segment::merge_segment;
use crate::query::batch::space::AnswerBudget;
use crate::query::view_searcher::{in_order, rank_of};
use crate::query_stats::QueryStats;
use crate::segment::{IdScratch, Scratch, Segment};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Matches with the numbers of their queries.
type Numbered<F> = Vec<(u32, Match<F>)>;

/// For each part of the queries matches, and queries that have more.
type Lot<F> = Vec<(Numbered<F>, Vec<u32>)>;

/// Pages of ids of a fingerprint beyond which its queries are answered by themselves, if memory is bounded.
const MANY_PAGES: u64 = 8;

/// Parts of the queries for each thread.
const PARTS: usize = 16;

/// How much memory there is.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// For pairs of queries and fingerprints, of one segment at a time.
    pairs: u64,
    /// For matches.
    matches: AnswerBudget,
    most_pages: u64,
}

impl Bounds {
    pub(crate) fn none() -> Self {
        Self { pairs: u64::MAX, matches: AnswerBudget::new(u64::MAX), most_pages: u64::MAX }
    }

    /// A quarter is left to what becomes of the answers.
    pub(crate) fn of(bytes: u64) -> Self {
        Self { pairs: bytes / 4, matches: AnswerBudget::new(bytes / 2), most_pages: MANY_PAGES }
    }
}

/// The matches of all queries, part by part.
#[derive(Debug)]
pub(crate) struct Gathered<F> {
    bounds: Bounds,
    parts: Parts<F>,
}

/// Parts of the queries.
#[derive(Debug)]
pub(crate) struct Parts<F> {
    /// Number of queries in each but the last.
    pub(crate) length: usize,
    pub(crate) parts: Vec<AnswerPart<F>>,
}

/// What was found of queries that follow each other.
#[derive(Clone, Debug)]
pub(crate) struct AnswerPart<F> {
    /// The number of the first one.
    first: usize,
    found: Vec<Numbered<F>>,
    /// Queries near a fingerprint with very many records.
    apart: Vec<u32>,
}

impl<F: Fingerprint> Gathered<F> {
    pub(crate) fn new(queries: usize, bounds: Bounds) -> Self {
        let length = queries.div_ceil(rayon::current_num_threads() * PARTS).max(1);
        let part = |first| AnswerPart { first, found: Vec::new(), apart: Vec::new() };
        Self { bounds, parts: Parts { length, parts: (0..queries).step_by(length).map(part).collect() } }
    }

    pub(crate) fn into_parts(self) -> Parts<F> {
        self.parts
    }

    /// Merges the queries with a segment; `false` if memory does not suffice.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub(crate) fn merge(&mut self, segment: &Segment, queries: &[F], k: u32, work: &mut QueryStats) -> Result<bool> {
        let room = AnswerBudget::new(self.bounds.pairs);
        let tables = merge_segment(segment, queries, k, &room, work)?;
        if room.is_full() {
            return Ok(false);
        }
        for pairs in tables {
            self.add(segment, queries, pairs)?;
        }
        Ok(!self.bounds.matches.is_full())
    }

    /// Adds the records of what a table has found.
    fn add(&mut self, segment: &Segment, queries: &[F], mut pairs: Vec<Pair<F>>) -> Result<()> {
        // In the order of the first table: what is read for one lies near to what is read for the next.
        let place = |pair: &Pair<F>| (pair.found.rank, pair.found.fingerprint);
        if !pairs.is_sorted_by_key(place) {
            pairs.par_sort_unstable_by_key(place);
        }
        let Self { bounds, parts: Parts { length, parts } } = self;
        let (length, number_of_parts) = (*length, parts.len());
        let chunks: Result<Vec<Lot<F>>> = pairs
            .par_chunks(pairs.len().div_ceil(rayon::current_num_threads() * 4).max(1))
            .map(|pairs| {
                let (mut scratch, mut ids) = (Scratch::default(), IdScratch::default());
                let mut chunk: Lot<F> = vec![Default::default(); number_of_parts];
                for pair in pairs.iter().take_while(|_| !bounds.matches.is_full()) {
                    let fingerprint = pair.found.fingerprint;
                    let rank = rank_of(segment, pair.found, &mut scratch)?;
                    let number = pair.query as usize;
                    let distance = queries.get(number).map_or(0, |&query| distance(query, fingerprint));
                    let Some((into, apart)) = chunk.get_mut(number / length) else { continue };
                    if bounds.most_pages < u64::MAX && segment.ids().pages_of(rank)? > bounds.most_pages {
                        apart.push(pair.query);
                        continue;
                    }
                    let before = into.len();
                    let mut texts = 0;
                    segment.ids().ids_of(rank, &mut ids, |id| {
                        texts += id.text().map_or(0, |text| text.len() + 16);
                        into.push((pair.query, Match { distance, fingerprint, id }));
                    })?;
                    // Lists grow by doubling.
                    let bytes = 2 * (into.len() - before) * size_of::<(u32, Match<F>)>() + texts;
                    bounds.matches.take(bytes as u64);
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

impl<F: Fingerprint> AnswerPart<F> {
    /// Adds the matches to the answers of the queries, and puts these in order. Returns the places of queries that have more.
    pub(crate) fn distribute(self, answers: &mut [Vec<Match<F>>]) -> BTreeSet<usize> {
        let place = |query: u32| query as usize - self.first;
        for (query, found) in self.found.into_iter().flatten() {
            if let Some(answer) = answers.get_mut(place(query)) {
                // Most have one.
                answer.reserve_exact(usize::from(answer.is_empty()));
                answer.push(found);
            }
        }
        answers.iter_mut().for_each(|answer| *answer = in_order(std::mem::take(answer)));
        self.apart.into_iter().map(place).collect()
    }
}
