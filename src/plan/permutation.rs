//! Permutations of bit groups.

use crate::bits::low_mask;
use crate::fingerprint::Fingerprint;

/// A run of neighbouring bits of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitGroup {
    /// Number of the group's first bit; 0 = the most significant bit of the fingerprint.
    pub first: u32,
    /// Number of bits.
    pub length: u32,
}

/// Rearranges the bits of a `width`-bit number (1 to 256) by moving whole groups; a permuted fingerprint is a *key*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    width: u32,
    groups: Vec<BitGroup>,
    moves: Vec<Move>,
}

/// A group as a rotation and the mask of its target bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    rotation: u32,
    target: u64,
}

impl Permutation {
    /// The permutation whose keys consist of `groups` from the most significant bit on. The groups have to cover every
    /// bit of the width exactly once; neighbours that stay neighbours are joined.
    pub(super) fn new(width: u32, groups: &[BitGroup]) -> Self {
        let mut joined: Vec<BitGroup> = Vec::with_capacity(groups.len());
        for &group in groups.iter().filter(|group| group.length > 0) {
            match joined.last_mut() {
                Some(last) if last.first + last.length == group.first => last.length += group.length,
                _ => joined.push(group),
            }
        }
        debug_assert_eq!(joined.iter().map(|group| group.length).sum::<u32>(), width, "groups cover the width");
        let mut filled = 0;
        // Only the heads of wider keys are needed.
        let moves = joined
            .iter()
            .filter(|_| width <= 64)
            .map(|group| {
                filled += group.length;
                // Positions of the group's last bit in the key and in the fingerprint, from the least significant bit.
                let (to, from) = (width - filled, width - group.first - group.length);
                Move { rotation: to.wrapping_sub(from) & 63, target: low_mask(group.length) << to }
            })
            .collect();
        Self { width, groups: joined, moves }
    }

    /// Number of bits of fingerprints and keys.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The groups of which a key consists, most significant first.
    #[must_use]
    pub fn groups(&self) -> &[BitGroup] {
        &self.groups
    }

    /// The 64 leading bits of a fingerprint's key.
    #[inline]
    #[must_use]
    pub fn head<F: Fingerprint>(&self, fingerprint: F) -> u64 {
        if F::WIDTH == 64 {
            return self.apply(fingerprint.word(0));
        }
        let (mut head, mut left) = (0, 64);
        for group in &self.groups {
            let length = group.length.min(left);
            left -= length;
            head |= fingerprint.bits(group.first, length) << left;
            if left == 0 {
                break;
            }
        }
        head
    }

    /// The key of a 64-bit fingerprint.
    #[inline]
    #[must_use]
    pub fn apply(&self, fingerprint: u64) -> u64 {
        self.moves.iter().fold(0, |key, step| key | (fingerprint.rotate_left(step.rotation) & step.target))
    }

    /// The 64-bit fingerprint of a key.
    #[inline]
    #[must_use]
    pub fn invert(&self, key: u64) -> u64 {
        self.moves.iter().fold(0, |fingerprint, step| fingerprint | (key & step.target).rotate_right(step.rotation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(first: u32, length: u32) -> BitGroup {
        BitGroup { first, length }
    }

    #[test]
    fn groups_move_as_a_whole() {
        let permutation = Permutation::new(64, &[group(16, 8), group(0, 16), group(24, 40)]);
        assert_eq!(permutation.apply(0x1122_33ff_0000_0001), 0x3311_22ff_0000_0001);
        assert_eq!(permutation.invert(0x3311_22ff_0000_0001), 0x1122_33ff_0000_0001);
        let small = Permutation::new(8, &[group(5, 3), group(0, 5)]);
        assert_eq!(small.apply(0b1000_0110), 0b1101_0000);
    }

    #[test]
    fn neighbours_are_joined_and_the_identity_is_one_group() {
        assert_eq!(Permutation::new(64, &[group(0, 20), group(20, 44)]).groups(), [group(0, 64)]);
    }

    /// The tables of simhash-cpp: first the blocks, counted from the lowest bits, that have to be equal.
    #[test]
    fn tables_of_simhash_cpp() {
        let vectors = include_str!("../../sketch/tests/vectors/simhash_seomoz.ndjson");
        let mut seen = 0;
        for line in vectors.lines().filter(|line| line.contains("\"permutation\"")) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let number = |key: &str| u32::try_from(line[key].as_u64().unwrap()).unwrap();
            let hex = |value: &serde_json::Value| u64::from_str_radix(value.as_str().unwrap(), 16).unwrap();
            let (blocks, equal) = (number("blocks"), number("blocks") - number("different_bits"));
            // The k-th choice of the equal blocks, in lexicographic order.
            let mut choices: Vec<Vec<u32>> = (0_u32..1 << blocks)
                .filter(|set| set.count_ones() == equal)
                .map(|set| (0..blocks).filter(|block| set >> block & 1 == 1).collect())
                .collect();
            choices.sort();
            let mut order = choices[number("k") as usize].clone();
            order.extend((0..blocks).filter(|block| !choices[number("k") as usize].contains(block)));
            let groups = order.iter().map(|block| {
                let (low, high) = (block * 64 / blocks, (block + 1) * 64 / blocks);
                group(64 - high, high - low)
            });
            let groups: Vec<BitGroup> = groups.collect();
            let prefix: u32 = groups.iter().take(equal as usize).map(|group| group.length).sum();
            assert_eq!(low_mask(prefix) << (64 - prefix), hex(&line["search_mask"]));
            let permutation = Permutation::new(64, &groups);
            let pairs = line["inputs"].as_array().unwrap().iter().zip(line["permuted"].as_array().unwrap());
            for (input, permuted) in pairs {
                assert_eq!(permutation.apply(hex(input)), hex(permuted), "{line}");
                assert_eq!(permutation.invert(hex(permuted)), hex(input), "{line}");
            }
            seen += 1;
        }
        assert_eq!(seen, 98);
    }
}
