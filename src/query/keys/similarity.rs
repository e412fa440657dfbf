//! The Jaccard similarity of two records, estimated from their sketches.

use crate::format::KeyFormat;

/// Estimates the Jaccard similarity from two sketches of this format, from 0 to 1.
///
/// Of s samples of b bits, a share p = J + (1 - J) / 2^b is expected to agree (Li and König, "b-Bit Minwise Hashing",
/// WWW 2010). The standard deviation of the estimate is sqrt(p (1 - p) / s) / (1 - 2^-b).
#[must_use]
pub fn jaccard(format: KeyFormat, a: &[u8], b: &[u8]) -> f64 {
    let samples = u32::from(format.sketch_bits()) / u32::from(format.sample_bits()).max(1);
    let agreeing = samples.saturating_sub(differing(u32::from(format.sample_bits()), a, b));
    let by_chance = 0.5_f64.powi(i32::from(format.sample_bits()));
    let agreeing = f64::from(agreeing) / f64::from(samples.max(1));
    ((agreeing - by_chance) / (1.0 - by_chance)).max(0.0)
}

/// Number of samples of `bits` bits, a power of two up to 16, in which two sketches differ.
fn differing(bits: u32, a: &[u8], b: &[u8]) -> u32 {
    // The lowest bit of every sample.
    let lowest = u64::MAX / ((1 << bits) - 1);
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(word)
    };
    let in_words = |(a, b): (&[u8], &[u8])| {
        let mut different = word(a) ^ word(b);
        let mut step = 1;
        while step < bits {
            different |= different >> step;
            step *= 2;
        }
        (different & lowest).count_ones()
    };
    a.chunks(8).zip(b.chunks(8)).map(in_words).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs samples as a sketch.
    fn packed(bits: u32, samples: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0; (samples.len() * bits as usize).div_ceil(8)];
        for (number, sample) in samples.iter().enumerate() {
            for bit in 0..bits as usize {
                let at = number * bits as usize + bit;
                bytes[at / 8] |= u8::from(sample >> bit & 1 == 1) << (at % 8);
            }
        }
        bytes
    }

    #[test]
    fn counts_samples_that_differ() {
        let mut random = 7_u64;
        for bits in [1, 2, 4, 8, 16] {
            for samples in [1, 3, 8, 16, 63, 112, 130] {
                let mut next = || {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    random >> 33 & ((1 << bits) - 1)
                };
                let a: Vec<u64> = (0..samples).map(|_| next()).collect();
                let b: Vec<u64> = a.iter().map(|&same| if next() % 2 == 0 { same } else { next() }).collect();
                let expected = a.iter().zip(&b).filter(|(a, b)| a != b).count();
                assert_eq!(
                    differing(bits, &packed(bits, &a), &packed(bits, &b)) as usize,
                    expected,
                    "{bits} {samples}"
                );
            }
        }
    }

    #[test]
    fn chance_is_taken_out() {
        let format = KeyFormat::default().with_sketch(64, 1);
        assert!((jaccard(format, &[0; 8], &[0; 8]) - 1.0).abs() < 1e-12);
        // Half of the bits of unrelated sketches agree.
        assert!(jaccard(format, &[0; 8], &[0x0F; 8]).abs() < 1e-12);
        assert!(jaccard(format, &[0; 8], &[0xFF; 8]).abs() < 1e-12);
        assert!((jaccard(format, &[0; 8], &[0x03; 8]) - 0.5).abs() < 1e-12);
    }
}
