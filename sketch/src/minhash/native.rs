//! Fast similarity sketching: Dahlgaard, Knudsen, Thorup, "Fast Similarity Sketching", FOCS 2017, algorithm 1.
//!
//! In each round every feature is thrown into one bin by a hash of its own, with a value; a bin keeps the least value of the
//! first round in which anything came to it. As soon as no bin is empty that is the signature: mostly after one round if there are
//! many more features than bins, so that a feature costs one hash and not one for each place. After as many rounds as there are bins,
//! every feature goes to one bin a round, the next one after the last, so that all are filled at last.
//!
//! Two signatures agree in a place with the probability of the Jaccard similarity, as those of k permutations do, and the
//! error of the estimate has the same bound (theorem 2 there).

use super::murmur3::finish;
use super::place::EMPTY;
use crate::hash;

/// Between the hashes of one round and the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The signature of features that are given by their hashes, with so many places.
#[allow(clippy::cast_possible_truncation, reason = "the lower half is meant, or a number below that of the bins")]
pub(super) fn signature(hashes: &[u64], places: usize, seed: u32) -> Vec<u32> {
    let mut signature = vec![EMPTY; places];
    if hashes.is_empty() {
        return signature;
    }
    let mut base = hash::with(u64::from(seed), 0);
    let mut full = vec![false; places];
    // Those that were empty before the round.
    let mut filled = Vec::new();
    let mut empty = places;
    let mut distinct = Vec::new();
    for round in 0..2 * places {
        base = base.wrapping_add(STEP);
        if round == 1 {
            // A second round is rare where there are many features, unless they are the same again and again.
            distinct.extend_from_slice(hashes);
            distinct.sort_unstable();
            distinct.dedup();
        }
        for hash in if round == 0 { hashes } else { &distinct } {
            let mixed = finish(hash ^ base);
            let bin = match round.checked_sub(places) {
                None => (((mixed >> 32) * places as u64) >> 32) as usize,
                Some(bin) => bin,
            };
            // The value of an empty place is no value.
            let value = (mixed as u32).min(EMPTY - 1);
            if let (Some(place), Some(false)) = (signature.get_mut(bin), full.get(bin)) {
                if *place == EMPTY {
                    filled.push(bin);
                }
                *place = (*place).min(value);
            }
        }
        empty -= filled.len();
        if empty == 0 {
            break;
        }
        for bin in filled.drain(..) {
            if let Some(full) = full.get_mut(bin) {
                *full = true;
            }
        }
    }
    signature
}
