//! The steps of decoding that wide registers make faster, chosen when the program runs.
//!
//! The plain forms beside the formats they read are the reference; the tests hold these to the same results. Only AVX2
//! has forms of its own, on other processors everything runs as the plain forms. With `FPSTORE_SIMD=off` in the
//! environment they do so everywhere, which is how the whole test suite is run a second time.
//!
//! This module and `env::mmap` are the only ones with `unsafe`: unaligned loads and stores whose bounds are checked
//! once for many, and calls of functions that need a processor feature which was just found to be there.

#![allow(unsafe_code, reason = "vector loads and stores; see above")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod flips;

use super::flips::{FlipsCode, Lanes, lanes as plain_flips};
use super::near as plain_near;
use crate::codec::split as split_plain;
use crate::fingerprint::Fingerprint;

/// Whether the AVX2 forms may be used.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    use std::sync::atomic::{AtomicU8, Ordering};
    const UNKNOWN: u8 = 2;
    static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
    #[cold]
    fn find() -> bool {
        let wanted = std::env::var_os("FPSTORE_SIMD").is_none_or(|value| value != "off");
        let found = wanted
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        // Relaxed: whoever does not see it finds the same.
        FOUND.store(u8::from(found), Ordering::Relaxed);
        found
    }
    match FOUND.load(Ordering::Relaxed) {
        UNKNOWN => find(),
        found => found == 1,
    }
}

/// [`split_plain::plain`].
#[inline]
pub(super) fn gap(split: split_plain::Split<'_>, keys: &mut [u64], places: &mut [u32]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has the features.
        return unsafe { avx2::decode(split, keys, places) };
    }
    split_plain::plain(split, keys, places)
}

/// Bit `i` is set if key `i` of the first [`super::CHUNK`] lies within distance `k` of `key`.
#[inline]
pub(crate) fn near(keys: &[u64], key: u64, k: u32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has the features.
        return unsafe { avx2::near(keys, key, k) };
    }
    plain_near::near(keys, key, k)
}

/// Bit `i` is set if key `i` of the first [`super::CHUNK`], without its `row` lowest bits, lies within `radius` of `lead`.
#[inline]
pub(crate) fn near_leads(keys: &[u64], lead: u64, row: u32, radius: u32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[target_feature(enable = "popcnt")]
        fn counted(keys: &[u64], lead: u64, row: u32, radius: u32) -> u64 {
            plain_near::near_leads(keys, lead, row, radius)
        }
        // SAFETY: the processor has the feature.
        return unsafe { counted(keys, lead, row, radius) };
    }
    plain_near::near_leads(keys, lead, row, radius)
}

/// Bit `i` is set if row `i` of the first [`super::CHUNK`] lies within distance `k` of `query`.
#[inline]
pub(crate) fn near_rows<F: Fingerprint>(rows: &[u8], query: F, k: u32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[target_feature(enable = "popcnt")]
        fn counted<F: Fingerprint>(rows: &[u8], query: F, k: u32) -> u64 {
            plain_near::near_rows(rows, query, k)
        }
        // SAFETY: the processor has the feature.
        return unsafe { counted(rows, query, k) };
    }
    plain_near::near_rows(rows, query, k)
}

/// [`plain_near::near_pairs`].
pub(crate) fn near_pairs<F: Fingerprint>(all: &[F], count: usize, k: u32, found: &mut Vec<(F, F)>) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[target_feature(enable = "avx2,popcnt")]
        fn counted<F: Fingerprint>(all: &[F], count: usize, k: u32, found: &mut Vec<(F, F)>) {
            plain_near::near_pairs(all, count, k, found);
        }
        // SAFETY: the processor has the features.
        unsafe { counted(all, count, k, found) };
        return;
    }
    plain_near::near_pairs(all, count, k, found);
}

/// [`plain_near::near_across`].
pub(crate) fn near_across<F: Fingerprint>(ones: &[F], others: &[F], k: u32, found: &mut Vec<(F, F)>) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[target_feature(enable = "avx2,popcnt")]
        fn counted<F: Fingerprint>(ones: &[F], others: &[F], k: u32, found: &mut Vec<(F, F)>) {
            plain_near::near_across(ones, others, k, found);
        }
        // SAFETY: the processor has the features.
        unsafe { counted(ones, others, k, found) };
        return;
    }
    plain_near::near_across(ones, others, k, found);
}

/// Asks for the memory of element `at`, if there is one, so that it is near when it is read.
#[inline]
pub(crate) fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is that of an element; a prefetch reads nothing that the program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at);
}

/// Decodes keys of a flips block, eight at a time, as long as nothing is near its ends; leaves the rest to
/// [`super::flips`]. Unless the code is quick, the keys that it may refer to have to be there.
#[inline]
pub(super) fn flips(code: &FlipsCode, bytes: &[u8], before: u64, keys: &mut [u64], lanes: &mut Lanes) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has the features.
        unsafe { flips::decode(code, bytes, before, keys, lanes) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (code, bytes, before, keys, lanes);
}

/// [`super::flips::ascending`].
#[inline]
pub(super) fn ascending(keys: &[u64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has the features.
        return unsafe { flips::ascending(keys) };
    }
    plain_flips::ascending(keys)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::codec::split::{MAX_LOW_WIDTH, SLACK, Split};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_same_as_the_plain_forms(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(255)], 0..900),
            low_width in 0..=MAX_LOW_WIDTH, share in 1usize..1000, base: u64, cut in prop_oneof![0usize..32, 0usize..900],
        ) {
            if !has_avx2() {
                return Ok(());
            }
            let end = 8 * bytes.len().saturating_sub(cut);
            // Low parts that leave room for high ones, most often.
            let count = 1 + end * share / 1000 / (low_width as usize + 2);
            let [mut plain_places, mut places] = [0, 1].map(|_| vec![0u32; count + SLACK]);
            let [mut plain_keys, mut keys] = [0, 1].map(|_| vec![0u64; count + SLACK]);
            let split = Split { low_width, bytes: &bytes, end, base, count };
            let whole = split_plain::plain(split, &mut plain_keys, &mut plain_places);
            let wide = unsafe { avx2::decode(split, &mut keys, &mut places) };
            prop_assert_eq!(wide, whole);
            if whole {
                prop_assert_eq!(&plain_places[..count], &places[..count]);
                prop_assert_eq!(&plain_keys[..count], &keys[..count]);
            }
        }

        #[test]
        fn near_keys_are_found(mut keys in prop::collection::vec(any::<u64>(), 0..100), key: u64, k in 0u32..=64, flips in 0u32..64) {
            if !has_avx2() {
                return Ok(());
            }
            for (number, slot) in (0..).zip(keys.iter_mut()).step_by(3) {
                *slot = key ^ crate::bits::low_mask(flips.min(k + number % 3));
            }
            prop_assert_eq!(unsafe { avx2::near(&keys, key, k) }, plain_near::near(&keys, key, k));
        }
    }
}
