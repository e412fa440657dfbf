//! Answers a batch of queries on all cores and writes the answers in order.
//!
//! Memory is bounded: a piece of the batch stops when its answers have grown to its share of the memory, even in the
//! middle of a query, and leaves the rest until the answers before it have been written. A query with that many matches
//! is then repeated, and its answer is written as it is found. For merging, a part of the batch is chosen whose matches
//! fit; a query near a fingerprint with very many records is answered alone.

use std::ops::ControlFlow;
use std::time::Instant;

use fpstore::{Fingerprint, Match, Searcher, Store};
use fpstore_tools::output::{Output, Rows};
use rayon::prelude::*;

use crate::answer::{Kind, Look, records};
use crate::memory::Memory;
use crate::queries::Query;
use crate::question::Question;
use crate::stats::Totals;

/// Most queries that are answered together when they are looked up one by one.
const ROUND: usize = 4096;

/// Pieces of a round for every thread, so that a slow piece does not delay the others.
const PIECES_PER_THREAD: usize = 4;

/// Fewer queries are not merged with the store if memory is short.
const LEAST_MERGED: usize = 256;

/// Answers queries in one way.
pub(crate) struct Asker<'a, F: Fingerprint> {
    pub(crate) store: &'a Store<F>,
    pub(crate) question: Question,
    pub(crate) look: Look,
    pub(crate) memory: Memory,
    /// Whether the time of each query is measured.
    pub(crate) timed: bool,
}

/// Answers to the first queries of a range, and the remaining queries.
struct Piece<'a, F> {
    rows: Rows,
    totals: Totals,
    left: &'a [Query<F>],
    /// Number of matches of the first remaining query that are already among the rows.
    begun: u64,
}

impl<'a, F: Fingerprint> Piece<'a, F> {
    fn new(look: &Look, queries: &'a [Query<F>]) -> Self {
        Self { rows: look.rows(), totals: Totals::default(), left: queries, begun: 0 }
    }

    /// Advances past the query that was answered.
    fn advance(&mut self) {
        self.left = self.left.get(1..).unwrap_or_default();
        self.begun = 0;
        self.totals.queries += 1;
    }
}

