//! Comparing two fingerprints.

/// Returns the number of bits in which two fingerprints differ.
#[must_use]
pub fn distance(a: u128, b: u128) -> u32 {
    (a ^ b).count_ones()
}

/// Returns the share of equal bits of two fingerprints of `width` bits.
#[must_use]
pub fn equal_bits(a: u128, b: u128, width: u32) -> f64 {
    f64::from(width.saturating_sub(distance(a, b))) / f64::from(width.max(1))
}

/// Returns the smaller fingerprint divided by the larger one, both as doubles: the "similarity" of the article behind
/// `string-hash`. For two zeros, where that code divides by zero, it is 1. It says little, because the highest bits
/// decide.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "as that code has it")]
pub fn ratio(a: u128, b: u128) -> f64 {
    let (a, b) = (a as f64, b as f64);
    match a.max(b) {
        0.0 => 1.0,
        larger => a.min(b) / larger,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_fingerprints() {
        assert_eq!(distance(0b1011, 0b0001), 2);
        assert!((equal_bits(0b1011, 0b0001, 8) - 0.75).abs() < 1e-12);
        assert!((ratio(2, 8) - 0.25).abs() < 1e-12);
        assert!((ratio(0, 0) - 1.0).abs() < 1e-12);
        assert!(ratio(0, 5).abs() < 1e-12);
    }
}
