//! Split gap blocks: for evenly spread keys.
//!
//! The encoder splits the gap to the key before, less one, in two (Rice, Plaunt, "Adaptive variable-length coding for
//! efficient compression of spacecraft television data", 1971). It packs the `low_width` low bits one after another and
//! writes the high part, a small number, in unary: that many zeros and a one. Each block has its own width. For random
//! gaps this is 0.03 to 0.12 bits a key above the least possible, and decoding consists of counting ones.
//!
//! [`decode`] runs in two passes, first the high parts, then the sums; they have a plain form in [`super::split`] and
//! forms for AVX2, AVX-512 and NEON in [`super::simd`].

use super::simd;
use crate::bits::BitWriter;
use crate::codec::split::{Split, Tail};

/// A cap on costs, far above any block's budget, so that sums stay within 32 bits.
const COST_LIMIT: u64 = 1 << 24;

/// Size in bits of a gap at a low width.
#[inline]
pub(super) fn cost(gap: u64, low_width: u32) -> u32 {
    low_width + 1 + (gap >> low_width).min(COST_LIMIT) as u32
}

/// Appends the keys, the first of which is at least `next`.
pub(super) fn encode(low_width: u32, next: u64, keys: &[u64], writer: &mut BitWriter<'_>) {
    let gaps = || {
        keys.iter().scan(next, |next, &key| {
            let gap = key.wrapping_sub(*next);
            *next = key.wrapping_add(1);
            Some(gap)
        })
    };
    gaps().for_each(|gap| writer.push(gap, low_width));
    for gap in gaps() {
        let mut zeros = gap >> low_width;
        while zeros >= 64 {
            writer.push(0, 64);
            zeros -= 64;
        }
        #[expect(clippy::cast_possible_truncation, reason = "less than 64")]
        let zeros = zeros as u32;
        writer.push(0, zeros);
        writer.push(1, 1);
    }
}

/// Reads one key into each slot. Both slices have space for [`SLACK`] more values than there are keys; values written
/// there mean nothing.
pub(super) fn decode(split: Split<'_>, keys: &mut [u64], places: &mut [u32]) -> Tail {
    let Split { low_width, end, base, count, .. } = split;
    let start = split.start();
    if count == 0 {
        return Tail { from: 0, to: Some(end), in_range: true };
    }
    let Some(last) = simd::gap(split, keys, places) else {
        // The stream ended before its last one.
        return Tail { from: start, to: None, in_range: true };
    };
    let ones = last + 1;
    let keys = keys.get(..count).unwrap_or_default();
    // All gaps together are less than `ones << low_width`. If that is less than 2^64, keys ascend unless they overflow
    // once; then the last one is less than `base`.
    let in_range = if (ones as u64) < 1 << (64 - low_width).min(32) {
        keys.last().is_some_and(|&key| key >= base)
    } else {
        keys.first().is_some_and(|&key| key >= base)
            && keys.iter().zip(keys.iter().skip(1)).all(|(before, key)| before < key)
            && (ones - count) as u64 <= u64::MAX >> low_width
    };
    Tail { from: start + ones, to: Some(end), in_range }
}
