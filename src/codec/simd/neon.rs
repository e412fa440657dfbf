//! Split gap blocks with NEON, which every 64-bit ARM processor has; comparing keys with a query.

#![expect(clippy::indexing_slicing, reason = "tables made at compile time, and places in them that are checked before")]

use super::tables::{ONES, UNPACKING};
use crate::codec::split::{MAX_LOW_WIDTH, SLACK, Split};
use crate::codec::{CHUNK, split as split_plain};
use std::arch::aarch64::{
    uint64x2_t, vaddq_u32, vaddq_u64, vandq_u64, vcleq_u64, vcnt_u8, vcntq_u8, vcreate_u8, vdupq_laneq_u64,
    vdupq_n_s64, vdupq_n_u32, vdupq_n_u64, veorq_u64, vextq_u64, vget_high_u16, vget_lane_u64, vget_low_u16,
    vgetq_lane_u64, vld1_u8, vld1_u32, vld1q_s64, vld1q_u8, vld1q_u64, vmovl_u8, vmovl_u16, vmovl_u32, vnegq_s64,
    vorrq_u64, vpaddlq_u8, vpaddlq_u16, vpaddlq_u32, vqtbl1q_u8, vreinterpret_u64_u8, vreinterpretq_u8_u64,
    vreinterpretq_u64_u8, vshlq_n_u64, vshlq_u64, vst1q_u32, vst1q_u64,
};

/// [`split_plain::plain`].
pub(super) fn decode(split: Split<'_>, keys: &mut [u64], places: &mut [u32]) -> Option<usize> {
    let last = if split.end / 8 + 8 <= split.bytes.len() {
        places_of_ones(split, places)
    } else {
        split_plain::places_of_ones(split, places)
    }?;
    sums(split, keys, places);
    Some(last)
}

/// Bytes of unary code taken at a time.
const UNARY_STEP: usize = 4;
const _: () = assert!(SLACK >= 8 * UNARY_STEP + 8 && UNARY_STEP < 8);

/// As the plain form, if eight bytes can be loaded from before the block's end. One byte at a time: a table gives the
/// places of its ones, eight at once.
#[inline]
fn places_of_ones(split: Split<'_>, places: &mut [u32]) -> Option<usize> {
    let Split { bytes, end, count, .. } = split;
    let start = split.start();
    assert!(places.len() >= count + SLACK && end / 8 + 8 <= bytes.len());
    let out = places.as_mut_ptr();
    // SAFETY: NEON is part of the architecture. Further reasons stand at the accesses.
    unsafe {
        let eight = vdupq_n_u32(8);
        let (mut done, mut position, mut passed) = (0, start, vdupq_n_u32(0));
        // To the end, not to the last key, as with AVX2.
        while position < end && done <= count {
            // `position` is less than `end`.
            let word = u64::from_le(bytes.as_ptr().add(position >> 3).cast::<u64>().read_unaligned());
            let window = word >> (position & 7);
            // Ones in each byte; the product has the sums up to each byte.
            let ones = vget_lane_u64::<0>(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(window))));
            let sums = ones.wrapping_mul(0x0101_0101_0101_0101);
            for number in 0..UNARY_STEP {
                let entry = vmovl_u8(vld1_u8(ONES[(window >> (8 * number) & 0xff) as usize].as_ptr()));
                let before = if number == 0 { 0 } else { (sums >> (8 * (number - 1)) & 0xff) as usize };
                // Before this loop `done` was at most `count`, and a byte has at most 8 ones, so 8 values fit before
                // `count + SLACK`.
                let out = out.add(done + before);
                vst1q_u32(out, vaddq_u32(vmovl_u16(vget_low_u16(entry)), passed));
                vst1q_u32(out.add(4), vaddq_u32(vmovl_u16(vget_high_u16(entry)), passed));
                passed = vaddq_u32(passed, eight);
            }
            done += (sums >> (8 * (UNARY_STEP - 1)) & 0xff) as usize;
            position += 8 * UNARY_STEP;
        }
        // The last one has to come before the end too.
        let last = places.get(count - 1).map(|&place| place as usize);
        last.filter(|last| done >= count && start + last < end)
    }
}

