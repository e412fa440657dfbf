//! From pairs of a merge to lists that take little memory: a near query is a pair of numbers, and the ids of a
//! fingerprint are read once, however many queries are near it.

use crate::error::Result;
use crate::extsort::radix;
use crate::fingerprint::{Fingerprint, Id, Match};
use crate::query::batch::answer_budget::AnswerBudget;
use crate::query::batch::merge_join::merge_segment;
use crate::query::batch::worker::Pair;
use crate::query::view_searcher::rank_of;
use crate::query_stats::QueryStats;
use crate::segment::{IdScratch, Scratch, Segment};
use rayon::prelude::*;

/// Parts of the queries for each thread.
const PARTS: usize = 16;

#[derive(Debug)]
pub(crate) struct Bounds {
    /// Bytes for pairs of queries and fingerprints, of one segment at a time.
    pairs: u64,
    lists: AnswerBudget,
    /// Bytes for the answers of a part of the queries.
    part: u64,
    /// Whether queries near a fingerprint with very many ids are answered alone.
    takes_apart: bool,
}

impl Bounds {
    pub(crate) fn none() -> Self {
        Self { pairs: u64::MAX, lists: AnswerBudget::new(u64::MAX), part: u64::MAX, takes_apart: false }
    }

    /// A half for pairs, a quarter for lists, an eighth for the answers on all threads. Leaves the rest to the caller.
    pub(crate) fn of(bytes: u64, threads: usize) -> Self {
        let part = bytes / 8 / (threads as u64).max(1);
        Self { pairs: bytes / 2, lists: AnswerBudget::new(bytes / 4), part, takes_apart: true }
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
    /// Bytes of the answers of each part.
    answers: Vec<u64>,
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
    /// Bytes of the answers.
    answers: u64,
}

impl<F: Fingerprint> Gathered<F> {
    pub(crate) fn new(queries: usize, threads: usize, bounds: Bounds) -> Self {
        let length = queries.div_ceil(threads * PARTS).max(1);
        Self { bounds, length, answers: vec![0; queries.div_ceil(length)], pieces: Vec::new() }
    }

    /// Merges the queries with a segment; whether memory sufficed.
    pub(crate) fn merge(&mut self, segment: &Segment, queries: &[F], k: u32, stats: &mut QueryStats) -> Result<bool> {
        let budget = AnswerBudget::new(self.bounds.pairs);
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
        let Self { bounds, length, answers, pieces } = self;
        let (length, parts) = (*length, answers.len());
        let made: Result<Vec<Piece<F>>> = pairs
            .par_chunks(pairs.len().div_ceil(rayon::current_num_threads() * 4).max(1))
            .map(|pairs| gather(segment, pairs, bounds, (parts, length)))
            .collect();
        for piece in made? {
            for (answers, near) in answers.iter_mut().zip(&piece.parts) {
                *answers = answers.saturating_add(near.answers);
                if *answers > bounds.part {
                    bounds.lists.exceed();
                }
            }
            pieces.push(piece);
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
    let (mut scratch, mut id_scratch, mut near) = (Scratch::default(), IdScratch::default(), 0);
    for same in pairs.chunk_by(|one, other| one.fingerprint == other.fingerprint) {
        let Some(first) = same.first() else { continue };
        if bounds.lists.is_full() {
            break;
        }
        let rank = rank_of(segment, first.fingerprint, first.rank(), &mut scratch)?;
        let place = segment.ids().place_near(rank, &mut near)?;
        let are_many = bounds.takes_apart && segment.ids().are_many(place, rank)?;
        let (number, ids, mut fits, mut texts) = (piece.fingerprints.len(), piece.ids.len(), true, 0);
        if !are_many {
            segment.ids().ids_at(place, &mut id_scratch, |id| {
                let text = id.text().map_or(0, |text| text.len() + 16);
                texts += text;
                fits = fits && bounds.reserve(&mut piece.ids, text);
                if fits {
                    piece.ids.push(id);
                }
            })?;
            fits = fits && bounds.reserve(&mut piece.fingerprints, 0);
            piece.fingerprints.push(Listed { fingerprint: first.fingerprint, ids, count: piece.ids.len() - ids });
        }
        let answer = ((piece.ids.len() - ids) * size_of::<Match<F>>() + texts) as u64;
        for pair in same {
            let Some(part) = piece.parts.get_mut(pair.query as usize / length) else { continue };
            if are_many {
                part.apart.push(pair.query);
                continue;
            }
            fits = fits && bounds.reserve(&mut part.pairs, 0);
            if !fits {
                return Ok(piece);
            }
            part.pairs.push((pair.query, number as u32));
            part.answers = part.answers.saturating_add(answer);
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
            let bounds = Bounds { lists: AnswerBudget::new((most * EACH) as u64), ..Bounds::none() };
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
        let bounds = Bounds { lists: AnswerBudget::new(1000), ..Bounds::none() };
        assert!(bounds.reserve::<u64>(&mut Vec::with_capacity(10), 900));
        assert!(!bounds.reserve::<u64>(&mut Vec::with_capacity(10), 900));
    }
}
