//! Sets of bits of a fingerprint: a fingerprint with these bits set.

use crate::fingerprint::Fingerprint;

#[inline]
pub(crate) fn and<F: Fingerprint>(a: F, b: F) -> F {
    F::from_words(|number| a.word(number) & b.word(number))
}

#[inline]
pub(crate) fn or<F: Fingerprint>(a: F, b: F) -> F {
    F::from_words(|number| a.word(number) | b.word(number))
}

#[inline]
pub(crate) fn xor<F: Fingerprint>(a: F, b: F) -> F {
    F::from_words(|number| a.word(number) ^ b.word(number))
}

/// The bits of `a` that are not in `b`.
#[inline]
pub(crate) fn without<F: Fingerprint>(a: F, b: F) -> F {
    F::from_words(|number| a.word(number) & !b.word(number))
}

pub(crate) fn all<F: Fingerprint>() -> F {
    F::from_words(|_| u64::MAX)
}

/// Whether two sets have a bit in common.
#[inline]
pub(crate) fn meet<F: Fingerprint>(a: F, b: F) -> bool {
    and(a, b) != F::default()
}

pub(crate) fn size<F: Fingerprint>(mask: F) -> u32 {
    mask.distance(F::default())
}

/// Cuts a set into `parts` of nearly the same size, from the first bit to the last.
pub(crate) fn split<F: Fingerprint>(mask: F, parts: u32) -> Vec<F> {
    let bits: Vec<u32> = (0..F::WIDTH).filter(|&bit| mask.bits(bit, 1) == 1).collect();
    let place = |part: u32| bits.len() * part as usize / parts.max(1) as usize;
    let part = |part: u32| bits.get(place(part)..place(part + 1)).unwrap_or_default();
    (0..parts).map(|number| part(number).iter().fold(F::default(), |mask, &bit| mask.flipped(bit))).collect()
}

/// The bits in which not all fingerprints are the same.
pub(crate) fn varying<F: Fingerprint>(mut fingerprints: impl Iterator<Item = F>) -> F {
    let first = fingerprints.next().unwrap_or_default();
    fingerprints.fold(F::default(), |mask, fingerprint| or(mask, xor(fingerprint, first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::U256;

    #[test]
    fn sets_are_cut_into_even_parts() {
        let parts = split(all::<U256>(), 33);
        assert_eq!(parts.len(), 33);
        assert!(parts.iter().all(|&part| (7..=8).contains(&size(part))));
        assert_eq!(parts.iter().fold(U256::default(), |sum, &part| or(sum, part)), all());
        assert_eq!(parts.iter().map(|&part| size(part)).sum::<u32>(), 256);
        assert_eq!(split(0b1011_0000_u64, 2), [0b1000_0000, 0b0011_0000]);
    }

    #[test]
    fn exactly_the_bits_that_are_not_all_the_same_vary() {
        assert_eq!(varying::<u64>([].into_iter()), 0);
        assert_eq!(varying([0b0110_u64].into_iter()), 0);
        assert_eq!(varying([0b0110_u64, 0b0111, 0b0010].into_iter()), 0b0101);
        let some = [0b1001_0110_u64, 0b1001_0010, 0b1101_0010, 0b1001_0111];
        let wide = some.map(|bits| U256::from_words(|number| bits << (16 * number)));
        let is_varying = |bit: u32| wide.iter().any(|one| one.bits(bit, 1) != wide[0].bits(bit, 1));
        let bits = (0..256).filter(|&bit| is_varying(bit));
        assert_eq!(varying(wide.into_iter()), bits.fold(U256::default(), |mask, bit| mask.flipped(bit)));
    }
}
