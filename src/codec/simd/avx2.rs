//! Split gap blocks with AVX2, some nine instructions a key; comparing keys with a query.

#![expect(clippy::indexing_slicing, reason = "tables made at compile time, and places in them that are checked before")]

use super::tables::{ONES, UNPACKING};
use crate::codec::split::{MAX_LOW_WIDTH, SLACK, Split};
use crate::codec::{CHUNK, split as split_plain};
use std::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi32_si128, _mm_loadl_epi64, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi32,
    _mm256_add_epi64, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_castsi128_si256, _mm256_castsi256_pd,
    _mm256_cmpgt_epi64, _mm256_cvtepu8_epi32, _mm256_cvtepu32_epi64, _mm256_inserti128_si256, _mm256_loadu_si256,
    _mm256_movemask_pd, _mm256_permute2x128_si256, _mm256_permute4x64_epi64, _mm256_sad_epu8, _mm256_set1_epi8,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sll_epi64,
    _mm256_slli_si256, _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_unpackhi_epi64,
    _mm256_xor_si256,
};

/// [`split_plain::plain`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
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
const _: () = assert!(SLACK >= 8 * UNARY_STEP + 8);

/// As the plain form, if eight bytes can be loaded from before the block's end. One byte at a time: a table gives the
/// places of its ones, eight at once.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn places_of_ones(split: Split<'_>, places: &mut [u32]) -> Option<usize> {
    let Split { bytes, end, count, .. } = split;
    let start = split.start();
    assert!(places.len() >= count + SLACK && end / 8 + 8 <= bytes.len());
    let out = places.as_mut_ptr();
    let eight = _mm256_set1_epi32(8);
    let (mut done, mut position, mut passed) = (0, start, _mm256_setzero_si256());
    // Runs to the end, not to the last key: the end is known before decoding, so the processor need not wait. After the
    // last key follows padding of less than a byte, or damage.
    while position < end && done <= count {
        // SAFETY: `position` is less than `end`.
        let word = unsafe { u64::from_le(bytes.as_ptr().add(position >> 3).cast::<u64>().read_unaligned()) };
        let mut window = word >> (position & 7);
        for _ in 0..UNARY_STEP {
            let byte = (window & 0xff) as usize;
            // SAFETY: a table entry is 8 bytes. Before this loop `done` was at most `count`, and it grows by at most 8
            // each time, so 8 values fit before `count + SLACK`.
            unsafe {
                let entry = _mm_loadl_epi64(ONES[byte].as_ptr().cast());
                let places = _mm256_add_epi32(_mm256_cvtepu8_epi32(entry), passed);
                _mm256_storeu_si256(out.add(done).cast(), places);
            }
            done += byte.count_ones() as usize;
            passed = _mm256_add_epi32(passed, eight);
            window >>= 8;
        }
        position += 8 * UNARY_STEP;
    }
    // The last one has to come before the end too.
    let last = places.get(count - 1).map(|&place| place as usize);
    last.filter(|last| done >= count && start + last < end)
}

