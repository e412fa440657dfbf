//! From what was gathered to the answers of consecutive queries.

use crate::codec::prefetch;
use crate::fingerprint::{Fingerprint, Match, distance};
use crate::query::batch::gathered::{Gathered, Listed, Near, Piece, Spot};
use crate::query::view_searcher::in_order;
use std::collections::BTreeSet;

/// Fingerprints that are prefetched ahead.
const AHEAD: usize = 16;

impl<F: Fingerprint> Gathered<F> {
    /// Adds the matches of a part of the queries to their answers and sorts these. Returns the positions of queries
    /// that have more.
    pub(crate) fn answer(&self, part: usize, queries: &[F], answers: &mut [Vec<Match<F>>]) -> BTreeSet<usize> {
        let (mut spots, ends) = self.spots(part, queries);
        let mut first = 0;
        for (answer, &end) in answers.iter_mut().zip(&ends) {
            let (spots, next) = spots.get_mut(first..).unwrap_or_default().split_at_mut(end - first);
            first = end;
            if spots.is_empty() {
                continue;
            }
            // The ids of the next queries, about as many as this one reads.
            for spot in next.iter().take(spots.len().max(AHEAD)) {
                self.pieces.get(spot.piece as usize).into_iter().for_each(|piece| prefetch(&piece.ids, spot.ids));
            }
            spots.sort_unstable();
            answer.reserve_exact(spots.iter().map(|spot| spot.count).sum());
            for &Spot { distance, fingerprint, piece, ids, count } in &*spots {
                let piece = self.pieces.get(piece as usize);
                let ids = piece.and_then(|piece| piece.ids.get(ids..ids + count)).unwrap_or_default();
                answer.extend(ids.iter().map(|id| Match { distance, fingerprint, id: id.clone() }));
            }
            *answer = in_order(std::mem::take(answer));
        }
        let apart = self.nears(part).flat_map(|(.., near)| &near.apart);
        apart.map(|&query| query as usize - part * self.length).collect()
    }

    /// What the queries of a part are near, query by query, and where those of each end.
    fn spots(&self, part: usize, queries: &[F]) -> (Vec<Spot<F>>, Vec<usize>) {
        let place = |query: u32| query as usize - part * self.length;
        let mut ends = vec![0; queries.len()];
        for &(query, _) in self.nears(part).flat_map(|(.., near)| &near.pairs) {
            ends.iter_mut().skip(place(query)).take(1).for_each(|count| *count += 1);
        }
        let mut sum = 0;
        ends.iter_mut().for_each(|count| sum += std::mem::replace(count, sum));
        let mut spots = vec![Spot::default(); sum];
        // Each count is now where the query's spots begin, and moves to where they end.
        for (number, piece, near) in self.nears(part) {
            let mut ahead = near.pairs.iter().skip(AHEAD);
            for &(query, listed) in &near.pairs {
                ahead.next().into_iter().for_each(|&(_, next)| prefetch(&piece.fingerprints, next as usize));
                let place = place(query);
                let found = (piece.fingerprints.get(listed as usize), queries.get(place), ends.get_mut(place));
                let (Some(&Listed { fingerprint, ids, count }), Some(&query), Some(next)) = found else { continue };
                let distance = distance(query, fingerprint);
                let spot = Spot { distance, fingerprint, piece: number, ids, count };
                spots.iter_mut().skip(*next).take(1).for_each(|slot| *slot = spot);
                *next += 1;
            }
        }
        (spots, ends)
    }

    fn nears(&self, part: usize) -> impl Iterator<Item = (u32, &Piece<F>, &Near)> {
        let numbered = self.pieces.iter().zip(0..);
        numbered.filter_map(move |(piece, number)| Some((number, piece, piece.parts.get(part)?)))
    }
}
