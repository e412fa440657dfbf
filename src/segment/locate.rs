//! Interpolation search over sorted keys, never worse than binary search by more than a constant.
//!
//! Fingerprints that are spread evenly are found in a few steps by interpolation (Perl, Itai, Avni, "Interpolation
//! search: a log log N search", CACM 21, 1978). Real ones are not spread evenly, so the guesses are limited to
//! [`GUESSES`]; what is left is searched by halves. No guess ever makes the remaining range larger, so the worst case is
//! the number of steps of a binary search and [`GUESSES`] more.

/// Most interpolated steps.
const GUESSES: u32 = 6;
/// Ranges this short are searched by halves at once.
const SHORT: usize = 16;

/// Index of the first key that is at least `key`; the number of keys if there is none.
#[inline]
pub(crate) fn lower_bound(keys: &[u64], key: u64) -> usize {
    lower_bound_by(keys.len(), key, |at| keys.get(at).copied().unwrap_or(u64::MAX))
}

/// The same over any sorted sequence, one call of `key_at` a step.
#[inline]
fn lower_bound_by(length: usize, key: u64, mut key_at: impl FnMut(usize) -> u64) -> usize {
    // Keys before `low` are less than `key`, keys from `high` on are not. The two bounds are keys (or limits) at these
    // places, between which a guess is interpolated.
    let (mut low, mut high) = (0, length);
    let (mut low_key, mut high_key) = (0u64, u64::MAX);
    // A guess is placed to one side of the expected place in turn, so that soon both bounds are close.
    let mut guesses = 0;
    while high - low > SHORT && guesses < GUESSES {
        let guess = low + interpolate(high - low, key.saturating_sub(low_key), high_key - low_key, guesses);
        let found = key_at(guess);
        if found < key {
            (low, low_key) = (guess + 1, found);
        } else {
            (high, high_key) = (guess, found);
        }
        guesses += 1;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if key_at(middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// A place in `0..length` where the key `offset` of a range of keys `span` long is to be expected, moved by what chance
/// may add, up on even and down on odd guesses.
#[inline]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a guess; it is clamped to the range"
)]
fn interpolate(length: usize, offset: u64, span: u64, guesses: u32) -> usize {
    let count = length as f64;
    let share = if span == 0 { 0.5 } else { offset as f64 / span as f64 };
    // Standard deviation of a place among evenly spread keys, times two.
    let spread = 2.0 * (count * share * (1.0 - share)).max(0.0).sqrt() + 1.0;
    let place = count * share + if guesses.is_multiple_of(2) { -spread } else { spread };
    (place.max(0.0) as usize).min(length - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steps(keys: &[u64], key: u64) -> u32 {
        let mut steps = 0;
        let found = lower_bound_by(keys.len(), key, |at| {
            steps += 1;
            keys[at]
        });
        assert_eq!(found, keys.partition_point(|&other| other < key));
        steps
    }

    fn binary_steps(length: usize) -> u32 {
        usize::BITS - length.leading_zeros()
    }

    #[test]
    fn few_steps_on_even_keys() {
        let mut keys: Vec<u64> = (1..1_000_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i << 7).collect();
        keys.sort_unstable();
        let total: u32 = keys.iter().step_by(97).map(|&key| steps(&keys, key ^ 0x5555)).sum();
        let mean = f64::from(total) / (keys.len() / 97) as f64;
        assert!(mean < 0.5 * f64::from(binary_steps(keys.len())), "{mean} steps of {}", binary_steps(keys.len()));
    }

    #[test]
    fn never_much_worse_than_halving_on_skewed_keys() {
        let exponential: Vec<u64> = (0..6400u32).map(|i| (1u64 << (i / 100)) + u64::from(i)).collect();
        let mut two_heaps: Vec<u64> = (0..50_000u64).chain((0..50_000).map(|i| u64::MAX - 3 * i)).collect();
        two_heaps.sort_unstable();
        let squares: Vec<u64> = (0..100_000u64).map(|i| i * i).collect();
        let one_far: Vec<u64> = (0..100_000).chain([u64::MAX]).collect();
        for mut keys in [exponential, two_heaps, squares, one_far] {
            keys.sort_unstable();
            keys.dedup();
            let limit = binary_steps(keys.len()) + GUESSES;
            for &key in keys.iter().step_by(7) {
                for probe in [key, key.saturating_sub(1), key.saturating_add(1), key.reverse_bits()] {
                    assert!(steps(&keys, probe) <= limit);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn finds_what_partition_point_finds(mut keys in prop::collection::vec(any::<u64>(), 0..300), key: u64, shift in 0u32..64) {
            keys.iter_mut().for_each(|key| *key >>= shift);
            keys.sort_unstable();
            steps(&keys, key >> shift);
            steps(&keys, key);
            steps(&keys, 0);
            steps(&keys, u64::MAX);
        }
    }
}