/// As the plain form from the first key on, two keys at a time. See the AVX2 form.
#[inline]
fn sums(split: Split<'_>, keys: &mut [u64], places: &[u32]) {
    let Split { low_width, bytes, base, count, .. } = split;
    assert!(keys.len() >= count + SLACK && places.len() >= count + SLACK && low_width <= MAX_LOW_WIDTH);
    let width = low_width as usize;
    let steps = split.loadable_eights();
    let one = 1u64 << low_width;
    // SAFETY: NEON is part of the architecture. `(eight + 1) * width + 16` is at most the number of bytes. `at` is less
    // than `count + 7`, and both slices have SLACK more than `count`.
    unsafe {
        let mask = vdupq_n_u64(crate::bits::low_mask(low_width));
        let step = vdupq_n_u64(1u64.wrapping_sub(one));
        let shift = vdupq_n_s64(i64::from(low_width));
        let mut sum = vdupq_n_u64(base.wrapping_sub(1).wrapping_add(one));
        for eight in 0..steps {
            for pair in 0..4 {
                let (at, unpacking) = (eight * 8 + pair * 2, &UNPACKING[width][pair / 2]);
                let from = bytes.as_ptr().add(eight * width + unpacking.loads[pair % 2]);
                let shuffle = vld1q_u8(unpacking.shuffle.as_ptr().add(pair % 2 * 16));
                let shifts = vnegq_s64(vld1q_s64(unpacking.shifts.as_ptr().add(pair % 2 * 2).cast()));
                let lanes = vshlq_u64(vreinterpretq_u64_u8(vqtbl1q_u8(vld1q_u8(from), shuffle)), shifts);
                let lanes = vaddq_u64(vandq_u64(lanes, mask), step);
                let lows = vaddq_u64(vaddq_u64(lanes, vextq_u64::<1>(vdupq_n_u64(0), lanes)), sum);
                let highs = vshlq_u64(vmovl_u32(vld1_u32(places.as_ptr().add(at))), shift);
                vst1q_u64(keys.as_mut_ptr().add(at), vaddq_u64(lows, highs));
                sum = vdupq_laneq_u64::<1>(lows);
            }
        }
    }
    let done = (steps * 8).min(count);
    if done < count {
        // Too near the end of the bytes for whole loads.
        split_plain::sums(split, done, keys, places);
    }
}

/// As the plain form, two keys at a time.
pub(super) fn near(keys: &[u64], key: u64, k: u32) -> u64 {
    let keys = keys.get(..CHUNK).unwrap_or(keys);
    let (pairs, rest) = keys.as_chunks::<2>();
    // SAFETY: NEON is part of the architecture; a pair has 16 bytes.
    let found = unsafe {
        let (query, limit) = (vdupq_n_u64(key), vdupq_n_u64(u64::from(k)));
        let mut found = vdupq_n_u64(0);
        let mut bits: uint64x2_t = vld1q_u64([1, 2].as_ptr());
        for pair in pairs {
            let ones = vcntq_u8(vreinterpretq_u8_u64(veorq_u64(vld1q_u64(pair.as_ptr()), query)));
            let distances = vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(ones)));
            found = vorrq_u64(found, vandq_u64(vcleq_u64(distances, limit), bits));
            bits = vshlq_n_u64::<2>(bits);
        }
        vgetq_lane_u64::<0>(found) | vgetq_lane_u64::<1>(found)
    };
    let is_near = |&other: &u64| u64::from((other ^ key).count_ones() <= k);
    found | rest.first().map_or(0, is_near) << (2 * pairs.len() % CHUNK)
}
