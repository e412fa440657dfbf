//! Decodes short split gap blocks with AVX-512, about four instructions a key. Needs the extensions of Ice Lake and
//! Zen 4.

#![expect(clippy::indexing_slicing, reason = "a table made at compile time")]

use crate::bits::low_mask;
use crate::codec::split::{MAX_LOW_WIDTH, SLACK, Split};
use std::arch::x86_64::{
    __m512i, _mm_cvtsi32_si128, _mm512_add_epi8, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512,
    _mm512_cvtsi512_si32, _mm512_loadu_si512, _mm512_mask_permutexvar_epi8, _mm512_maskz_compress_epi8,
    _mm512_maskz_loadu_epi8, _mm512_maskz_permutexvar_epi8, _mm512_mullo_epi64, _mm512_permutexvar_epi8,
    _mm512_permutexvar_epi64, _mm512_set1_epi8, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_sll_epi64,
    _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_sub_epi8,
};

/// The numbers of the bits of a word.
static NUMBERS: [u8; 64] = {
    let mut numbers = [0; 64];
    let mut number = 0;
    while number < 64 {
        numbers[number] = number as u8;
        number += 1;
    }
    numbers
};
/// The numbers of the lanes of a register.
static LANES: [u64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Most keys of a block that has its own form here.
const SHORT: usize = 64;
/// Most bits of its high parts, with those that come before them in their first byte.
const SHORT_BITS: usize = 256;

/// [`crate::codec::split::plain`]. Decodes blocks of at most [`SHORT`] keys and [`SHORT_BITS`] bits of high parts: most
/// blocks of up to 256 bytes. AVX2 decodes the others; 512-bit registers are no faster there (measured on Zen 4).
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,popcnt")]
pub(super) fn decode(split: Split<'_>, keys: &mut [u64], places: &mut [u32]) -> Option<usize> {
    let Split { bytes, end, count, .. } = split;
    let is_short = count <= SHORT && end.saturating_sub(split.start() / 8 * 8) <= SHORT_BITS;
    if !is_short || end / 8 + 8 > bytes.len() {
        return super::avx2::decode(split, keys, places);
    }
    let (places, last) = places_of_ones(split)?;
    sums(split, keys, places);
    Some(last)
}

/// Returns the places of the plain form, a byte each, and the last one. Eight bytes must be readable at the block's
/// end. A single instruction gathers the numbers of the ones of 64 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn places_of_ones(split: Split<'_>) -> Option<(__m512i, usize)> {
    let Split { bytes, end, count, .. } = split;
    let start = split.start();
    assert!(end / 8 + 8 <= bytes.len());
    // SAFETY: 64 bytes.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    // The first word begins at a whole byte; its bits before `start` belong to the low parts.
    let (mut byte, mut taken, mut done) = (start / 8, u64::MAX << (start % 8), 0);
    let (mut passed, mut places) = (_mm512_set1_epi8(-((start % 8) as i8)), _mm512_setzero_si512());
    // To the end, not to the last key, as with AVX2.
    while 8 * byte < end && done < SHORT {
        // SAFETY: `8 * byte` is less than `end`, so `byte + 8` is at most `end / 8 + 8`.
        let word = unsafe { u64::from_le(bytes.as_ptr().add(byte).cast::<u64>().read_unaligned()) } & taken;
        let ones = _mm512_add_epi8(_mm512_maskz_compress_epi8(word, numbers), passed);
        let behind = _mm512_sub_epi8(numbers, _mm512_set1_epi8(done as i8));
        places = _mm512_mask_permutexvar_epi8(places, u64::MAX << done, behind, ones);
        done += word.count_ones() as usize;
        passed = _mm512_add_epi8(passed, _mm512_set1_epi8(64));
        (byte, taken) = (byte + 8, u64::MAX);
    }
    let last = _mm512_permutexvar_epi8(_mm512_set1_epi8((count - 1) as i8), places);
    let last = (_mm512_cvtsi512_si32(last) & 0xff) as usize;
    (done >= count && start + last < end).then_some((places, last))
}

/// As the plain form from the first key on, eight keys at a time, whose low parts begin at a byte; `places` has a byte
/// for each. See the AVX2 form.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,bmi2")]
fn sums(split: Split<'_>, keys: &mut [u64], places: __m512i) {
    let Split { low_width, bytes, base, count, .. } = split;
    assert!(keys.len() >= count + SLACK && low_width <= MAX_LOW_WIDTH);
    let width = low_width as usize;
    // The bit at which the low part of each lane begins; then the numbers of eight bytes from there, which have all of
    // it, and the bits before it in the first one.
    // SAFETY: 64 bytes.
    let lanes = unsafe { _mm512_loadu_si512(LANES.as_ptr().cast()) };
    let bits = _mm512_mullo_epi64(lanes, _mm512_set1_epi64(i64::from(low_width)));
    let first = _mm512_mullo_epi64(_mm512_srli_epi64::<3>(bits), _mm512_set1_epi64(0x0101_0101_0101_0101));
    let gathered = _mm512_add_epi8(first, _mm512_set1_epi64(0x0706_0504_0302_0100));
    let shifts = _mm512_and_si512(bits, _mm512_set1_epi64(7));
    let mask = _mm512_set1_epi64(low_mask(low_width).cast_signed());
    let one = 1u64 << low_width;
    let step = _mm512_set1_epi64(1u64.wrapping_sub(one).cast_signed());
    let shift = _mm_cvtsi32_si128(low_width.cast_signed());
    let last = _mm512_set1_epi64(7);
    let mut sum = _mm512_set1_epi64(base.wrapping_sub(1).wrapping_add(one).cast_signed());
    for eight in 0..count.div_ceil(8) {
        let (at, from) = (8 * eight, eight * width);
        let readable = low_mask(bytes.len().saturating_sub(from).min(width) as u32);
        // SAFETY: only bytes of the slice are read.
        let lows = unsafe { _mm512_maskz_loadu_epi8(readable, bytes.as_ptr().wrapping_add(from).cast()) };
        let lows = _mm512_srlv_epi64(_mm512_permutexvar_epi8(gathered, lows), shifts);
        let lows = prefix_sums(_mm512_add_epi64(_mm512_and_si512(lows, mask), step));
        let those = _mm512_add_epi64(lanes, _mm512_set1_epi64(at as i64));
        let places = _mm512_maskz_permutexvar_epi8(0x0101_0101_0101_0101, those, places);
        let found = _mm512_add_epi64(_mm512_add_epi64(lows, sum), _mm512_sll_epi64(places, shift));
        // SAFETY: `at` is less than `count`, and 8 values fit behind it.
        unsafe { _mm512_storeu_si512(keys.as_mut_ptr().add(at).cast(), found) };
        sum = _mm512_add_epi64(sum, _mm512_permutexvar_epi64(last, lows));
    }
}

/// Each lane with the sum of all lanes before it added.
#[inline]
#[target_feature(enable = "avx512f")]
fn prefix_sums(lanes: __m512i) -> __m512i {
    let zeros = _mm512_setzero_si512();
    let lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64::<7>(lanes, zeros));
    let lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64::<6>(lanes, zeros));
    _mm512_add_epi64(lanes, _mm512_alignr_epi64::<4>(lanes, zeros))
}
