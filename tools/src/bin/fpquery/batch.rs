//! Answers a batch of queries on all cores and writes the answers in order.
//!
//! Memory is bounded: a piece of the batch stops when its answers have grown to [`PIECE_BYTES`] and leaves the rest of
//! its queries for the moment when the answers before them have been written. Only the matches of a single query are
//! ever held whole, or those of a lot of queries that are merged with the store.

use std::io::{self, Write};
use std::time::Instant;

use fpstore::{Batch, Fingerprint, Match, Store};
use rayon::prelude::*;

use crate::answer::{Style, records};
use crate::queries::Query;
use crate::question::Question;
use crate::stats::Totals;

/// Answers of one piece that are held before they are written.
const PIECE_BYTES: usize = 4 << 20;

/// Pieces of a batch for every thread, so that a slow one does not keep the others waiting.
const PIECES_PER_THREAD: usize = 4;

/// Matches of merged queries that are held before they are written, if the queries are like those of a sample.
const HELD_MATCHES: usize = 1 << 23;

/// Merged queries whose answers one thread writes down.
const MERGED_PIECE: usize = 2048;

/// Answers queries in one way.
pub(crate) struct Asker<'a, F: Fingerprint> {
    pub(crate) store: &'a Store<F>,
    pub(crate) question: Question,
    pub(crate) style: Style,
    /// Whether each query's time is taken.
    pub(crate) timed: bool,
}

/// Answers to the first of some queries, and the queries that are left.
struct Piece<'a, F> {
    text: Vec<u8>,
    totals: Totals,
    left: &'a [Query<F>],
}

impl<'a, F: Fingerprint> Piece<'a, F> {
    fn new(queries: &'a [Query<F>]) -> Self {
        Self { text: Vec::new(), totals: Totals::default(), left: queries }
    }

    /// The answer to the next query.
    fn answer(&mut self, style: Style, matches: &[Match<F>]) {
        let Some((query, left)) = self.left.split_first() else { return };
        style.push(&mut self.text, query, matches);
        self.totals.queries += 1;
        self.totals.matches += records(matches);
        self.left = left;
    }
}

impl<F: Fingerprint> Asker<'_, F> {
    /// Writes the answers and adds up the work.
    pub(crate) fn answer(&self, batch: &[Query<F>], out: &mut impl Write, totals: &mut Totals) -> anyhow::Result<()> {
        let length = batch.len().div_ceil(rayon::current_num_threads() * PIECES_PER_THREAD).max(1);
        let pieces: Vec<_> = if batch.len() <= 1 {
            batch.chunks(1).map(|queries| self.piece(queries)).collect()
        } else {
            batch.par_chunks(length).map(|queries| self.piece(queries)).collect()
        };
        for piece in pieces {
            let mut left = write(piece?, out, totals)?;
            while !left.is_empty() {
                left = write(self.piece(left)?, out, totals)?;
            }
        }
        Ok(())
    }

    /// The same by merging the batch with the store. Only the matches of a lot of its queries are held, which is the
    /// smaller the more of them there are.
    pub(crate) fn merge(
        &self,
        k: u32,
        mut batch: &[Query<F>],
        out: &mut impl Write,
        totals: &mut Totals,
    ) -> anyhow::Result<()> {
        let per_query = self.expected_matches(k, batch)?;
        while !batch.is_empty() {
            let (lot, left) = batch.split_at(batch.len().min(HELD_MATCHES / per_query).max(1));
            let fingerprints: Vec<F> = lot.iter().map(|query| query.fingerprint).collect();
            let answers = self.store.query_batch_counted(&fingerprints, k, Batch::Always, &mut totals.work)?;
            let answered = lot.chunks(MERGED_PIECE).zip(answers.chunks(MERGED_PIECE)).collect::<Vec<_>>();
            for answered in answered.chunks(rayon::current_num_threads() * PIECES_PER_THREAD) {
                let pieces = answered.par_iter().map(|(queries, answers)| {
                    let mut piece = Piece::new(queries);
                    answers.iter().for_each(|matches| piece.answer(self.style, matches));
                    piece
                });
                for piece in pieces.collect::<Vec<_>>() {
                    write(piece, out, totals)?;
                }
            }
            batch = left;
        }
        Ok(())
    }

    /// How many matches a query has, judging by some.
    fn expected_matches(&self, k: u32, batch: &[Query<F>]) -> fpstore::Result<usize> {
        const SAMPLE: usize = 64;
        if batch.len() <= 4 * SAMPLE {
            return Ok(1);
        }
        let mut searcher = self.store.searcher();
        let mut matches = 0;
        for query in batch.iter().step_by(batch.len() / SAMPLE) {
            matches += searcher.query(query.fingerprint, k)?.len();
        }
        Ok((matches / SAMPLE).max(1))
    }

    fn piece<'q>(&self, queries: &'q [Query<F>]) -> fpstore::Result<Piece<'q, F>> {
        let mut searcher = self.store.searcher();
        let mut piece = Piece::new(queries);
        while let Some(query) = piece.left.first() {
            let started = self.timed.then(Instant::now);
            let matches = self.question.ask(&mut searcher, query.fingerprint)?;
            if let Some(started) = started {
                piece.totals.latency.add(started.elapsed());
            }
            piece.answer(self.style, &matches);
            if piece.text.len() > PIECE_BYTES {
                break;
            }
        }
        piece.totals.work = searcher.work();
        Ok(piece)
    }
}

/// Writes a piece and gives the queries that it left.
fn write<'a, F>(piece: Piece<'a, F>, out: &mut impl Write, totals: &mut Totals) -> io::Result<&'a [Query<F>]> {
    out.write_all(&piece.text)?;
    totals.add(&piece.totals);
    Ok(piece.left)
}
