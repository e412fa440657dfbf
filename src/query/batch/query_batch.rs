//! Many queries at once: merged or probed, segment by segment.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Match};
use crate::query::batch::gathered::{Bounds, Gathered};
use crate::query::probe::plan::merge_join_pays;
use crate::query::searcher::Searcher;
use crate::query::view_searcher::{ViewSearcher, check_distance};
use crate::query_stats::QueryStats;
use crate::segment::Segment;
use crate::version::{ReadView, StoreContext};
use rayon::prelude::*;
use std::sync::Arc;

/// How a batch of queries is answered. The answers are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchStrategy {
    /// For each segment the way that is expected to be faster.
    #[default]
    Auto,
    /// The queries are sorted and merged with the tables of every segment, in one pass over each.
    Always,
    /// Each query probes the tables by itself.
    Never,
}

/// Queries that are answered together: bounds the memory of pairs that are not yet answers.
const CHUNK: usize = 1 << 22;

/// Queries that a thread probes with at a time.
const PROBED: usize = 256;

impl<F: Fingerprint> Searcher<'_, F> {
    /// The answers of [`Searcher::query`] to many independent queries, in their order, on all threads of the
    /// store ([`crate::Options::with_threads`]).
    ///
    /// A large batch needs every block anyway. So it is sorted and *merged* with the tables, each of which is read once
    /// from its beginning to its end. That takes some 40 bytes of memory a query beside the answers, and some 100
    /// bytes for each fingerprint near a query.
    ///
    /// ```
    /// use fpstore::{BatchStrategy, Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![0b0000, 0b0111, u64::MAX]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// let answers = store.searcher().query_batch(&[0b0011, !0b0011], 2, BatchStrategy::Auto)?;
    /// assert_eq!((answers[0].len(), answers[1].len()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width; `Damaged` or `Io` from reading: then no query has an answer.
    pub fn query_batch(&mut self, fingerprints: &[F], k: u32, batch: BatchStrategy) -> Result<Vec<Vec<Match<F>>>> {
        check_distance(k, F::WIDTH)?;
        let searcher = self.now();
        let (context, view, stats) = (&searcher.context, &searcher.view, &mut searcher.stats);
        context.options.executor.run(|| {
            let mut answers = vec![Vec::new(); fingerprints.len()];
            for (queries, answers) in fingerprints.chunks(CHUNK).zip(answers.chunks_mut(CHUNK)) {
                let merges = |segment: &&Arc<Segment>| match batch {
                    BatchStrategy::Auto => merge_join_pays(segment, k, queries.len()),
                    BatchStrategy::Always => true,
                    BatchStrategy::Never => false,
                };
                let (merged, probed): (Vec<&Arc<Segment>>, Vec<_>) = view.version.segments.iter().partition(merges);
                if !probed.is_empty() || !view.version.memtables.is_empty() {
                    let probed = ReadView::part(view, probed.into_iter().cloned().collect());
                    *stats += probe(context, &probed, queries, k, answers)?;
                }
                let mut gathered = Gathered::new(queries.len(), context.options.executor.threads(), Bounds::none());
                for segment in &merged {
                    gathered.merge(segment, queries, k, stats)?;
                }
                let length = gathered.length;
                let parts = queries.par_chunks(length).zip(answers.par_chunks_mut(length)).enumerate();
                parts.for_each(|(part, (queries, answers))| _ = gathered.answer(part, queries, answers));
                if view.has_tombstones() {
                    drop_removed(context, view, answers)?;
                }
            }
            Ok(answers)
        })
    }

    /// The strategy of [`BatchStrategy::Auto`] for most of the records and this many queries, with the present filters.
    /// Merging needs no filters.
    #[must_use]
    pub fn batch_strategy(&mut self, queries: usize, k: u32) -> BatchStrategy {
        let view = &self.now().view.version;
        let records = |segment: &&Arc<Segment>| segment.footer().records;
        let all: u64 = view.segments.iter().map(|segment| records(&segment)).sum();
        let merged = view.segments.iter().filter(|segment| merge_join_pays(segment, k, queries));
        if merged.map(|segment| records(&segment)).sum::<u64>() > all / 2 {
            BatchStrategy::Always
        } else {
            BatchStrategy::Never
        }
    }

    /// Merges a batch as [`BatchStrategy::Always`] does, in about this many bytes of memory beside the 40 bytes a
    /// query. Calls `make` on all threads with the number of a query and the answers to it and to the following
    /// queries, and `take` with the results of `make`, in the order of the queries. An answer that is `None` may have
    /// very many records of one fingerprint; [`Searcher::visit`] finds them. Answers from records that are not in a
    /// segment yet are not counted.
    ///
    /// Returns `false`, without having called either, if the answers take more memory; the caller then asks fewer
    /// queries.
    ///
    /// # Errors
    /// Those of [`Searcher::query_batch`], and those of `take`; `InvalidInput` for 2^32 queries or more.
    pub fn visit_batch<T: Send, E: From<Error>>(
        &mut self,
        fingerprints: &[F],
        k: u32,
        memory: u64,
        make: impl Fn(usize, Vec<Option<Vec<Match<F>>>>) -> T + Sync,
        mut take: impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<bool, E> {
        check_distance(k, F::WIDTH)?;
        if u32::try_from(fingerprints.len()).is_err() {
            return Err(Error::invalid("a batch has fewer than 2^32 queries; ask several").into());
        }
        let searcher = self.now();
        let (context, view, stats) = (&searcher.context, &searcher.view, &mut searcher.stats);
        let executor = &context.options.executor;
        let mut gathered = Gathered::new(fingerprints.len(), executor.threads(), Bounds::of(memory));
        for segment in &view.version.segments {
            if !executor.run(|| gathered.merge(segment, fingerprints, k, stats))? {
                return Ok(false);
            }
        }
        let live = ReadView::part(view, Vec::new());
        let length = gathered.length;
        let mut parts = fingerprints.chunks(length).enumerate();
        loop {
            let some: Vec<_> = parts.by_ref().take(gathered.together).collect();
            if some.is_empty() {
                return Ok(true);
            }
            let made = some.into_par_iter().map(|(part, queries)| {
                let mut answers = vec![Vec::new(); queries.len()];
                let mut stats = QueryStats::default();
                if !live.version.memtables.is_empty() {
                    stats = probe(context, &live, queries, k, &mut answers)?;
                }
                let apart = gathered.answer(part, queries, &mut answers);
                if view.has_tombstones() {
                    drop_removed::<F>(context, view, &mut answers)?;
                }
                let answers = answers.into_iter().zip(0..);
                let answers = answers.map(|(answer, number)| (!apart.contains(&number)).then_some(answer));
                Ok((make(part * length, answers.collect()), stats))
            });
            for made in executor.run(|| made.collect::<Result<Vec<_>>>())? {
                *stats += made.1;
                take(made.0)?;
            }
        }
    }
}

