//! The fingerprints of a file, and values near and far from them.

use crate::contestant::{DISTANCE, Result};
use std::path::Path;

/// Maximum number of values in a `Sample`.
const SAMPLE: usize = 1 << 20;

/// Flipped bits of a value that stands for a new document. Uniform data with flips are uniform; real data keep part of
/// the bias of their bits, so that a new value falls among the stored ones.
const FAR: u32 = 16;

pub(crate) fn read(file: &Path) -> Result<Vec<u64>> {
    Ok(std::fs::read(file)?.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
}

/// Splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn flips(&mut self, count: u32) -> u64 {
        let mut flips = 0_u64;
        while flips.count_ones() < count {
            flips |= 1 << (self.next() & 63);
        }
        flips
    }
}

/// Some of the stored values, from which others are derived.
pub(crate) struct Sample(Vec<u64>);

impl Sample {
    pub(crate) fn of(data: &[u64]) -> Self {
        Self(data.iter().step_by(data.len().div_ceil(SAMPLE).max(1)).copied().collect())
    }

    fn one(&self, random: &mut Random) -> u64 {
        self.0[(random.next() % self.0.len() as u64) as usize]
    }

    /// A value one to three bits from a stored one.
    pub(crate) fn near(&self, random: &mut Random) -> u64 {
        let flips = 1 + (random.next() % u64::from(DISTANCE)) as u32;
        self.one(random) ^ random.flips(flips)
    }

    /// A value that is probably near none.
    pub(crate) fn far(&self, random: &mut Random) -> u64 {
        self.one(random) ^ random.flips(FAR)
    }

    /// Alternating near and far values, deterministic for a seed.
    pub(crate) fn mixed(&self, count: usize, seed: u64) -> Vec<u64> {
        let random = &mut Random(seed);
        (0..count).map(|number| if number % 2 == 0 { self.near(random) } else { self.far(random) }).collect()
    }
}
