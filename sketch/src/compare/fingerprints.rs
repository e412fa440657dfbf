//! Comparing two fingerprints.

/// Returns the number of bits in which two fingerprints differ.
#[must_use]
pub fn distance(a: u128, b: u128) -> u32 {
    (a ^ b).count_ones()
}

/// Returns the distance of two fingerprints of `width` bits that is expected at a Jaccard similarity from 0 to 1,
/// rounded: a bit differs with the probability angle / pi (Charikar, "Similarity estimation techniques from rounding
/// algorithms", 2002), and the cosine of the angle of two sets of equal size is 2 J / (1 + J).
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to width / 2")]
pub fn expected_distance(jaccard: f64, width: u32) -> u32 {
    let cosine = (2.0 * jaccard / (1.0 + jaccard)).clamp(0.0, 1.0);
    (f64::from(width) * cosine.acos() / std::f64::consts::PI).round() as u32
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
    fn expected_distances() {
        assert_eq!([1.0, 0.9, 0.8, 0.0].map(|jaccard| expected_distance(jaccard, 64)), [0, 7, 10, 32]);
        assert_eq!(expected_distance(0.9, 128), 13);
    }

    #[test]
    fn of_fingerprints() {
        assert_eq!(distance(0b1011, 0b0001), 2);
        assert!((equal_bits(0b1011, 0b0001, 8) - 0.75).abs() < 1e-12);
        assert!((ratio(2, 8) - 0.25).abs() < 1e-12);
        assert!((ratio(0, 0) - 1.0).abs() < 1e-12);
        assert!(ratio(0, 5).abs() < 1e-12);
    }
}