/// Answers each query by probing, removed records included.
fn probe<F: Fingerprint>(
    context: &Arc<StoreContext>,
    view: &ReadView,
    queries: &[F],
    k: u32,
    answers: &mut [Vec<Match<F>>],
) -> Result<QueryStats> {
    let chunks = queries.par_chunks(PROBED).zip(answers.par_chunks_mut(PROBED));
    let searchers: Result<Vec<ViewSearcher>> = chunks
        .try_fold(
            || {
                let mut searcher = ViewSearcher::new(context, view.clone());
                searcher.with_removed = true;
                searcher
            },
            |mut searcher, (queries, answers)| {
                for (answer, &query) in answers.iter_mut().zip(queries) {
                    *answer = searcher.query(query, k, false)?;
                }
                Ok(searcher)
            },
        )
        .collect();
    Ok(searchers?.iter().fold(QueryStats::default(), |sum, searcher| sum + searcher.stats))
}

fn drop_removed<F: Fingerprint>(
    context: &Arc<StoreContext>,
    view: &ReadView,
    answers: &mut [Vec<Match<F>>],
) -> Result<()> {
    let searcher = || ViewSearcher::new(context, view.clone());
    answers.par_iter_mut().try_for_each_init(searcher, |searcher, answer| searcher.drop_removed(answer))
}
