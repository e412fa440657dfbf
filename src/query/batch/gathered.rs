//! From pairs of a merge to lists that take little memory: a near query is a pair of numbers, and the ids of a
//! fingerprint are read once for all queries that a table finds it for, but where its pairs are cut.

use crate::error::Result;
use crate::extsort::radix;
use crate::fingerprint::{Fingerprint, Id, Match};
use crate::query::batch::batch_budget::BatchBudget;
use crate::query::batch::merge_join::merge_segment;
use crate::query::batch::worker::Pair;
use crate::query::view_searcher::rank_of;
use crate::query_stats::QueryStats;
use crate::segment::{IdScratch, Scratch, Segment};
use rayon::prelude::*;

/// Parts of the queries for each thread.
const PARTS: usize = 16;
/// Of these, those whose answers are in memory at the same time.
const TOGETHER: usize = 2;
/// Fewest and most pairs of a piece. The lists of its parts, mostly empty if there are few, take less than its pairs;
/// its fingerprints have numbers of 32 bits.
const PIECE: [usize; 2] = [1 << 12, 1 << 24];

#[derive(Debug)]
pub(crate) struct Bounds {
    /// Bytes for pairs of queries and fingerprints, of one segment at a time.
    pairs: u64,
    lists: BatchBudget,
    /// Bytes for the answers that are in memory at the same time. If there are more, the batch is refused.
    answers: u64,
    /// Whether queries near a fingerprint with very many ids are answered alone.
    takes_apart: bool,
}

impl Bounds {
    pub(crate) fn none() -> Self {
        Self { pairs: u64::MAX, lists: BatchBudget::new(u64::MAX), answers: u64::MAX, takes_apart: false }
    }

    /// A half for pairs, a quarter for lists; then, without pairs, a quarter for answers. The rest is for the caller.
    pub(crate) fn of(bytes: u64) -> Self {
        Self { pairs: bytes / 2, lists: BatchBudget::new(bytes / 4), answers: bytes / 4, takes_apart: true }
    }

    /// Makes space for one more in a list, and `extra` bytes beside it; `false`, with nothing reserved, if they exceed
    /// the memory. Most fit a list as it is and take nothing: the count is shared by all threads.
    fn reserve<T>(&self, list: &mut Vec<T>, extra: usize) -> bool {
        // Lists grow by doubling.
        let more = if list.len() < list.capacity() { 0 } else { list.len().max(4) };
        let bytes = more * size_of::<T>() + extra;
        let fits = bytes == 0 || self.lists.take(bytes as u64);
        if fits && more > 0 {
            list.reserve_exact(more);
        }
        fits
    }
}

/// What queries are near, piece by piece.
#[derive(Debug)]
pub(crate) struct Gathered<F> {
    bounds: Bounds,
    /// Number of queries of each part but the last.
    pub(crate) length: usize,
    /// Number of consecutive parts that may be answered at the same time.
    pub(crate) together: usize,
    /// Bytes of the answers of each part.
    answer_bytes: Vec<u64>,
    pub(crate) pieces: Vec<Piece<F>>,
}

/// Fingerprints of one segment, with their ids and the queries near them.
#[derive(Debug)]
pub(crate) struct Piece<F> {
    pub(crate) fingerprints: Vec<Listed<F>>,
    pub(crate) ids: Vec<Id>,
    /// For each part of the queries.
    pub(crate) parts: Vec<Near>,
}

/// A fingerprint, and where its ids are in the list of ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<F> {
    pub(crate) fingerprint: F,
    pub(crate) ids: usize,
    pub(crate) count: usize,
}

/// The queries of a part that are near fingerprints of a piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    /// Queries and places in the list of fingerprints.
    pub(crate) pairs: Vec<(u32, u32)>,
    /// Queries near a fingerprint with very many records.
    pub(crate) apart: Vec<u32>,
    answer_bytes: u64,
}

/// A fingerprint near a query, in the order of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot<F> {
    pub(crate) distance: u32,
    pub(crate) fingerprint: F,
    /// Where its ids are: a piece, and the first of them there.
    pub(crate) piece: u32,
    pub(crate) ids: usize,
    pub(crate) count: usize,
}

impl<F: Fingerprint> Gathered<F> {
    pub(crate) fn new(queries: usize, threads: usize, bounds: Bounds) -> Self {
        let length = queries.div_ceil(threads * PARTS).max(1);
        let answer_bytes = vec![0; queries.div_ceil(length)];
        Self { bounds, length, together: threads * TOGETHER, answer_bytes, pieces: Vec::new() }
    }

    /// Merges the queries with a segment; whether memory sufficed.
    pub(crate) fn merge(&mut self, segment: &Segment, queries: &[F], k: u32, stats: &mut QueryStats) -> Result<bool> {
        let budget = BatchBudget::new(self.bounds.pairs);
        let tables = merge_segment(segment, queries, k, &budget, stats)?;
        if budget.is_full() {
            return Ok(false);
        }
        for pairs in tables {
            self.add(segment, &pairs)?;
        }
        Ok(!self.bounds.lists.is_full())
    }

