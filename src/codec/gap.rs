//! Split gap blocks: for keys that lie about evenly.
//!
//! The gap to the key before, less one, is cut in two (Rice, Plaunt, "Adaptive variable-length coding for efficient
//! compression of spacecraft television data", 1971): its `low_width` low bits are packed one after another, so that
//! they need no decoding at all; the high part, a small number, is written in unary, that many zeros and a one. The
//! width is chosen per block. For gaps as chance makes them this is 0.03 to 0.12 bits a key above the least possible,
//! and what a decoder has to do is count ones: there are no code words to wait for.
//!
//! [`decode`] runs in two passes, first the high parts, then the sums. Each has a plain form here and one for AVX2 in
//! [`super::simd`].

use super::block::Tail;
use super::simd;
use crate::bits::{BitWriter, load, load_bits, low_mask};

/// Widest low part: what one unaligned 64-bit load delivers at any bit offset.
pub(crate) const MAX_LOW_WIDTH: u32 = 56;
/// Costs stop here, far above any block's budget, so that their sums stay in 32 bits.
const COST_LIMIT: u64 = 1 << 24;
/// Room that the passes may write beyond the last key, in values.
pub(super) const SLACK: usize = 64;

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

/// Reads one key of at least `base` a slot; `end` = the block's end in bits. Both slices have room for [`SLACK`] more
/// values than `count`, the number of keys; what is written there means nothing.
pub(super) fn decode(
    low_width: u32,
    bytes: &[u8],
    end: usize,
    base: u64,
    count: usize,
    keys: &mut [u64],
    highs: &mut [u32],
) -> Tail {
    let start = count * low_width as usize;
    let Some(last) = count.checked_sub(1) else { return Tail { from: 0, to: Some(end), in_range: true } };
    if !simd::unary_sums(bytes, start, end, count, highs) {
        // The stream ended before its last one.
        return Tail { from: start, to: None, in_range: true };
    }
    simd::sums(low_width, bytes, base, count, keys, highs);
    let zeros = highs.get(last).map_or(0, |&high| high as usize);
    let keys = keys.get(..count).unwrap_or_default();
    // If not even the greatest low parts could bring the sum to 2^64, then no key but one less than `base` tells of an
    // overflow.
    let in_range = if ((zeros + count) as u64) < 1 << (64 - low_width).min(32) {
        keys.last().is_some_and(|&key| key >= base)
    } else {
        keys.first().is_some_and(|&key| key >= base)
            && keys.iter().zip(keys.iter().skip(1)).all(|(before, key)| before < key)
            && zeros as u64 <= u64::MAX >> low_width
    };
    Tail { from: start + zeros + count, to: Some(end), in_range }
}

/// The number of zeros before each of the `count` (1 or more) ones from bit `start` on: the sums of the high parts. Whether
/// all ones come before bit `end`.
pub(super) fn unary_sums(bytes: &[u8], start: usize, end: usize, count: usize, highs: &mut [u32]) -> bool {
    /// Bits of a step; a load delivers them at any bit position.
    const STEP: usize = 56;
    let (mut done, mut position) = (0, start);
    while done < count {
        if position >= end {
            return false;
        }
        let mut ones = (load(bytes, position >> 3) >> (position & 7)) & low_mask(STEP as u32);
        for slot in highs.iter_mut().take(count).skip(done) {
            if ones == 0 {
                break;
            }
            // A block has less than 2^20 bits.
            *slot = (position - start + ones.trailing_zeros() as usize - done) as u32;
            done += 1;
            ones &= ones - 1;
        }
        position += STEP;
    }
    // The last one has to come before the end too.
    highs.get(count - 1).is_some_and(|&zeros| start + zeros as usize + count <= end)
}

/// The keys from number `first` on: sums of one more than each low part, after `before`, and of the high parts.
pub(super) fn sums(low_width: u32, bytes: &[u8], before: u64, first: usize, keys: &mut [u64], highs: &[u32]) {
    let mut sum = before;
    let mut position = first * low_width as usize;
    for (key, &high) in keys.iter_mut().zip(highs) {
        sum = sum.wrapping_add(1).wrapping_add(load_bits(bytes, position, low_width));
        position += low_width as usize;
        *key = sum.wrapping_add(u64::from(high) << low_width);
    }
}
