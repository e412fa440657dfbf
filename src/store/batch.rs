//! Asking a store many queries at once.

use super::common::Common;
use super::query::{Asking, Searcher, check_distance, in_order, rank_of};
use super::view::State;
use super::{Snapshot, Store};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Match, distance};
use crate::search::{Pair, Work, merge_segment, merging_pays};
use crate::segment::{IdScratch, Scratch, Segment};
use rayon::prelude::*;
use std::sync::Arc;

/// How a batch of queries is answered. The answers are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Batch {
    /// For each segment in the way that is expected to be faster.
    #[default]
    Auto,
    /// The queries are sorted and merged with the tables of every segment, in one pass over each.
    Always,
    /// Each query probes the tables by itself.
    Never,
}

/// Matches with the numbers of their queries.
type Numbered<F> = Vec<(u32, Match<F>)>;

/// Queries that are answered together: bounds the memory of what is found but not yet an answer.
const LOT: usize = 1 << 22;

/// Queries that one thread probes with at a time.
const PROBED: usize = 256;

impl<F: Fingerprint> Store<F> {
    /// The answers of [`Searcher::query`] to many independent queries, in their order, on all threads of rayon's current
    /// pool.
    ///
    /// Of a large batch every block is wanted anyway. So the queries are sorted and *merged* with the tables, each of
    /// which is read once from its beginning to its end. That takes some 40 bytes of memory a query beside the answers.
    ///
    /// ```
    /// use fpstore::{Batch, Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![0b0000, 0b0111, u64::MAX]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// let answers = store.query_batch(&[0b0011, !0b0011], 2, Batch::Auto)?;
    /// assert_eq!((answers[0].len(), answers[1].len()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width; `Damaged` or `Io` from reading: then there is no answer to any query.
    pub fn query_batch(&self, fingerprints: &[F], k: u32, batch: Batch) -> Result<Vec<Vec<Match<F>>>> {
        self.query_batch_counted(fingerprints, k, batch, &mut Work::default())
    }

    /// The same, and adds to `work` what it has cost.
    ///
    /// # Errors
    /// Those of [`Store::query_batch`].
    pub fn query_batch_counted(
        &self,
        fingerprints: &[F],
        k: u32,
        batch: Batch,
        work: &mut Work,
    ) -> Result<Vec<Vec<Match<F>>>> {
        self.snapshot().query_batch_counted(fingerprints, k, batch, work)
    }

    /// Whether [`Batch::Auto`] would merge a batch of so many queries with most of the records, with the filters that are
    /// there now. Who only asks such batches needs no filters.
    #[must_use]
    pub fn batch_pays(&self, queries: usize, k: u32) -> bool {
        let view = self.view();
        let records = |segment: &&Arc<Segment>| segment.footer().records;
        let all: u64 = view.segments.iter().map(|segment| records(&segment)).sum();
        let merged = view.segments.iter().filter(|segment| merging_pays(segment, k, queries));
        merged.map(|segment| records(&segment)).sum::<u64>() > all / 2
    }
}

impl<F: Fingerprint> Snapshot<F> {
    /// As [`Store::query_batch`].
    ///
    /// # Errors
    /// Those of [`Store::query_batch`].
    pub fn query_batch(&self, fingerprints: &[F], k: u32, batch: Batch) -> Result<Vec<Vec<Match<F>>>> {
        self.query_batch_counted(fingerprints, k, batch, &mut Work::default())
    }

    /// As [`Store::query_batch_counted`].
    ///
    /// # Errors
    /// Those of [`Store::query_batch`].
    pub fn query_batch_counted(
        &self,
        fingerprints: &[F],
        k: u32,
        batch: Batch,
        work: &mut Work,
    ) -> Result<Vec<Vec<Match<F>>>> {
        check_distance::<F>(k)?;
        let (common, state) = (self.common(), self.state());
        let mut answers = vec![Vec::new(); fingerprints.len()];
        for (queries, answers) in fingerprints.chunks(LOT).zip(answers.chunks_mut(LOT)) {
            let merges = |segment: &&Arc<Segment>| match batch {
                Batch::Auto => merging_pays(segment, k, queries.len()),
                Batch::Always => true,
                Batch::Never => false,
            };
            let (merged, probed): (Vec<&Arc<Segment>>, Vec<_>) = state.view.segments.iter().partition(merges);
            if !probed.is_empty() || !state.view.memtables.is_empty() {
                let probed = State::part(state, probed.into_iter().cloned().collect());
                *work += probe(common, &probed, queries, k, answers)?;
            }
            for segment in &merged {
                for pairs in merge_segment(segment, queries, k, work)? {
                    add(segment, queries, pairs, answers)?;
                }
            }
            if !merged.is_empty() {
                answers.par_iter_mut().for_each(|answer| *answer = in_order(std::mem::take(answer)));
            }
            if state.has_removals() {
                drop_removed(common, state, queries, answers)?;
            }
        }
        Ok(answers)
    }
}

