//! Looks up fingerprints on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

use fpstore::{Fingerprint, QueryStats, QueryTables};
use rayon::prelude::*;

/// A query near a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    /// Index of the fingerprint in its piece.
    pub(super) place: u32,
    pub(super) query: u32,
    pub(super) distance: u32,
}

/// Index of a piece's first fingerprint, and its hits by fingerprint and query.
pub(super) type Piece = (usize, Vec<Hit>);

/// Returns the queries that are nearer to a fingerprint than their limits; `None` if there are more than `most` hits
/// and more than one fingerprint.
pub(super) fn search<F: Fingerprint>(
    tables: &QueryTables<F>,
    fingerprints: &[F],
    limits: &[u32],
    most: usize,
) -> Option<(Vec<Piece>, QueryStats)> {
    let length = fingerprints.len().div_ceil(rayon::current_num_threads()).max(1);
    let number = AtomicUsize::new(0);
    // Relaxed: the final check does not depend on the order.
    let full = || number.load(Ordering::Relaxed) > most && fingerprints.len() > 1;
    let pieces: Vec<(Piece, QueryStats)> = fingerprints
        .par_chunks(length)
        .zip((0..fingerprints.len()).into_par_iter().step_by(length))
        .map(|(piece, first)| {
            let mut hits = Vec::new();
            let mut work = QueryStats::default();
            for (part, begin) in piece.chunks(PART).zip((0..).step_by(PART)) {
                if full() {
                    break;
                }
                work += tables.near_all(part, |place, query, distance| {
                    let nearer = limits.get(query as usize).is_some_and(|&limit| distance < limit);
                    if nearer && (number.fetch_add(1, Ordering::Relaxed) < most || fingerprints.len() == 1) {
                        hits.push(Hit { place: u32::try_from(begin + place).unwrap_or(u32::MAX), query, distance });
                    }
                });
            }
            hits.sort_unstable();
            ((first, hits), work)
        })
        .collect();
    if full() {
        return None;
    }
    let work = pieces.iter().fold(QueryStats::default(), |sum, (_, work)| sum + *work);
    Some((pieces.into_iter().map(|(piece, _)| piece).collect(), work))
}

/// Fingerprints that are looked up in all tables before the next part.
const PART: usize = 1 << 16;
