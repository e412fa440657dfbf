//! Estimates of the Jaccard similarity from sketches, and their standard errors.

use std::collections::BTreeSet;

/// Estimates from signatures of k functions: the share of equal places. `None` if they differ in length or have no
/// places.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "numbers of places")]
pub fn matching(a: &[u64], b: &[u64]) -> Option<f64> {
    if a.len() != b.len() || a.is_empty() {
        return None;
    }
    Some(equal(a.iter().zip(b)) as f64 / a.len() as f64)
}

/// Estimates from bottom-k sketches of one function, which hold the k least hashes of each set (fewer only if the set
/// is smaller): the share of the k least hashes of the union that both sets contain (Broder, 1997). `None` if both are
/// empty.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "numbers of hashes")]
pub fn bottom_k(a: &BTreeSet<u64>, b: &BTreeSet<u64>, k: usize) -> Option<f64> {
    let least: Vec<&u64> = a.union(b).take(k).collect();
    let common = least.iter().filter(|hash| a.contains(hash) && b.contains(hash)).count();
    (!least.is_empty()).then(|| common as f64 / least.len() as f64)
}

/// Estimates from the lowest bits of each place. The estimate corrects for places that agree by chance (Li and Koenig,
/// 2010, for sets that are small compared with the number of possible features), and may be below zero.
#[must_use]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap, reason = "numbers of places; at most 32 bits")]
pub fn b_bit(a: &[u64], b: &[u64], bits: u32) -> Option<f64> {
    if a.len() != b.len() || a.is_empty() || bits == 0 {
        return None;
    }
    let mask = u64::MAX >> (u64::BITS - bits.min(u64::BITS));
    let share =
        equal(a.iter().map(|place| place & mask).zip(b.iter().map(|place| place & mask))) as f64 / a.len() as f64;
    let chance = 0.5_f64.powi(bits as i32);
    Some((share - chance) / (1.0 - chance))
}

/// Returns the standard error of an estimate of this similarity from `places` places.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "numbers of places")]
pub fn standard_error(jaccard: f64, places: usize) -> f64 {
    (jaccard * (1.0 - jaccard) / places as f64).sqrt()
}

/// Returns the standard error of an estimate from the lowest bits of `places` places.
#[must_use]
#[allow(clippy::cast_possible_wrap, reason = "at most 32 bits")]
pub fn b_bit_standard_error(jaccard: f64, places: usize, bits: u32) -> f64 {
    let chance = 0.5_f64.powi(bits.min(32) as i32);
    standard_error(chance + (1.0 - chance) * jaccard, places) / (1.0 - chance)
}

fn equal<T: PartialEq>(pairs: impl Iterator<Item = (T, T)>) -> usize {
    pairs.filter(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_equal_places() {
        assert_eq!(matching(&[1, 2, 3, 4], &[1, 2, 0, 4]), Some(0.75));
        assert_eq!(matching(&[1], &[1, 2]), None);
        assert_eq!(b_bit(&[1, 2, 3, 4], &[1, 4, 5, 4], 1), Some(1.0));
        assert_eq!(b_bit(&[1, 2, 3, 5], &[1, 4, 4, 4], 1), Some(0.0));
        assert_eq!(b_bit(&[7], &[7], 32), Some(1.0));
    }

    #[test]
    fn least_of_both() {
        let set = |hashes: &[u64]| hashes.iter().copied().collect::<BTreeSet<u64>>();
        assert_eq!(bottom_k(&set(&[1, 3, 5]), &set(&[1, 2, 5]), 3), Some(1.0 / 3.0));
        assert_eq!(bottom_k(&set(&[1, 3, 5]), &set(&[1, 2, 5]), 4), Some(0.5));
        assert_eq!(bottom_k(&set(&[]), &set(&[]), 4), None);
    }

    #[test]
    fn errors() {
        assert!((standard_error(0.5, 100) - 0.05).abs() < 1e-12);
        // With all bits nothing is lost; with one bit, 0.5 needs about twice as many places.
        assert!((b_bit_standard_error(0.5, 100, 32) - 0.05).abs() < 1e-9);
        assert!((b_bit_standard_error(0.5, 100, 1) - 0.0866).abs() < 1e-4);
    }
}
