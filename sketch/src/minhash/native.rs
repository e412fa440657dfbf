//! Fast similarity sketching: Dahlgaard, Knudsen, Thorup, "Fast Similarity Sketching", FOCS 2017, algorithm 1.
//!
//! In each round a hash of its own puts every feature into one bin, with a value. A bin keeps the least value of the
//! first round in which it received any. The signature is complete as soon as no bin is empty. With many more features
//! than bins that is mostly after one round, so a feature costs one hash instead of one for each place. After as many
//! rounds as there are bins, all features go to one bin a round, the bins in order, so that every bin is filled at
//! last.
//!
//! Two signatures agree in a place with a probability equal to the Jaccard similarity, as signatures of k permutations
//! do, and the error of the estimate has the same bound (theorem 2 of the paper).

use super::murmur3::finish;
use crate::hash;

/// Mark of an empty bin.
const EMPTY: u32 = u32::MAX;
/// Difference between the hashes of one round and the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the signature of features that are given by their hashes.
#[allow(clippy::cast_possible_truncation, reason = "the lower half is meant, or a number below that of the bins")]
pub(super) fn signature(hashes: &[u64], places: usize, seed: u32) -> Vec<u32> {
    let mut signature = vec![EMPTY; places];
    if hashes.is_empty() {
        return signature;
    }
    let mut base = hash::with(u64::from(seed), 0);
    let mut full = vec![false; places];
    // Bins that were empty before the round.
    let mut filled = Vec::new();
    let mut empty = places;
    let mut distinct = Vec::new();
    for round in 0..2 * places {
        base = base.wrapping_add(STEP);
        if round == 1 {
            // With many features a second round is rare, unless the features repeat.
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
            // No value is equal to the mark of an empty place.
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
