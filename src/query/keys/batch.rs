//! Many queries of a key index: merged with the keys of the runs, or looked up one by one.

use super::merged::Merged;
use super::options::{KeyMatch, KeyQuery, QueryKeys};
use super::search::{KeySearcher, Search, check};
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::format::KeyFormat;
use crate::query::BatchStrategy;
use crate::query::batch::batch_budget::BatchBudget;
use crate::version::ReadView;
use rayon::prelude::*;
use std::ops::Range;

/// Memory for merging where the caller keeps all answers anyway.
const MEMORY: u64 = 1 << 30;

/// Most queries that a thread answers at a time.
const PIECE: usize = 256;
/// Pieces of a round for every thread, so that a slow one does not delay the others.
const PIECES: usize = 4;

impl KeySearcher<'_> {
    /// The answers of [`KeySearcher::query`] to many independent queries, in their order, on all threads of the index
    /// ([`crate::Options::with_threads`]).
    ///
    /// The keys of a large batch are sorted and *merged* with the keys of the index, of which each block is decoded
    /// once at most. That takes up to 1 GiB of memory beside the answers; more queries are merged in parts.
    ///
    /// ```
    /// use fpstore::keys::{KeyQuery, KeySorter, QueryKeys};
    /// use fpstore::{BatchStrategy, IdRef, KeyFormat, KeyIndex, Options, Parameters};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let format = KeyFormat::default();
    /// let mut sorter = KeySorter::new(&path, &Options::new(), format);
    /// sorter.push(IdRef::Number(1), &[0x1000 << 48, 0x2000 << 48], &[])?;
    /// sorter.push(IdRef::Number(2), &[0x2000 << 48, 0x3000 << 48], &[])?;
    /// let parameters = Parameters::of_keys(format);
    /// let (index, _) = KeyIndex::create_loaded(&path, &parameters, &Options::new(), sorter.finish()?)?;
    /// let queries = [&[0x2000 << 48][..], &[0x3000 << 48, 0x4000 << 48]].map(|keys| QueryKeys { keys, sketch: &[] });
    /// let answers = index.searcher().query_batch(&queries, &KeyQuery::new(), BatchStrategy::Auto)?;
    /// assert_eq!((answers[0].len(), answers[1].len()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`KeySearcher::query`]: then no query has an answer.
    pub fn query_batch(
        &mut self,
        queries: &[QueryKeys<'_>],
        how: &KeyQuery,
        batch: BatchStrategy,
    ) -> Result<Vec<Vec<KeyMatch>>> {
        let mut all = Vec::with_capacity(queries.len());
        let make = |_, answers: Vec<Vec<KeyMatch>>| answers;
        self.visit_batch(queries, how, batch, MEMORY, make, |mut answers| -> Result<()> {
            all.append(&mut answers);
            Ok(())
        })?;
        Ok(all)
    }

    /// As [`KeySearcher::query_batch`], in about this many bytes of memory: queries are merged in parts that fit, and
    /// answers are passed on as they are made. Beside that, every thread holds the answer to one query, which may be
    /// all records. Calls `make` on all threads with the number of a query and the answers to it and to the following
    /// queries, and `take` with the results of `make`, in the order of the queries.
    ///
    /// # Errors
    /// Those of [`KeySearcher::query`], after the answers to the queries before; those of `take`.
    pub fn visit_batch<T: Send, E: From<Error>>(
        &mut self,
        queries: &[QueryKeys<'_>],
        how: &KeyQuery,
        batch: BatchStrategy,
        memory: u64,
        make: impl Fn(usize, Vec<Vec<KeyMatch>>) -> T + Sync,
        mut take: impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let view = self.now().clone();
        let (format, executor) = (self.format, &*self.context.options.executor);
        let mut first = 0;
        while let Some(rest) = queries.get(first..).filter(|rest| !rest.is_empty()) {
            let length = match batch {
                BatchStrategy::Never => rest.len(),
                _ => part(rest, &view, memory / 2),
            };
            let some = rest.get(..length).unwrap_or_default();
            let merges = match batch {
                BatchStrategy::Auto => merging_pays(some),
                BatchStrategy::Always => true,
                BatchStrategy::Never => false,
            };
            let merged = if merges { Some(executor.run(|| Merged::new(&view, format, some))?) } else { None };
            let job = Job { executor, view: &view, format, how, memory: memory / 4, queries, merged, first };
            job.run(first..first + length, &make, &mut take)?;
            first += length;
        }
        Ok(())
    }
}

/// How many queries can be merged in this many bytes, at least one.
fn part(queries: &[QueryKeys<'_>], view: &ReadView, memory: u64) -> usize {
    let mut taken = 0_u64;
    let fits = |query: &&QueryKeys<'_>| {
        taken = taken.saturating_add(Merged::bytes(view, query.keys));
        taken <= memory
    };
    queries.iter().take_while(fits).count().max(1)
}

/// Whether merging these queries is expected to be faster than looking them up one by one. Merging looks up the same
/// keys in a better order, so all that it has to earn is the sorting.
fn merging_pays(queries: &[QueryKeys<'_>]) -> bool {
    const LEAST_KEYS: usize = 2048;
    queries.iter().map(|query| query.keys.len()).fold(0, usize::saturating_add) >= LEAST_KEYS
}

/// Queries that are answered from one state.
struct Job<'a> {
    executor: &'a Executor,
    view: &'a ReadView,
    format: KeyFormat,
    how: &'a KeyQuery,
    /// Bytes for answers that wait to be taken.
    memory: u64,
    queries: &'a [QueryKeys<'a>],
    /// What was found for the queries from `first` on, if they were merged.
    merged: Option<Merged>,
    first: usize,
}

