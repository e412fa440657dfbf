//! The block keys of a table, estimated from a sample of its keys.

use super::super::Permutation;
use super::super::coverage::{boundaries, covered};
use crate::fingerprint::leading_ones;

/// Sampled keys a block: with fewer the lengths of blocks would vary too much.
const KEYS_A_BLOCK: usize = 8;
/// Least keys of a sample, if there are this many.
const LEAST_KEYS: usize = 1 << 16;
/// Most keys of a sample, as sorting them takes the most time. A table of more blocks is sampled more coarsely.
const MOST_KEYS: usize = 1 << 18;

/// The approximate last key of each block; every key, if the table has more blocks than the sample keys.
pub(super) struct BlockKeys {
    keys: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Visited {
    pub(super) places: f64,
    pub(super) blocks: f64,
}

impl BlockKeys {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of blocks")]
    pub(super) fn new(fingerprints: &[u64], permutation: &Permutation, blocks: f64) -> Self {
        let blocks = (blocks.max(1.0) as usize).min(fingerprints.len()).min(MOST_KEYS);
        let sampled = (blocks * KEYS_A_BLOCK).clamp(LEAST_KEYS, MOST_KEYS);
        let stride = (fingerprints.len() / sampled).max(1);
        let mut sample: Vec<u64> = fingerprints.iter().step_by(stride).map(|&value| permutation.apply(value)).collect();
        sample.sort_unstable();
        let last = |block: usize| sample.get(((block + 1) * sample.len() / blocks).saturating_sub(1)).copied();
        Self { keys: (0..blocks).filter_map(last).collect() }
    }

    /// The blocks of a table's `blocks` that the keys with one prefix cover, for each prefix length.
    pub(super) fn covered(&self, blocks: f64) -> [f64; 65] {
        let boundaries = boundaries(self.keys.iter().copied());
        let covered = covered(self.keys.len() as u64, boundaries.into_iter());
        covered.map(|covered| covered * blocks / number(&self.keys))
    }

    /// The averages of queries for each of `homes` with each of the masks flipped, if the prefix `passes`.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn visit(&self, homes: &[u64], masks: &[u64], prefix: u32, passes: impl Fn(u64) -> bool) -> Visited {
        let (mut places, mut blocks) = (0, 0);
        let mut visited = Vec::new();
        for home in homes {
            visited.clear();
            for first in masks.iter().map(|mask| home ^ mask).filter(|&first| passes(first)) {
                places += 1;
                self.blocks_of(first, prefix, &mut visited);
            }
            // A query decodes a block once for all its prefixes (except within wide radii, where it works in several
            // chunks).
            visited.sort_unstable();
            visited.dedup();
            blocks += visited.len();
        }
        let queries = number(homes);
        Visited { places: places as f64 / queries, blocks: blocks as f64 / queries }
    }

    /// Appends the blocks that may hold keys with the prefix.
    fn blocks_of(&self, first: u64, prefix: u32, visited: &mut Vec<usize>) {
        let last = first | !leading_ones(prefix);
        let start = self.keys.partition_point(|&key| key < first);
        for (block, &key) in self.keys.iter().enumerate().skip(start) {
            visited.push(block);
            if key >= last {
                break;
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(super) fn number(fingerprints: &[u64]) -> f64 {
    fingerprints.len().max(1) as f64
}
