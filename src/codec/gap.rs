//! Split gap blocks: for keys that lie about evenly.
//!
//! The gap to the key before, less one, is cut in two (Rice, Plaunt, "Adaptive variable-length coding for efficient
//! compression of spacecraft television data", 1971): its `low_width` low bits are packed one after another, so that
//! they need no decoding at all; the high part, a small number, is written in unary, that many zeros and a one. The
//! width is chosen per block. For gaps as chance makes them this is 0.03 to 0.12 bits a key above the least possible,
//! and what a decoder has to do is count ones: there are no code words to wait for.
//!
//! [`decode`] runs in two passes, first the high parts, then the sums; they have a plain form here and one for AVX2 in
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
/// values than `count`, the number of keys; what is written there means nothing. `places` is for use again.
pub(super) fn decode(
    low_width: u32,
    bytes: &[u8],
    end: usize,
    base: u64,
    count: usize,
    keys: &mut [u64],
    places: &mut [u32],
) -> Tail {
    let start = count * low_width as usize;
    let Some(last) = count.checked_sub(1) else { return Tail { from: 0, to: Some(end), in_range: true } };
    if !simd::gap(low_width, bytes, end, base, count, keys, places) {
        // The stream ended before its last one.
        return Tail { from: start, to: None, in_range: true };
    }
    let ones = places.get(last).map_or(0, |&place| place as usize + 1);
    let keys = keys.get(..count).unwrap_or_default();
    // All gaps together are less than `ones << low_width`. Where that is less than 2^64 keys ascend, unless they
    // overflow once: then the last one is less than `base`.
    let in_range = if (ones as u64) < 1 << (64 - low_width).min(32) {
        keys.last().is_some_and(|&key| key >= base)
    } else {
        keys.first().is_some_and(|&key| key >= base)
            && keys.iter().zip(keys.iter().skip(1)).all(|(before, key)| before < key)
            && (ones - count) as u64 <= u64::MAX >> low_width
    };
    Tail { from: start + ones, to: Some(end), in_range }
}

/// Both passes of [`decode`] for `count` keys, 1 or more; whether the high parts end before bit `end`.
pub(super) fn plain(
    low_width: u32,
    bytes: &[u8],
    end: usize,
    base: u64,
    count: usize,
    keys: &mut [u64],
    places: &mut [u32],
) -> bool {
    let whole = places_of_ones(bytes, count * low_width as usize, end, count, places);
    if whole {
        sums(low_width, bytes, base.wrapping_sub(1), 0, keys.get_mut(..count).unwrap_or_default(), places);
    }
    whole
}

/// The places of the `count` (1 or more) ones from bit `start` on, from there: what comes before each, the zeros of all
/// high parts so far and a one for each key. Whether all ones come before bit `end`.
pub(super) fn places_of_ones(bytes: &[u8], start: usize, end: usize, count: usize, places: &mut [u32]) -> bool {
    /// Bits of a step; a load delivers them at any bit position.
    const STEP: usize = 56;
    let (mut done, mut position) = (0, start);
    while done < count {
        if position >= end {
            return false;
        }
        let mut ones = (load(bytes, position >> 3) >> (position & 7)) & low_mask(STEP as u32);
        for slot in places.iter_mut().take(count).skip(done) {
            if ones == 0 {
                break;
            }
            // A block has less than 2^20 bits.
            *slot = (position - start + ones.trailing_zeros() as usize) as u32;
            done += 1;
            ones &= ones - 1;
        }
        position += STEP;
    }
    // The last one has to come before the end too.
    places.get(count - 1).is_some_and(|&place| start + (place as usize) < end)
}

/// The keys from number `first` on, which follow the key `before` or, unless `first` is 0, the key before them.
pub(super) fn sums(low_width: u32, bytes: &[u8], before: u64, first: usize, keys: &mut [u64], places: &[u32]) {
    let high = |number: usize| {
        let zeros = places.get(number).map_or(0, |&place| (place as usize).saturating_sub(number));
        (zeros as u64) << low_width
    };
    // Without the high parts.
    let mut sum = match first.checked_sub(1) {
        Some(last) => keys.get(last).map_or(0, |key| key.wrapping_sub(high(last))),
        None => before,
    };
    for (number, key) in keys.iter_mut().enumerate().skip(first) {
        let low = load_bits(bytes, number * low_width as usize, low_width);
        sum = sum.wrapping_add(1).wrapping_add(low);
        *key = sum.wrapping_add(high(number));
    }
}
