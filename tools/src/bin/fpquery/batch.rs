//! Answers a batch of queries on all cores and writes the answers in order.
//!
//! Memory is bounded: a piece of the batch stops when its answers have grown to [`PIECE_BYTES`] and leaves the rest of
//! its queries for the moment when the answers before them have been written. Only the matches of a single query are
//! ever held whole.

use std::io::{self, Write};
use std::time::Instant;

use fpstore::{Fingerprint, Store};
use rayon::prelude::*;

use crate::answer::{Style, records};
use crate::queries::Query;
use crate::question::Question;
use crate::stats::Totals;

/// Answers of one piece that are held before they are written.
const PIECE_BYTES: usize = 4 << 20;

/// Pieces of a batch for every thread, so that a slow one does not keep the others waiting.
const PIECES_PER_THREAD: usize = 4;

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

    fn piece<'q>(&self, queries: &'q [Query<F>]) -> fpstore::Result<Piece<'q, F>> {
        let mut searcher = self.store.searcher();
        let mut piece = Piece { text: Vec::new(), totals: Totals::default(), left: queries };
        while let Some((query, left)) = piece.left.split_first() {
            let started = self.timed.then(Instant::now);
            let matches = self.question.ask(&mut searcher, query.fingerprint)?;
            if let Some(started) = started {
                piece.totals.latency.add(started.elapsed());
            }
            self.style.push(&mut piece.text, query, &matches);
            piece.totals.queries += 1;
            piece.totals.matches += records(&matches);
            piece.left = left;
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
