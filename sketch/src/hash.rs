//! The hash of a feature in native sketches.
//!
//! One word hashes to the XXH3 of its bytes, 64 bits without a seed. The hashes of several words are combined by a
//! folded multiplication, which is as sensitive to their order as a hash of the joined text and costs a fifth of it.
//! The constants are the fractional parts of the square roots of 2 and 3, made odd.

use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64;

const LEFT: u64 = 0x6a09_e667_f3bc_c909;
const RIGHT: u64 = 0xbb67_ae85_84ca_a73b;

/// Returns the hash of one word or of any other piece of text.
#[inline]
pub(crate) fn of_text(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// Returns the hash of the words so far and one more.
#[inline]
pub(crate) fn with(before: u64, word: u64) -> u64 {
    fold(before ^ LEFT, word ^ RIGHT)
}

/// Returns another 64 bits of a hash.
#[inline]
pub(crate) fn second(hash: u64) -> u64 {
    fold(hash ^ RIGHT, LEFT)
}

/// Returns the exclusive or of both halves of the 128-bit product.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    low(product) ^ low(product >> 64)
}

/// Returns the lower half of a number.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the low half is meant")]
pub(crate) fn low(number: u128) -> u64 {
    number as u64
}

/// A hasher that returns the value itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A set of feature hashes, which are not hashed again.
pub(crate) type HashSet = std::collections::HashSet<u64, BuildHasherDefault<Itself>>;
