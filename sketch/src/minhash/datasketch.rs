//! The permutations of datasketch 2.0.0 (affine32) and of earlier versions (legacy).

use sha1::{Digest, Sha1};

use super::affine61::{Affine61, MERSENNE_PRIME};
use super::random::RandomState;

/// Parameters (a, b) of every place.
#[derive(Clone, Debug)]
pub(super) enum Permutations {
    /// Modulo 2^32.
    Affine32(Vec<(u32, u32)>),
    /// Modulo 2^61 - 1.
    Legacy(Affine61),
}

impl Permutations {
    /// Draws all a, which are odd, before all b.
    pub(super) fn affine32(places: usize, seed: u32) -> Self {
        let mut random = RandomState::new(seed);
        let factors: Vec<u32> = (0..places).map(|_| 2 * random.up_to_32((1 << 31) - 1) + 1).collect();
        Self::Affine32(factors.into_iter().map(|a| (a, random.up_to_32(u32::MAX))).collect())
    }

    pub(super) fn legacy(places: usize, seed: u32) -> Self {
        Self::Legacy(Affine61::new(&parameters_of_legacy(places, seed)))
    }

    /// Returns the signature of features that are given by their hashes.
    pub(super) fn signature(&self, hashes: &[u64]) -> Vec<u64> {
        match self {
            Self::Affine32(permutations) => affine32(hashes, permutations),
            Self::Legacy(affine) => affine.signature(hashes, u32::MAX.into()),
        }
    }
}

/// Draws each a together with its b.
fn parameters_of_legacy(places: usize, seed: u32) -> Vec<(u64, u64)> {
    let mut random = RandomState::new(seed);
    let pair = |_| (1 + random.up_to_64(MERSENNE_PRIME - 2), random.up_to_64(MERSENNE_PRIME - 1));
    (0..places).map(pair).collect()
}

#[allow(clippy::cast_possible_truncation, reason = "hashes have 32 bits")]
fn affine32(hashes: &[u64], permutations: &[(u32, u32)]) -> Vec<u64> {
    let mut signature = vec![u32::MAX; permutations.len()];
    for hash in hashes {
        let hash = mix(*hash as u32);
        for (place, (a, b)) in signature.iter_mut().zip(permutations) {
            *place = (*place).min(a.wrapping_mul(hash).wrapping_add(*b));
        }
    }
    signature.into_iter().map(u64::from).collect()
}

/// MurmurHash3's finaliser for 32 bits.
fn mix(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Returns the first four bytes of the SHA-1, little-endian.
pub(super) fn sha1_hash32(feature: &str) -> u64 {
    let digest: [u8; 20] = Sha1::digest(feature.as_bytes()).into();
    let [a, b, c, d, ..] = digest;
    u32::from_le_bytes([a, b, c, d]).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Line {
        scheme: String,
        seed: u32,
        num_perm: usize,
        a: Vec<String>,
        b: Vec<String>,
    }

    #[test]
    fn parameters_are_those_of_the_package() {
        let mut seen = 0;
        for line in include_str!("../../tests/vectors/datasketch_permutations.ndjson").lines() {
            let Line { scheme, seed, num_perm, a, b } = serde_json::from_str(line).unwrap();
            let text = |pairs: Vec<(u64, u64)>| -> Vec<(String, String)> {
                pairs.into_iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
            };
            let found = match Permutations::affine32(num_perm, seed) {
                Permutations::Affine32(pairs) if scheme == "affine32" => {
                    pairs.into_iter().map(|(a, b)| (a.into(), b.into())).collect()
                }
                _ => parameters_of_legacy(num_perm, seed),
            };
            assert_eq!(text(found), a.into_iter().zip(b).collect::<Vec<_>>(), "{scheme}");
            seen += 1;
        }
        assert_eq!(seen, 2);
    }
}