impl<F: Fingerprint> Asker<'_, F> {
    /// Writes the answers and adds up the work.
    pub(crate) fn answer(&self, mut batch: &[Query<F>], out: &mut Output, totals: &mut Totals) -> anyhow::Result<()> {
        let pieces = rayon::current_num_threads() * PIECES_PER_THREAD;
        let most = self.memory.piece(pieces);
        let mut round = ROUND;
        while !batch.is_empty() {
            let (now, later) = batch.split_at(batch.len().min(round));
            let made: Vec<_> = if now.len() <= 1 {
                now.chunks(1).map(|queries| self.piece(queries, most)).collect()
            } else {
                now.par_chunks(now.len().div_ceil(pieces)).map(|queries| self.piece(queries, most)).collect()
            };
            let mut all = true;
            for piece in made {
                all &= self.write(piece?, most, out, totals)?;
            }
            // One thread answers the queries that pieces have left.
            round = if all { (2 * round).min(ROUND) } else { (round / 2).max(pieces) };
            batch = later;
        }
        Ok(())
    }

    /// Answers the batch by merging parts of it with the store, each as large as memory allows.
    pub(crate) fn merge(
        &self,
        k: u32,
        mut batch: &[Query<F>],
        out: &mut Output,
        totals: &mut Totals,
    ) -> anyhow::Result<()> {
        let most = self.memory.piece(rayon::current_num_threads() * PIECES_PER_THREAD);
        // A match takes several forms until it is written; and queries may differ from those of the sample.
        let matches = usize::try_from(self.memory.answers).unwrap_or(usize::MAX) / (8 * size_of::<Match<F>>());
        let mut length = (matches / self.expected_matches(batch)?).max(LEAST_MERGED);
        while !batch.is_empty() {
            let (part, later) = batch.split_at(batch.len().min(length));
            let before = totals.matches;
            let fingerprints: Vec<F> = part.iter().map(|query| query.fingerprint).collect();
            let mut searcher = self.store.searcher();
            let make = |first: usize, answers: Vec<Option<Vec<Match<F>>>>| {
                let queries = part.get(first..first + answers.len()).unwrap_or_default();
                self.merged_piece(queries, &answers, most)
            };
            let take = |piece: fpstore::Result<Piece<'_, F>>| self.write(piece?, most, out, totals).map(|_| ());
            let fits = searcher.visit_batch(&fingerprints, k, self.memory.answers, make, take)?;
            totals.work += searcher.stats();
            if fits {
                let found = usize::try_from(totals.matches - before).unwrap_or(usize::MAX);
                length = if found < matches / 2 { 2 * length } else { length };
                batch = later;
            } else if part.len() > LEAST_MERGED {
                length = (part.len() / 4).max(LEAST_MERGED);
            } else {
                self.answer(part, out, totals)?;
                batch = later;
            }
        }
        Ok(())
    }

    /// Returns the number of matches of a query, estimated from a sample. A query with very many matches is answered
    /// alone.
    fn expected_matches(&self, batch: &[Query<F>]) -> fpstore::Result<usize> {
        const SAMPLE: usize = 64;
        const MANY: u64 = 4096;
        if batch.len() <= 4 * SAMPLE {
            return Ok(1);
        }
        let mut searcher = self.store.searcher();
        let mut matches = 0;
        for query in batch.iter().step_by(batch.len() / SAMPLE) {
            matches += self.question.count(&mut searcher, query, self.memory.of_one())?.min(MANY);
        }
        Ok(usize::try_from(matches).unwrap_or(usize::MAX).div_ceil(SAMPLE).max(1))
    }

    /// Looks queries up until the answers take `most` bytes.
    fn piece<'q>(&self, queries: &'q [Query<F>], most: usize) -> fpstore::Result<Piece<'q, F>> {
        let mut searcher = self.store.searcher();
        let mut piece = Piece::new(&self.look, queries);
        while !piece.left.is_empty() && piece.rows.text().len() < most && self.next(&mut searcher, &mut piece, most)? {}
        piece.totals.work = searcher.stats();
        Ok(piece)
    }

    /// Returns the piece of queries that were merged with the store.
    fn merged_piece<'q>(
        &self,
        queries: &'q [Query<F>],
        answers: &[Option<Vec<Match<F>>>],
        most: usize,
    ) -> fpstore::Result<Piece<'q, F>> {
        let mut piece = Piece::new(&self.look, queries);
        let mut searcher = None;
        for (query, matches) in queries.iter().zip(answers) {
            let Some(matches) = matches else {
                let searcher = searcher.get_or_insert_with(|| self.store.searcher());
                if !self.next(searcher, &mut piece, most)? {
                    break;
                }
                continue;
            };
            let matches = matches.iter().filter(|found| self.question.takes(query, found));
            if self.look.kind == Kind::Count {
                let count = matches.map(records).fold(0, u64::saturating_add);
                self.look.push_count(&mut piece.rows, query, count);
                piece.totals.matches += count;
            } else {
                for (number, found) in matches.enumerate() {
                    self.look.push_match(&mut piece.rows, query, found, number > 0);
                    piece.totals.matches += records(found);
                }
            }
            piece.advance();
        }
        piece.totals.work = searcher.map(|searcher| searcher.stats()).unwrap_or_default();
        Ok(piece)
    }

    /// Answers the next query of a piece; `false` if the answer does not fit.
    fn next(&self, searcher: &mut Searcher<'_, F>, piece: &mut Piece<'_, F>, most: usize) -> fpstore::Result<bool> {
        let Some(query) = piece.left.first() else { return Ok(true) };
        let started = self.timed.then(Instant::now);
        let memory = self.memory.of_thread();
        let Piece { rows, totals, begun, .. } = piece;
        if self.look.kind == Kind::Count {
            let count = self.question.count(searcher, query, memory)?;
            self.look.push_count(rows, query, count);
            totals.matches += count;
        } else {
            let mut fits = true;
            self.question.ask(searcher, query, memory, &mut |found| {
                if self.look.kind == Kind::Matches {
                    self.look.push_match(rows, query, found, *begun > 0);
                    fits = rows.text().len() < most;
                }
                *begun += 1;
                totals.matches += records(found);
                if fits { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            if !fits {
                return Ok(false);
            }
            if self.look.kind == Kind::Unseen && *begun == 0 {
                self.look.push_unseen(rows, query);
                totals.unseen += 1;
            }
        }
        if let Some(started) = started {
            piece.totals.latency.add(started.elapsed());
        }
        piece.advance();
        Ok(true)
    }

    /// Writes a piece and the answers to the remaining queries; returns whether no query remained.
    fn write(
        &self,
        mut piece: Piece<'_, F>,
        most: usize,
        out: &mut Output,
        totals: &mut Totals,
    ) -> anyhow::Result<bool> {
        let all = piece.left.is_empty();
        loop {
            out.write(&piece.rows)?;
            totals.add(&piece.totals);
            let Some((query, left)) = piece.left.split_first() else { return Ok(all) };
            if piece.begun > 0 {
                self.rest(query, piece.begun, out, totals)?;
            }
            let left = if piece.begun > 0 { left } else { piece.left };
            piece = self.piece(left, most)?;
        }
    }

    /// Writes the matches of a query after the first `begun` ones as they are found.
    fn rest(&self, query: &Query<F>, mut begun: u64, out: &mut Output, totals: &mut Totals) -> anyhow::Result<()> {
        let mut searcher = self.store.searcher();
        let mut rows = self.look.rows();
        let mut failed = None;
        self.question.ask(&mut searcher, query, self.memory.of_one(), &mut |found| {
            if begun > 0 {
                begun -= 1;
                return ControlFlow::Continue(());
            }
            let again = rows.count() > 0;
            self.look.push_match(&mut rows, query, found, again);
            totals.matches += records(found);
            if rows.is_full() {
                failed = out.write(&rows).err();
                rows.clear();
            }
            if failed.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        totals.work += searcher.stats();
        totals.queries += 1;
        out.write(&rows)
    }
}