/// As the plain form from the first key on, four keys at a time: unpacks low parts, sums them up, adds high parts. A
/// high part is the difference of two places less one; the low parts' sum includes these ones.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn sums(split: Split<'_>, keys: &mut [u64], places: &[u32]) {
    let Split { low_width, bytes, base, count, .. } = split;
    assert!(keys.len() >= count + SLACK && places.len() >= count + SLACK && low_width <= MAX_LOW_WIDTH);
    let width = low_width as usize;
    let unpackings = &UNPACKING[width];
    let steps = split.loadable_eights();
    let mask = _mm256_set1_epi64x(crate::bits::low_mask(low_width).cast_signed());
    let one = 1u64 << low_width;
    let step = _mm256_set1_epi64x(1u64.wrapping_sub(one).cast_signed());
    let shift = _mm_cvtsi32_si128(low_width.cast_signed());
    let mut sum = _mm256_set1_epi64x(base.wrapping_sub(1).wrapping_add(one).cast_signed());
    for eight in 0..steps {
        for (half, unpacking) in unpackings.iter().enumerate() {
            let at = eight * 8 + half * 4;
            // SAFETY: `(eight + 1) * width + 16` is at most the number of bytes. `at` is less than `count + 7`, and
            // both slices have SLACK more than `count`.
            unsafe {
                let from = bytes.as_ptr().add(eight * width);
                let low: __m128i = _mm_loadu_si128(from.add(unpacking.loads[0]).cast());
                let high: __m128i = _mm_loadu_si128(from.add(unpacking.loads[1]).cast());
                let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
                let lanes = _mm256_shuffle_epi8(both, _mm256_loadu_si256(unpacking.shuffle.as_ptr().cast()));
                let lanes = _mm256_srlv_epi64(lanes, _mm256_loadu_si256(unpacking.shifts.as_ptr().cast()));
                let lows = prefix_sums(_mm256_add_epi64(_mm256_and_si256(lanes, mask), step));
                let places = _mm256_cvtepu32_epi64(_mm_loadu_si128(places.as_ptr().add(at).cast()));
                let found = _mm256_add_epi64(_mm256_add_epi64(lows, sum), _mm256_sll_epi64(places, shift));
                _mm256_storeu_si256(keys.as_mut_ptr().add(at).cast(), found);
                sum = _mm256_add_epi64(sum, _mm256_permute4x64_epi64::<0xff>(lows));
            }
        }
    }
    let done = (steps * 8).min(count);
    if done < count {
        // Too near the end of the bytes for whole loads.
        split_plain::sums(split, done, keys, places);
    }
}

/// Of lanes a, b, c, d: a, a + b, a + b + c, a + b + c + d.
#[inline]
#[target_feature(enable = "avx2")]
fn prefix_sums(lanes: __m256i) -> __m256i {
    let pairs = _mm256_add_epi64(lanes, _mm256_slli_si256::<8>(lanes));
    // The lower half in the upper one, zeros in the lower; then its upper lane in both.
    let lower = _mm256_permute2x128_si256::<0x08>(pairs, pairs);
    _mm256_add_epi64(pairs, _mm256_unpackhi_epi64(lower, lower))
}

/// Number of bits set in each four-bit number.
static NIBBLE_ONES: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

/// As the plain form, four keys at a time. Counts bits by looking up half bytes (Mula, Kurz, Lemire, "Faster population
/// counts using AVX2 instructions", 2018).
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn near(keys: &[u64], key: u64, k: u32) -> u64 {
    // SAFETY: 16 bytes.
    let ones = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(NIBBLE_ONES.as_ptr().cast()) });
    let low = _mm256_set1_epi8(15);
    let query = _mm256_set1_epi64x(key.cast_signed());
    let limit = _mm256_set1_epi64x(i64::from(k));
    let keys = keys.get(..CHUNK).unwrap_or(keys);
    let Some(last) = keys.len().checked_sub(4) else { return crate::codec::near::near(keys, key, k) };
    let (mut found, mut at) = (0, 0);
    loop {
        // The last four may overlap those before; finding them again is harmless.
        at = last.min(at);
        // SAFETY: four keys from one that is at most the fourth last.
        let four = unsafe { _mm256_loadu_si256(keys.as_ptr().add(at).cast()) };
        let bits = _mm256_xor_si256(four, query);
        let high = _mm256_and_si256(_mm256_srli_epi64::<4>(bits), low);
        let halves = _mm256_shuffle_epi8(ones, _mm256_and_si256(bits, low));
        let bytes = _mm256_add_epi8(halves, _mm256_shuffle_epi8(ones, high));
        let distances = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
        let beyond = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(distances, limit)));
        found |= u64::from(!beyond.cast_unsigned() & 15) << at;
        if at == last {
            return found;
        }
        at += 4;
    }
}
