//! From pairs of a merge to the answers of the queries.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Match, distance};
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

    /// Makes space for so many more matches, whose ids have `texts` bytes; `false`, with nothing reserved, if they
    /// exceed the memory. Most matches fit a list as it is and take nothing: the count is shared by all threads.
    fn reserve<F>(&self, list: &mut Numbered<F>, more: usize, texts: usize) -> bool {
        let (length, capacity) = (list.len() + more, list.capacity());
        // Lists grow by doubling.
        let grown = if length > capacity { length.max(2 * capacity) } else { capacity };
        let bytes = (grown - capacity) * size_of::<(u32, Match<F>)>() + texts;
        let fits = bytes == 0 || self.matches.take(bytes as u64);
        if fits {
            list.reserve_exact(grown - list.len());
        }
        fits
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
                let mut chunk = vec![Default::default(); number_of_parts];
                gather((segment, queries), pairs, bounds, length, &mut chunk)?;
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

/// Adds the matches of sorted pairs to parts of `length` queries each, until they exceed the memory.
fn gather<F: Fingerprint>(
    (segment, queries): (&Segment, &[F]),
    pairs: &[Pair<F>],
    bounds: &Bounds,
    length: usize,
    parts: &mut Parts<F>,
) -> Result<()> {
    let (mut scratch, mut id_scratch, mut ids) = (Scratch::default(), IdScratch::default(), Vec::new());
    // Queries near each other find the same fingerprints: the ids of each are read once.
    for same in pairs.chunk_by(|one, other| one.found == other.found) {
        let Some(&Pair { found: Found { fingerprint, rank }, .. }) = same.first() else { continue };
        if bounds.matches.is_full() {
            return Ok(());
        }
        let rank = rank_of(segment, fingerprint, rank, &mut scratch)?;
        let are_many = bounds.most_units < u64::MAX && segment.ids().units_of(rank)? > bounds.most_units;
        let mut texts = 0;
        ids.clear();
        if !are_many {
            segment.ids().ids_of(rank, &mut id_scratch, |id| {
                texts += id.text().map_or(0, |text| text.len() + 16);
                ids.push(id);
            })?;
        }
        for (left, pair) in (0..same.len()).rev().zip(same) {
            let number = pair.query as usize;
            let Some((into, apart)) = parts.get_mut(number / length) else { continue };
            if are_many {
                apart.push(pair.query);
                continue;
            }
            if !bounds.reserve(into, ids.len(), texts) {
                return Ok(());
            }
            let distance = queries.get(number).map_or(0, |&query| distance(query, fingerprint));
            let numbered = |id| (pair.query, Match { distance, fingerprint, id });
            match left {
                0 => into.extend(ids.drain(..).map(numbered)),
                _ => into.extend(ids.iter().cloned().map(numbered)),
            }
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::Id;

    #[test]
    fn lists_take_their_memory_before_they_grow() {
        const EACH: usize = size_of::<(u32, Match<u64>)>();
        for most in [0, 1, 7, 100, 1000] {
            let bounds = Bounds { matches: AnswerBudget::new((most * EACH) as u64), ..Bounds::none() };
            let mut lists: [Numbered<u64>; 3] = Default::default();
            let id = Match { distance: 0, fingerprint: 0, id: Id::Number(0) };
            for at in (0..3).cycle() {
                if !bounds.reserve(&mut lists[at], at + 1, 0) {
                    break;
                }
                lists[at].extend((0..=at).map(|_| (0, id.clone())));
                assert!(lists.iter().map(Vec::capacity).sum::<usize>() <= most);
            }
            assert!(bounds.matches.is_full() && lists.iter().map(Vec::len).sum::<usize>() >= most / 4);
        }
        // The texts of ids count too.
        let bounds = Bounds { matches: AnswerBudget::new(1000), ..Bounds::none() };
        assert!(bounds.reserve::<u64>(&mut Vec::with_capacity(10), 2, 900));
        assert!(!bounds.reserve::<u64>(&mut Vec::with_capacity(10), 2, 900));
    }
}
