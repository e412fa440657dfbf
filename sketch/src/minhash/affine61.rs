//! Places `(a h + b) mod (2^61 - 1)` of 64-bit hashes h, where product and sum overflow 64 bits before the remainder is
//! taken, as `numpy` computes them. A place holds the least of the lower bits of its values.

use multiversion::multiversion;

use super::place::EMPTY;

pub(super) const MERSENNE_PRIME: u64 = (1 << MERSENNE_BITS) - 1;
const MERSENNE_BITS: u32 = 61;

/// Places that are computed together.
const LANES: usize = 8;

/// Parameters a and b of some places.
type Lanes = [[u64; LANES]; 2];

/// Parameters of all places.
#[derive(Clone, Debug)]
pub(super) struct Affine61 {
    /// The last lanes are padded with zeros.
    lanes: Vec<Lanes>,
    places: usize,
}

impl Affine61 {
    /// Takes the parameters (a, b) of every place.
    pub(super) fn new(parameters: &[(u64, u64)]) -> Self {
        let lanes = parameters.chunks(LANES).map(|some| {
            let mut lanes = [[0; LANES]; 2];
            let [factors, terms] = &mut lanes;
            for ((factor, term), (a, b)) in factors.iter_mut().zip(terms).zip(some) {
                (*factor, *term) = (*a, *b);
            }
            lanes
        });
        Self { lanes: lanes.collect(), places: parameters.len() }
    }

    /// Returns the signature of features that are given by their hashes; `bits` are those of a value that count.
    pub(super) fn signature(&self, hashes: &[u64], bits: u64) -> Vec<u64> {
        if hashes.is_empty() {
            return vec![EMPTY; self.places];
        }
        let mut signature = vec![[0; LANES]; self.lanes.len()];
        least(hashes, &self.lanes, bits, &mut signature);
        let mut signature = signature.concat();
        signature.truncate(self.places);
        signature
    }
}

/// Computes the least value of every place. Values are compared as signed ones, because AVX2 compares no others.
#[multiversion(targets("x86_64+avx2"))]
#[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "values are below 2^61")]
fn least(hashes: &[u64], lanes: &[Lanes], bits: u64, signature: &mut [[u64; LANES]]) {
    for ([factors, terms], places) in lanes.iter().zip(signature) {
        let mut least = [i64::MAX; LANES];
        for hash in hashes {
            for ((least, factor), term) in least.iter_mut().zip(factors).zip(terms) {
                let value = factor.wrapping_mul(*hash).wrapping_add(*term);
                // 2^61 is 1 modulo the prime, so the upper bits are added to the lower ones.
                let folded = (value & MERSENNE_PRIME) + (value >> MERSENNE_BITS);
                let value = if folded as i64 >= MERSENNE_PRIME as i64 { folded - MERSENNE_PRIME } else { folded };
                *least = (*least).min((value & bits) as i64);
            }
        }
        *places = least.map(|value| value as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values near multiples of the prime too, if they are multiplied by one.
    fn hash() -> impl Strategy<Value = u64> {
        let near =
            (0_u64..9, 0_u64..9).prop_map(|(times, more)| (times * MERSENNE_PRIME).wrapping_add(more).wrapping_sub(4));
        prop_oneof![any::<u64>(), near]
    }

    proptest! {
        #[test]
        fn the_least_remainders(
            hashes in prop::collection::vec(hash(), 1..40),
            mut parameters in prop::collection::vec((0..MERSENNE_PRIME, 0..MERSENNE_PRIME), 1..30),
            bits in prop_oneof![Just(u64::MAX), Just(0xffff_ffff)],
        ) {
            parameters[0] = (1, 0);
            let of = |(a, b): &(u64, u64)| {
                let values = hashes.iter().map(|hash| a.wrapping_mul(*hash).wrapping_add(*b) % MERSENNE_PRIME);
                values.map(|value| value & bits).min().unwrap()
            };
            let expected: Vec<u64> = parameters.iter().map(of).collect();
            prop_assert_eq!(Affine61::new(&parameters).signature(&hashes, bits), expected);
        }
    }
}