/// Answers each query by itself, removed records included.
fn probe<F: Fingerprint>(
    common: &Arc<Common>,
    state: &State<F>,
    queries: &[F],
    k: u32,
    answers: &mut [Vec<Match<F>>],
) -> Result<Work> {
    let lots = queries.par_chunks(PROBED).zip(answers.par_chunks_mut(PROBED));
    let searchers: Result<Vec<Searcher<'_, F>>> = lots
        .try_fold(
            || Searcher::with_removed(common, state.clone()),
            |mut searcher, (queries, answers)| {
                for (answer, found) in answers.iter_mut().zip(searcher.query_many(queries, k)?) {
                    *answer = found;
                }
                Ok(searcher)
            },
        )
        .collect();
    Ok(searchers?.iter().map(Searcher::work).fold(Work::default(), |sum, work| sum + work))
}

/// Leaves records out of the answers that are not there any more.
fn drop_removed<F: Fingerprint>(
    common: &Arc<Common>,
    state: &State<F>,
    queries: &[F],
    answers: &mut [Vec<Match<F>>],
) -> Result<()> {
    queries.par_iter().zip(answers).try_for_each_init(
        || Asking::new(common, state.clone()),
        |asking, (&query, answer)| asking.drop_removed(query, answer),
    )
}
/// Adds the records of what a table has found to the answers.
fn add<F: Fingerprint>(
    segment: &Segment,
    queries: &[F],
    mut pairs: Vec<Pair<F>>,
    answers: &mut [Vec<Match<F>>],
) -> Result<()> {
    // In the order of the first table: what is read for one lies near to what is read for the next.
    let place = |pair: &Pair<F>| (pair.found.rank, pair.found.fingerprint);
    if !pairs.is_sorted_by_key(place) {
        pairs.par_sort_unstable_by_key(place);
    }
    let threads = rayon::current_num_threads();
    // Each part of the answers is filled by one thread.
    let part = answers.len().div_ceil(threads * 4).max(1);
    let parts = answers.len().div_ceil(part);
    let lots: Result<Vec<Vec<Numbered<F>>>> = pairs
        .par_chunks(pairs.len().div_ceil(threads * 4).max(1))
        .map(|pairs| {
            let (mut scratch, mut ids) = (Scratch::default(), IdScratch::default());
            let mut lot: Vec<Numbered<F>> = vec![Vec::new(); parts];
            for pair in pairs {
                let fingerprint = pair.found.fingerprint;
                let rank = rank_of(segment, pair.found, &mut scratch)?;
                let number = pair.query as usize;
                let distance = queries.get(number).map_or(0, |&query| distance(query, fingerprint));
                let Some(into) = lot.get_mut(number / part) else { continue };
                segment
                    .ids()
                    .ids_of(rank, &mut ids, |id| into.push((pair.query, Match { distance, fingerprint, id })))?;
            }
            Ok(lot)
        })
        .collect();
    let mut of_parts: Vec<Vec<Numbered<F>>> = (0..parts).map(|_| Vec::new()).collect();
    for lot in lots? {
        of_parts.iter_mut().zip(lot).for_each(|(part, found)| part.push(found));
    }
    answers.par_chunks_mut(part).zip(of_parts).zip(0..parts).for_each(|((answers, found), number)| {
        for (query, found) in found.into_iter().flatten() {
            if let Some(answer) = answers.get_mut(query as usize - number * part) {
                // Most have one.
                answer.reserve_exact(usize::from(answer.is_empty()));
                answer.push(found);
            }
        }
    });
    Ok(())
}
