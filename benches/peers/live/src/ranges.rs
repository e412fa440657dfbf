//! The key ranges of two rotated tables that may contain neighbours of a fingerprint.
//!
//! Table 0 has the fingerprints as keys, table 1 the fingerprints rotated by 32 bits. If two fingerprints differ in at
//! most 3 bits, one of their halves differs in at most one bit; so in one table the first halves of both keys do. If
//! that bit is among the first `prefix` bits, the rest of the half is equal; otherwise the first `prefix` bits are
//! equal. So one range of all keys with those bits, and one range for each of them with the whole half except that bit,
//! contain all answers. A shorter prefix means fewer ranges, with a longer first one.

use std::ops::RangeInclusive;

const HALF: u32 = 32;

/// A fingerprint as the key of a table, and the key as the fingerprint.
pub(crate) fn rotate(value: u64, table: usize) -> u64 {
    if table == 0 { value } else { value.rotate_left(HALF) }
}

/// The ranges of a table's keys, beginning with that of the same prefix, the likeliest place of neighbours. `prefix` is
/// 1 to 32.
pub(crate) fn around(key: u64, prefix: u32) -> impl Iterator<Item = RangeInclusive<u64>> {
    let with_same = |key: u64, bits: u32| {
        let rest = u64::MAX >> bits;
        key & !rest..=key | rest
    };
    let flipped = (0..prefix).map(move |bit| with_same(key ^ 1 << (63 - bit), HALF));
    std::iter::once(with_same(key, prefix)).chain(flipped)
}

/// Whether the ranges around `wanted` contain `key`.
pub(crate) fn reached(key: u64, wanted: u64, prefix: u32) -> bool {
    let differs = key ^ wanted;
    differs >> (64 - prefix) == 0 || (differs >> HALF).count_ones() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_the_two_tables_hold_all_within_three_bits() {
        let wanted = 0x0123_4567_89ab_cdef_u64;
        for prefix in [1, 7, 16, 31, 32] {
            for bits in (0..64_u64.pow(3)).step_by(7) {
                let flips = 1 << (bits & 63) | 1 << (bits >> 6 & 63) | 1 << (bits >> 12);
                let found = (0..2).any(|table| {
                    let (key, wanted) = (rotate(wanted ^ flips, table), rotate(wanted, table));
                    let held = around(wanted, prefix).filter(|range| range.contains(&key)).count();
                    assert_eq!(held, usize::from(reached(key, wanted, prefix)));
                    held == 1
                });
                assert!(found, "{prefix} {flips:x}");
            }
        }
    }
}
