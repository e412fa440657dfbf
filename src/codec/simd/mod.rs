//! The steps of decoding that SIMD makes faster, chosen at run time.
//!
//! The plain forms define the results; tests compare the others with them. AVX2 and NEON have their own forms, AVX-512
//! those of short gap blocks and of groups of 64-bit fingerprints; other processors run the plain ones.
//! `FPSTORE_SIMD=off` in the environment selects the plain forms everywhere, and the test suite runs a second time with
//! it; `FPSTORE_SIMD=avx2` leaves out AVX-512.
//!
//! This module and `env::mmap` are the only ones with `unsafe`: unaligned loads and stores whose bounds are checked
//! once for many, and calls of functions for a processor feature that was detected.

#![allow(unsafe_code, reason = "vector loads and stores; see above")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod flips;
#[cfg(target_arch = "x86_64")]
mod near512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod tables;

use super::flips::{FlipsCode, Lanes};
use super::near as plain_near;
use crate::codec::split as split_plain;
use crate::fingerprint::Fingerprint;
use std::sync::LazyLock;

/// The widest forms that the processor has and the environment allows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Plain,
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Also the AVX-512 extensions that [`has_avx512`] lists.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    #[cfg(target_arch = "x86_64")]
    fn of_x86(allows_avx512: bool) -> Self {
        if !has_avx2() {
            Self::Plain
        } else if allows_avx512 && has_avx512() {
            Self::Avx512
        } else {
            Self::Avx2
        }
    }

    #[inline]
    fn of_processor() -> Self {
        static FOUND: LazyLock<Level> = LazyLock::new(|| {
            let wanted = std::env::var_os("FPSTORE_SIMD").unwrap_or_default();
            // The forms with NEON take the bytes of a lane in little-endian order.
            if wanted == "off" || cfg!(target_endian = "big") {
                return Level::Plain;
            }
            #[cfg(target_arch = "x86_64")]
            return Level::of_x86(wanted != "avx2");
            #[cfg(target_arch = "aarch64")]
            return Level::Neon;
            #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
            Level::Plain
        });
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
    match Level::of_processor() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the features.
        Level::Avx512 => unsafe { avx512::decode(split, keys, places) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the features.
        Level::Avx2 => unsafe { avx2::decode(split, keys, places) },
        #[cfg(target_arch = "aarch64")]
        Level::Neon => neon::decode(split, keys, places),
        Level::Plain => split_plain::plain(split, keys, places),
    }
}

/// Bit `i` is set if key `i` of the first [`super::CHUNK`] lies within distance `k` of `key`.
#[inline]
pub(crate) fn near(keys: &[u64], key: u64, k: u32) -> u64 {
    match Level::of_processor() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the features.
        Level::Avx2 | Level::Avx512 => unsafe { avx2::near(keys, key, k) },
        #[cfg(target_arch = "aarch64")]
        Level::Neon => neon::near(keys, key, k),
        Level::Plain => plain_near::near(keys, key, k),
    }
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
    slice.get(at).into_iter().for_each(|element| prefetch_address(std::ptr::from_ref(element).cast()));
}

/// Prefetches the line of any address.
#[inline]
pub(crate) fn prefetch_address(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address reads nothing that the program could see, and never fails.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// Decodes keys of a flips block, eight at a time, away from the block's ends; leaves the rest to [`super::flips`].
/// Unless the code is quick, the caller has decoded the keys that it may refer to.
#[inline]
pub(super) fn flips(code: &FlipsCode, bytes: &[u8], before: u64, keys: &mut [u64], lanes: &mut Lanes) {
    match Level::of_processor() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the features.
        Level::Avx2 | Level::Avx512 => unsafe { flips::decode(code, bytes, before, keys, lanes) },
        #[cfg(target_arch = "aarch64")]
        Level::Neon => flips::decode(code, bytes, before, keys, lanes),
        Level::Plain => {}
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = (code, bytes, before, keys, lanes);
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::codec::split::{MAX_LOW_WIDTH, SLACK, Split};
    use proptest::prelude::*;

    type Decode<'a> = &'a dyn Fn(Split<'_>, &mut [u64], &mut [u32]) -> Option<usize>;

    /// The forms of [`gap`] that this processor has, beside the plain one.
    #[cfg(target_arch = "x86_64")]
    fn forms() -> Vec<(&'static str, Decode<'static>)> {
        let avx2: Decode<'_> = &|split, keys, places| unsafe { avx2::decode(split, keys, places) };
        let avx512: Decode<'_> = &|split, keys, places| unsafe { avx512::decode(split, keys, places) };
        let forms = [("AVX2", avx2, has_avx2()), ("AVX-512", avx512, has_avx512())];
        forms.into_iter().filter(|&(.., has)| has).map(|(name, form, _)| (name, form)).collect()
    }
    #[cfg(target_arch = "aarch64")]
    fn forms() -> [(&'static str, Decode<'static>); 1] {
        [("NEON", &neon::decode)]
    }

    proptest! {
        #[test]
        fn the_same_as_the_plain_forms(
            bytes in prop_oneof![0usize..90, 0usize..900]
                .prop_flat_map(|most| prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(255)], 0..=most)),
            low_width in 0..=MAX_LOW_WIDTH, share in 1usize..1000, base: u64,
            cut in prop_oneof![0usize..32, 0usize..900], is_limit: bool,
            sparse in prop_oneof![Just(255), Just(85), Just(17)],
        ) {
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
            for (level, form) in forms() {
                prop_assert_eq!(&decoded(form), &plain, "{}", level);
            }
        }

        #[test]
        fn near_keys_are_found(
            mut keys in prop::collection::vec(any::<u64>(), 0..100), key: u64, k in 0u32..=64, flips in 0u32..64,
        ) {
            for (number, slot) in (0..).zip(keys.iter_mut()).step_by(3) {
                *slot = key ^ crate::bits::low_mask(flips.min(k + number % 3));
            }
            let plain = plain_near::near(&keys, key, k);
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                prop_assert_eq!(unsafe { avx2::near(&keys, key, k) }, plain);
            }
            #[cfg(target_arch = "aarch64")]
            prop_assert_eq!(neon::near(&keys, key, k), plain);
        }
    }
}
