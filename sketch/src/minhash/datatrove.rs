//! Hashes and parameters of datatrove 0.10.1.

use sha1::{Digest, Sha1};
use xxhash_rust::{xxh32::xxh32, xxh64::xxh64};

use super::affine61::{Affine61, MERSENNE_PRIME};
use super::random::RandomState;

/// A variant of the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Datatrove {
    /// Whether hashes and places have 64 bits, not 32.
    pub(super) is_wide: bool,
    /// Whether the hash is SHA-1, not XXH64 or XXH32.
    pub(super) is_sha1: bool,
}

/// The functions of all places.
#[derive(Clone, Debug)]
pub(super) struct Permutations {
    kind: Datatrove,
    affine: Affine61,
}

impl Permutations {
    /// Draws all a before all b, so that the parameters of a place depend on the number of places.
    pub(super) fn new(kind: Datatrove, places: usize, seed: u32) -> Self {
        let mut random = RandomState::new(seed);
        let factors: Vec<u64> = (0..places).map(|_| 1 + random.up_to_64(MERSENNE_PRIME - 2)).collect();
        let terms = factors.iter().map(|_| random.up_to_64(MERSENNE_PRIME - 1)).collect::<Vec<u64>>();
        let parameters: Vec<(u64, u64)> = factors.into_iter().zip(terms).collect();
        Self { kind, affine: Affine61::new(&parameters) }
    }

    /// Returns the hash of a feature.
    pub(super) fn hash(&self, feature: &str) -> u64 {
        let bytes = feature.as_bytes();
        match self.kind {
            Datatrove { is_sha1: false, is_wide: true } => xxh64(bytes, 0),
            Datatrove { is_sha1: false, is_wide: false } => xxh32(bytes, 0).into(),
            Datatrove { is_sha1: true, is_wide } => {
                let digest: [u8; 20] = Sha1::digest(bytes).into();
                let [a, b, c, d, e, f, g, h, ..] = digest;
                let upper = if is_wide { [e, f, g, h] } else { [0; 4] };
                u64::from(u32::from_le_bytes(upper)) << 32 | u64::from(u32::from_le_bytes([a, b, c, d]))
            }
        }
    }

    /// Returns the signature of features that are given by their hashes.
    pub(super) fn signature(&self, hashes: &[u64]) -> Vec<u64> {
        self.affine.signature(hashes, if self.kind.is_wide { u64::MAX } else { u32::MAX.into() })
    }
}
