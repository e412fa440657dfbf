//! What narrow tables tell of wide fingerprints whose rows are lost: of each row some bits, other ones in every table.

use crate::bits::low_mask;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::plan::TableForm;
use crate::segment::{Salvage, Scratch, Table};
use std::collections::BTreeMap;
use std::ops::Range;

/// Some bits of a fingerprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits<F> {
    /// Those that are not known are 0.
    pub(crate) value: F,
    pub(crate) mask: F,
}

impl<F: Fingerprint> Bits<F> {
    /// The fingerprint, if all of it is known.
    pub(crate) fn whole(&self) -> Option<F> {
        let is_known = (0..F::WORDS).all(|number| self.mask.word(number) == u64::MAX);
        is_known.then_some(self.value)
    }

    /// Adds `length` bits from bit `first` on; false if they are not those that are known already.
    fn add(&mut self, first: u32, length: u32, bits: u64) -> bool {
        for at in 0..length {
            let bit = first + at;
            let set = bits >> (length - 1 - at) & 1 == 1;
            if self.mask.bits(bit, 1) == 1 {
                if (self.value.bits(bit, 1) == 1) != set {
                    return false;
                }
                continue;
            }
            self.mask = self.mask.flipped(bit);
            if set {
                self.value = self.value.flipped(bit);
            }
        }
        true
    }
}

/// What is known of the rows of these ranks, which follow one another.
///
/// # Errors
/// `Damaged` if tables contradict each other.
pub(crate) fn known<F: Fingerprint>(salvage: &Salvage, lost: &[Range<u64>]) -> Result<BTreeMap<u64, Bits<F>>> {
    let mut known: BTreeMap<u64, Bits<F>> = BTreeMap::new();
    let is_lost = |rank: u64| {
        let behind = lost.partition_point(|range| range.end <= rank);
        lost.get(behind).is_some_and(|range| range.contains(&rank))
    };
    let contradiction = || Error::damaged("tables say different things of a fingerprint");
    if let Some(rows) = salvage.table(0) {
        // The index of the rows has the first bits of each page's last one.
        let index = rows.index();
        for block in 0..index.len() {
            let behind = index.rank(block + 1);
            let last = behind.checked_sub(1);
            if let Some((rank, key)) = last.filter(|&rank| is_lost(rank)).zip(index.key(block))
                && !known.entry(rank).or_default().add(0, 64, key)
            {
                return Err(contradiction());
            }
        }
    }
    let mut scratch = Scratch::default();
    for table in salvage.other_tables() {
        for block in 0..table.index().len() {
            // A block that does not hold says nothing.
            let Ok(keys) = table.block(block, &mut scratch) else { continue };
            for &key in keys {
                let TableForm::Narrow { row, .. } = table.form() else { continue };
                let rank = key & low_mask(row);
                if is_lost(rank) && !add_leading(known.entry(rank).or_default(), table, key) {
                    return Err(contradiction());
                }
            }
        }
    }
    Ok(known)
}

/// Adds the leading bits of a narrow key; false if they contradict what is known.
fn add_leading<F: Fingerprint>(bits: &mut Bits<F>, table: &Table, key: u64) -> bool {
    let TableForm::Narrow { lead, row } = table.form() else { return true };
    let leading = key.checked_shr(row).unwrap_or(0);
    let mut left = lead;
    for group in table.layout().permutation.groups() {
        let length = group.length.min(left);
        left -= length;
        if !bits.add(group.first, length, leading >> left & low_mask(length)) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_added_until_all_are_known_and_have_to_agree() {
        let fingerprint = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210_u128;
        let mut bits = Bits::<u128>::default();
        for (first, length) in [(0, 64), (60, 10), (70, 0), (70, 58)] {
            assert_eq!(bits.whole(), None);
            assert!(bits.add(first, length, fingerprint.bits(first, length)));
        }
        assert_eq!(bits.whole(), Some(fingerprint));
        assert!(!bits.add(3, 5, !fingerprint.bits(3, 5) & 31));
    }
}
