//! The two streams of a gap block, and their plain decoder; where the decoders of all blocks stop.

use crate::bits::{load, load_bits, low_mask};

/// Widest low part: one unaligned 64-bit load delivers it at any bit offset.
pub(crate) const MAX_LOW_WIDTH: u32 = 56;

/// Space after the last key that the passes may write, in values.
pub(super) const SLACK: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Split<'a> {
    /// Bits of a low part, at most [`MAX_LOW_WIDTH`].
    pub(super) low_width: u32,
    /// The block, and perhaps more bytes after it.
    pub(super) bytes: &'a [u8],
    /// The block's end in bits.
    pub(super) end: usize,
    /// The lowest key that it may hold.
    pub(super) base: u64,
    pub(super) count: usize,
}

impl Split<'_> {
    #[inline]
    pub(super) fn start(self) -> usize {
        self.count * self.low_width as usize
    }

    /// How many times eight low parts can be unpacked by loads of 16 bytes. Eight take as many bytes as one has bits,
    /// and a load begins before their end.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline]
    pub(super) fn loadable_eights(self) -> usize {
        let (all, width) = (self.count.div_ceil(8), self.low_width as usize);
        let readable = self.bytes.len().saturating_sub(16);
        let are_all = all * width <= readable && self.bytes.len() >= 16;
        if are_all { all } else { readable.checked_div(width).unwrap_or(0) }
    }
}

/// Where a decoder stopped: the bits that no stream took, and whether all keys ascended.
pub(super) struct Tail {
    /// First bit after the forward stream.
    pub(super) from: usize,
    /// First bit of the backward stream, or the block's end; `None` if a stream left the block.
    pub(super) to: Option<usize>,
    /// Whether every key was at least the lowest possible one, without overflow.
    pub(super) in_range: bool,
}

/// Both passes for one key or more. Returns the place of the last one, or `None` if the high parts do not end before
/// the block does. Places mean nothing afterwards.
pub(crate) fn plain(split: Split<'_>, keys: &mut [u64], places: &mut [u32]) -> Option<usize> {
    let last = places_of_ones(split, places)?;
    sums(split, 0, keys, places);
    Some(last)
}

/// The places of the ones, one a key (there is at least one key), from the start of the high parts. A place counts the
/// zeros of all high parts so far and a one for each key before. Returns the last one; `None` if they do not all come
/// before the block's end.
pub(crate) fn places_of_ones(split: Split<'_>, places: &mut [u32]) -> Option<usize> {
    /// Bits of a step; one load delivers them at any bit position.
    const STEP: usize = 56;
    let Split { bytes, end, count, .. } = split;
    let start = split.start();
    let (mut done, mut position) = (0, start);
    while done < count {
        if position >= end {
            return None;
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
    places.get(count - 1).map(|&place| place as usize).filter(|last| start + last < end)
}

/// The keys from number `first` on; the caller has those before.
pub(crate) fn sums(split: Split<'_>, first: usize, keys: &mut [u64], places: &[u32]) {
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
