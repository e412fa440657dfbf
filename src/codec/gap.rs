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

/// What a block's decoder has to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split<'a> {
    /// Bits of a low part, at most [`MAX_LOW_WIDTH`].
    pub(super) low_width: u32,
    /// The block, and maybe more behind it.
    pub(super) bytes: &'a [u8],
    /// The block's end in bits.
    pub(super) end: usize,
    /// The lowest key that it may hold.
    pub(super) base: u64,
    /// Number of keys in it.
    pub(super) count: usize,
}

impl Split<'_> {
    /// The bit behind the low parts, where the high parts begin.
    #[inline]
    pub(super) fn start(self) -> usize {
        self.count * self.low_width as usize
    }
}

/// Reads a key a slot. Both slices have room for [`SLACK`] more values than there are keys; what is written there means
/// nothing. `places` is for use again.
pub(super) fn decode(split: Split<'_>, keys: &mut [u64], places: &mut [u32]) -> Tail {
    let Split { low_width, end, base, count, .. } = split;
    let start = split.start();
    let Some(last) = count.checked_sub(1) else { return Tail { from: 0, to: Some(end), in_range: true } };
    if !simd::gap(split, keys, places) {
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

/// Both passes of [`decode`] for one key or more; whether the high parts end before the block does.
pub(super) fn plain(split: Split<'_>, keys: &mut [u64], places: &mut [u32]) -> bool {
    let whole = places_of_ones(split, places);
    if whole {
        sums(split, 0, keys, places);
    }
    whole
}

/// The places of the ones, one a key (there is one or more), from the start of the high parts: what comes before each,
/// the zeros of all high parts so far and a one for each key. Whether all come before the block's end.
pub(super) fn places_of_ones(split: Split<'_>, places: &mut [u32]) -> bool {
    /// Bits of a step; a load delivers them at any bit position.
    const STEP: usize = 56;
    let Split { bytes, end, count, .. } = split;
    let start = split.start();
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

/// The keys from number `first` on; those before them are there.
pub(super) fn sums(split: Split<'_>, first: usize, keys: &mut [u64], places: &[u32]) {
    let Split { low_width, bytes, base, count, .. } = split;
    let high = |number: usize| {
        let zeros = places.get(number).map_or(0, |&place| (place as usize).saturating_sub(number));
        (zeros as u64) << low_width
    };
    // Without the high parts.
    let mut sum = match first.checked_sub(1) {
        Some(last) => keys.get(last).map_or(0, |key| key.wrapping_sub(high(last))),
        None => base.wrapping_sub(1),
    };
    for (number, key) in keys.iter_mut().enumerate().take(count).skip(first) {
        let low = load_bits(bytes, number * low_width as usize, low_width);
        sum = sum.wrapping_add(1).wrapping_add(low);
        *key = sum.wrapping_add(high(number));
    }
}
