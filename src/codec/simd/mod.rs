//! The steps of decoding that SIMD makes faster, chosen at run time.
//!
//! The plain forms define the results; tests compare the others with them. AVX2 has its own forms, AVX-512 those of
//! short gap blocks and of groups of 64-bit fingerprints; other processors run the plain ones. `FPSTORE_SIMD=off` in the
//! environment selects the plain forms everywhere, and the test suite runs a second time with it; `FPSTORE_SIMD=avx2`
//! leaves out AVX-512.
//!
//! This module and `env::mmap` are the only ones with `unsafe`: unaligned loads and stores whose bounds are checked
//! once for many, and calls of functions for a processor feature that was detected.

#![allow(unsafe_code, reason = "vector loads and stores; see above")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod flips;
#[cfg(target_arch = "x86_64")]
mod near512;

use super::flips::{FlipsCode, Lanes};
use super::near as plain_near;
use crate::codec::split as split_plain;
use crate::fingerprint::Fingerprint;
#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// The widest forms that the processor has and the environment allows.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Plain,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// Also the AVX-512 extensions that [`has_avx512`] lists.
    Avx512,
}

#[cfg(target_arch = "x86_64")]
impl Level {
    fn detect() -> Self {
        let wanted = std::env::var_os("FPSTORE_SIMD").unwrap_or_default();
        if wanted == "off" || !has_avx2() {
            Self::Plain
        } else if wanted == "avx2" || !has_avx512() {
            Self::Avx2
        } else {
            Self::Avx512
        }
    }

