//! Fixed-size keys by which ids are sorted.

use crate::cluster::labels::LabelRef;
use crate::extsort::Item;
use crate::fingerprint::Fingerprint;
use std::hash::{BuildHasher, RandomState};
use xxhash_rust::xxh64::xxh64;

/// The keys of a record and of its label, and the number of the line, which keeps equal ones distinct.
pub(crate) type Line<K> = (K, (K, u64));

pub(crate) trait Key: Item {
    /// The lower bits of a number.
    fn of(number: u128) -> Self;
}

impl Key for u64 {
    #[expect(clippy::cast_possible_truncation, reason = "longer names have wide keys")]
    fn of(number: u128) -> Self {
        number as u64
    }
}

impl Key for u128 {
    fn of(number: u128) -> Self {
        number
    }
}

/// Makes keys: numbers and fingerprints of up to 128 bits as they are, and an unpredictable hash of 128 bits of all
/// else (XXH64 and SipHash; only the latter resists an attacker that chooses ids). Two of 2^40 ids share a hash once in
/// 2^49 runs.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    seed: u64,
    state: RandomState,
}

impl Default for Keys {
    fn default() -> Self {
        let state = RandomState::new();
        Self { seed: state.hash_one(0), state }
    }
}

impl Keys {
    pub(crate) fn key<F: Fingerprint, K: Key>(&self, label: LabelRef<'_, F>) -> K {
        let wide = |[high, low]: [u64; 2]| u128::from(high) << 64 | u128::from(low);
        K::of(match label {
            LabelRef::Number(number) => u128::from(number),
            LabelRef::Text(text) => wide([xxh64(text.as_bytes(), self.seed), self.state.hash_one(text)]),
            LabelRef::Fingerprint(one) if F::WORDS == 1 => u128::from(one.word(0)),
            LabelRef::Fingerprint(one) if F::WORDS == 2 => wide([one.word(0), one.word(1)]),
            LabelRef::Fingerprint(one) => wide([0u8, 1].map(|half| self.state.hash_one((half, one)))),
        })
    }

    pub(crate) fn head<F: Fingerprint, K: Key>(&self, label: LabelRef<'_, F>) -> u64 {
        match label {
            LabelRef::Text(text) => xxh64(text.as_bytes(), self.seed),
            _ => self.key::<F, K>(label).word(0),
        }
    }
}
