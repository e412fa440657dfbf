//! Data and queries of the benches: the same in every run and on every machine.
#![allow(dead_code, clippy::unwrap_used, reason = "every bench uses some of it")]

use std::path::Path;

/// The arguments after `--`, without those that cargo adds.
pub(crate) fn arguments() -> Vec<String> {
    std::env::args().skip(1).filter(|argument| argument != "--bench").collect()
}

/// Uniform numbers (splitmix64).
pub(crate) fn even(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// `count` uniform fingerprints.
pub(crate) fn uniform(count: u64) -> Vec<u64> {
    (1..=count).map(even).collect()
}

/// The raw little-endian fingerprints of a file.
pub(crate) fn read(file: impl AsRef<Path>) -> Vec<u64> {
    let bytes = std::fs::read(file).unwrap();
    bytes.as_chunks().0.iter().map(|&chunk| u64::from_le_bytes(chunk)).collect()
}

/// The fingerprints of real documents that the tests use.
pub(crate) fn real() -> Vec<u64> {
    read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/real_simhash64.u64"))
}

/// `count` queries: half of them uniform, half a stored value with up to three bits flipped.
pub(crate) fn queries(values: &[u64], count: usize) -> Vec<u64> {
    let all = values.len().max(1);
    (0..count as u64)
        .map(|number| {
            let random = even(number + (1 << 40));
            let stored = values.get(even(random) as usize % all);
            match stored {
                Some(&stored) if number % 2 == 1 => {
                    (0..random >> 60 & 3).fold(stored, |query, flip| query ^ 1 << (random >> (8 * flip) & 63))
                }
                _ => random,
            }
        })
        .collect()
}