/// Answers to the first queries of a range.
struct Piece<T> {
    made: Option<T>,
    /// The remaining queries, unless the first of them failed.
    left: Range<usize>,
    failed: Option<Error>,
}

impl Job<'_> {
    /// Answers queries on all threads, and passes the answers on in order.
    fn run<T: Send, E: From<Error>>(
        &self,
        mut queries: Range<usize>,
        make: &(impl Fn(usize, Vec<Vec<KeyMatch>>) -> T + Sync),
        take: &mut impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let pieces = self.executor.threads() * PIECES;
        let mut length = PIECE.min(queries.len().div_ceil(pieces)).max(1);
        while !queries.is_empty() {
            let now = queries.start..queries.end.min(queries.start + pieces * length);
            let budget = BatchBudget::new(self.memory);
            let piece = |search: &mut Search, start: usize| {
                Ok(self.piece(search, start..now.end.min(start + length), &budget, make))
            };
            let made = || {
                let starts = now.clone().into_par_iter().step_by(length);
                starts.map_init(|| Search::new(self.format, self.how), piece).collect::<Result<Vec<_>>>()
            };
            let mut all = true;
            for Piece { made, left, failed } in self.executor.run(made)? {
                made.map_or(Ok(()), &mut *take)?;
                failed.map_or(Ok(()), Err)?;
                all &= left.is_empty();
                self.rest(left, make, take)?;
            }
            // This thread alone answers the queries that pieces have left.
            length = if all { (2 * length).min(PIECE) } else { (length / 2).max(1) };
            queries.start = now.end;
        }
        Ok(())
    }

    /// Answers queries until the answers take too much memory.
    fn piece<T>(
        &self,
        search: &mut Search,
        mut left: Range<usize>,
        budget: &BatchBudget,
        make: &impl Fn(usize, Vec<Vec<KeyMatch>>) -> T,
    ) -> Piece<T> {
        let (first, mut answers, mut failed) = (left.start, Vec::with_capacity(left.len()), None);
        while !left.is_empty() && !budget.is_full() {
            match self.answer(search, left.start) {
                Ok(answer) => {
                    budget.take(bytes(&answer));
                    answers.push(answer);
                    left.start += 1;
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        let made = if answers.is_empty() { None } else { Some(make(first, answers)) };
        Piece { made, left, failed }
    }

    /// Answers queries one after the other, and passes each answer on.
    fn rest<T, E: From<Error>>(
        &self,
        queries: Range<usize>,
        make: &impl Fn(usize, Vec<Vec<KeyMatch>>) -> T,
        take: &mut impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut search = Search::new(self.format, self.how);
        for number in queries {
            take(make(number, vec![self.answer(&mut search, number)?]))?;
        }
        Ok(())
    }

    fn answer(&self, search: &mut Search, number: usize) -> Result<Vec<KeyMatch>> {
        let query = self.queries.get(number).copied().unwrap_or_default();
        let Some(merged) = &self.merged else { return search.single(self.view, query) };
        check(self.format, query, self.how)?;
        merged.answer(search, self.view, number - self.first, query)
    }
}

/// Bytes of memory of an answer.
fn bytes(answer: &[KeyMatch]) -> u64 {
    let texts = answer.iter().filter_map(|found| found.id.text());
    (size_of_val(answer) + texts.map(|text| text.len() + 16).sum::<usize>()) as u64
}