    #[inline]
    fn of_processor() -> Self {
        static FOUND: LazyLock<Level> = LazyLock::new(Level::detect);
        *FOUND
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Whether the processor has the AVX-512 extensions that a form uses.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("avx512vpopcntdq")
}

/// Defines functions that run the plain form, compiled for the processor's own instructions where it has them.
macro_rules! compiled_for_processor {
    ($(
        $(#[$attribute:meta])* $features:literal
        fn $name:ident$(<$F:ident>)?($($arg:ident: $type:ty),*) $(-> $result:ty)?;
    )*) => {$(
        $(#[$attribute])*
        pub(crate) fn $name$(<$F: Fingerprint>)?($($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if Level::of_processor() >= Level::Avx2 {
                #[target_feature(enable = $features)]
                fn compiled$(<$F: Fingerprint>)?($($arg: $type),*) $(-> $result)? {
                    plain_near::$name($($arg),*)
                }
                // SAFETY: the processor has the features.
                return unsafe { compiled($($arg),*) };
            }
            plain_near::$name($($arg),*)
        }
    )*};
}

compiled_for_processor! {
    /// Bit `i` is set if key `i` of the first [`super::CHUNK`], without its `row` lowest bits, lies within `radius` of
    /// `lead`.
    #[inline]
    "popcnt" fn near_leads(keys: &[u64], lead: u64, row: u32, radius: u32) -> u64;

    /// Bit `i` is set if row `i` of the first [`super::CHUNK`] lies within distance `k` of `query`.
    #[inline]
    "popcnt" fn near_rows<F>(rows: &[u8], query: F, k: u32) -> u64;

    "avx2,popcnt" fn near_pairs<F>(all: &[F], count: usize, k: u32, found: &mut Vec<(F, F)>);

    "avx2,popcnt" fn near_across<F>(ones: &[F], others: &[F], k: u32, found: &mut Vec<(F, F)>);

    "avx2,popcnt" fn push_within<F>(all: &[F], count: usize, k: u32, found: &mut Vec<(F, F)>);

    "avx2,popcnt" fn may_have_near<F>(all: &[F], count: usize, k: u32) -> bool;

    #[inline]
    "avx2,bmi1,bmi2,popcnt" fn ascending(keys: &[u64]) -> bool;
}

/// [`split_plain::plain`].
#[inline]
pub(super) fn gap(split: split_plain::Split<'_>, keys: &mut [u64], places: &mut [u32]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    match Level::of_processor() {
        // SAFETY: the processor has the features.
        Level::Avx512 => return unsafe { avx512::decode(split, keys, places) },
        // SAFETY: the processor has the features.
        Level::Avx2 => return unsafe { avx2::decode(split, keys, places) },
        Level::Plain => {}
    }
    split_plain::plain(split, keys, places)
}

/// Bit `i` is set if key `i` of the first [`super::CHUNK`] lies within distance `k` of `key`.
#[inline]
pub(crate) fn near(keys: &[u64], key: u64, k: u32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if Level::of_processor() >= Level::Avx2 {
        // SAFETY: the processor has the features.
        return unsafe { avx2::near(keys, key, k) };
    }
    plain_near::near(keys, key, k)
}

/// Appends the pairs within distance `k` among the first `count` fingerprints. It is faster if some more follow.
pub(crate) fn near_within<F: Fingerprint>(all: &[F], count: usize, k: u32, found: &mut Vec<(F, F)>) {
    #[cfg(target_arch = "x86_64")]
    if F::WORDS == 1 && Level::of_processor() == Level::Avx512 {
        // SAFETY: the processor has the features.
        if unsafe { near512::may_have_near(all, count, k) } {
            push_within(all, count, k, found);
        }
        return;
    }
    if may_have_near(all, count, k) {
        push_within(all, count, k, found);
    }
}

/// Prefetches element `at`, if there is one.
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

/// Decodes keys of a flips block, eight at a time, away from the block's ends; leaves the rest to [`super::flips`].
/// Unless the code is quick, the caller has decoded the keys that it may refer to.
#[inline]
pub(super) fn flips(code: &FlipsCode, bytes: &[u8], before: u64, keys: &mut [u64], lanes: &mut Lanes) {
    #[cfg(target_arch = "x86_64")]
    if Level::of_processor() >= Level::Avx2 {
        // SAFETY: the processor has the features.
        unsafe { flips::decode(code, bytes, before, keys, lanes) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (code, bytes, before, keys, lanes);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::codec::split::{MAX_LOW_WIDTH, SLACK, Split};
    use proptest::prelude::*;

    type Decode<'a> = &'a dyn Fn(Split<'_>, &mut [u64], &mut [u32]) -> Option<usize>;

    proptest! {
        #[test]
        fn the_same_as_the_plain_forms(
            bytes in prop_oneof![0usize..90, 0usize..900]
                .prop_flat_map(|most| prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(255)], 0..=most)),
            low_width in 0..=MAX_LOW_WIDTH, share in 1usize..1000, base: u64,
            cut in prop_oneof![0usize..32, 0usize..900], is_limit: bool,
            sparse in prop_oneof![Just(255), Just(85), Just(17)],
        ) {
            if !has_avx2() {
                return Ok(());
            }
            let mut bytes = bytes;
            let (low_width, count, end) = if is_limit {
                // Near the limits of short blocks: 64 ones in 128, 256 or 512 bits.
                let (low_width, count) = (low_width % 5, 56 + share % 11);
                bytes.iter_mut().for_each(|byte| *byte &= sparse);
                let end = low_width as usize * count + 180 + share % 90;
                (low_width, count, end.min(8 * bytes.len()))
            } else {
                // Low parts that leave space for high ones, most often.
                let end = 8 * bytes.len().saturating_sub(cut);
                (low_width, 1 + end * share / 1000 / (low_width as usize + 2), end)
            };
            let split = Split { low_width, bytes: &bytes, end, base, count };
            let decoded = |decode: Decode<'_>| {
                let (mut keys, mut places) = (vec![0u64; count + SLACK], vec![0u32; count + SLACK]);
                let last = decode(split, &mut keys, &mut places);
                last.map(|last| (keys[..count].to_vec(), last))
            };
            let plain = decoded(&split_plain::plain);
            prop_assert_eq!(&decoded(&|split, keys, places| unsafe { avx2::decode(split, keys, places) }), &plain);
            if has_avx512() {
                prop_assert_eq!(decoded(&|split, keys, places| unsafe { avx512::decode(split, keys, places) }), plain);
            }
        }

        #[test]
        fn near_keys_are_found(
            mut keys in prop::collection::vec(any::<u64>(), 0..100), key: u64, k in 0u32..=64, flips in 0u32..64,
        ) {
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
