//! Bits of fingerprints.

use crate::fingerprint::Fingerprint;

/// The bits that `mask` has.
#[inline]
pub(crate) fn masked<F: Fingerprint>(fingerprint: F, mask: F) -> F {
    F::from_words(|number| fingerprint.word(number) & mask.word(number))
}

/// The bits in which two differ.
#[inline]
pub(crate) fn difference<F: Fingerprint>(a: F, b: F) -> F {
    F::from_words(|number| a.word(number) ^ b.word(number))
}