    fn add(&mut self, segment: &Segment, pairs: &[Vec<Pair<F>>]) -> Result<()> {
        // In the order of the primary table, the ids of one pair lie near those of the next.
        let pairs = radix::sorted_lists(pairs, |pair| pair.fingerprint.word(0));
        let (bounds, parts) = (&self.bounds, (self.answer_bytes.len(), self.length));
        let [least, most] = PIECE;
        let made: Result<Vec<Piece<F>>> = pairs
            .par_chunks(pairs.len().div_ceil(rayon::current_num_threads() * 4).clamp(least, most))
            .map(|pairs| gather(segment, pairs, bounds, parts))
            .collect();
        for piece in made? {
            let bytes = self.answer_bytes.iter_mut().zip(&piece.parts);
            bytes.for_each(|(sum, part)| *sum = sum.saturating_add(part.answer_bytes));
            self.pieces.push(piece);
        }
        let mut together = self.answer_bytes.chunks(self.together);
        if together.any(|parts| parts.iter().fold(0, |sum: u64, &bytes| sum.saturating_add(bytes)) > bounds.answers) {
            bounds.lists.exceed();
        }
        Ok(())
    }
}

/// The piece of some sorted pairs, for parts of `length` queries each, as far as the memory suffices.
fn gather<F: Fingerprint>(
    segment: &Segment,
    pairs: &[Pair<F>],
    bounds: &Bounds,
    (parts, length): (usize, usize),
) -> Result<Piece<F>> {
    let mut piece = Piece { fingerprints: Vec::new(), ids: Vec::new(), parts: vec![Near::default(); parts] };
    bounds.lists.take((parts * size_of::<Near>()) as u64);
    let (mut scratch, mut id_scratch, mut hint) = (Scratch::default(), IdScratch::default(), 0);
    for same in pairs.chunk_by(|one, other| one.fingerprint == other.fingerprint) {
        let Some(first) = same.first() else { continue };
        if bounds.lists.is_full() {
            break;
        }
        let rank = rank_of(segment, first.fingerprint, first.rank(), &mut scratch)?;
        let place = segment.ids().place_near(rank, &mut hint)?;
        if bounds.takes_apart && segment.ids().are_many(place, rank)? {
            for pair in same {
                let Some(part) = piece.parts.get_mut(pair.query as usize / length) else { continue };
                if bounds.reserve(&mut part.apart, 0) {
                    part.apart.push(pair.query);
                }
            }
            continue;
        }
        let (number, ids, mut fits, mut texts) = (piece.fingerprints.len(), piece.ids.len(), true, 0);
        segment.ids().ids_at(place, &mut id_scratch, |id| {
            let text = id.text().map_or(0, |text| text.len() + 16);
            texts += text;
            fits = fits && bounds.reserve(&mut piece.ids, text);
            if fits {
                piece.ids.push(id);
            }
        })?;
        if !fits || !bounds.reserve(&mut piece.fingerprints, 0) {
            break;
        }
        let count = piece.ids.len() - ids;
        piece.fingerprints.push(Listed { fingerprint: first.fingerprint, ids, count });
        let answer_bytes = (size_of::<Spot<F>>() + count * size_of::<Match<F>>() + texts) as u64;
        for pair in same {
            let Some(part) = piece.parts.get_mut(pair.query as usize / length) else { continue };
            if !bounds.reserve(&mut part.pairs, 0) {
                return Ok(piece);
            }
            part.pairs.push((pair.query, number as u32));
            part.answer_bytes = part.answer_bytes.saturating_add(answer_bytes);
        }
    }
    Ok(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_take_their_memory_before_they_grow() {
        const EACH: usize = size_of::<Id>();
        for most in [0, 1, 7, 100, 1000] {
            let bounds = Bounds { lists: BatchBudget::new((most * EACH) as u64), ..Bounds::none() };
            let mut lists: [Vec<Id>; 3] = Default::default();
            for at in [0, 1, 1, 2, 2, 2].into_iter().cycle() {
                if !bounds.reserve(&mut lists[at], 0) {
                    break;
                }
                lists[at].push(Id::Number(0));
                assert!(lists.iter().map(Vec::capacity).sum::<usize>() <= most);
            }
            assert!(bounds.lists.is_full() && lists.iter().map(Vec::len).sum::<usize>() >= most / 4);
        }
        // The texts of ids count too.
        let bounds = Bounds { lists: BatchBudget::new(1000), ..Bounds::none() };
        assert!(bounds.reserve::<u64>(&mut Vec::with_capacity(10), 900));
        assert!(!bounds.reserve::<u64>(&mut Vec::with_capacity(10), 900));
    }
}
