//! What the keys of a table are.
//!
//! A fingerprint of 64 bits is written whole into every table. Of wider ones that would be absurd (16 copies of 32
//! bytes), so they are written whole only once, as *rows* in ascending order, and the tables hold *narrow* keys: as many
//! leading bits of the permuted fingerprint as tell it apart, and behind them the number of its row.

use crate::bits::bit_length;

/// What the keys of a table are. They are 64-bit numbers in every form, or looked for by their 64 leading bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// Whole permuted fingerprints, compressed in blocks.
    Full,
    /// Whole fingerprints as they are: each page has as many as fit it.
    Rows,
    /// Leading bits of permuted fingerprints and numbers of rows, compressed in blocks.
    Narrow {
        /// Number of leading bits.
        lead: u32,
        /// Number of bits of a row's number.
        row: u32,
    },
}

impl TableForm {
    /// Leading bits of narrow keys beyond those that number the rows. Chance neighbours, which cost a visit to their
    /// row each, are then one in 64 prefixes; each further bit would be a bit more for every fingerprint and table.
    const SPARE_BITS: u32 = 6;

    /// The form of table `number` of fingerprints with `width` bits, of which there are `fingerprints`; `leading` bits
    /// of the table's keys may be used as a prefix.
    #[must_use]
    pub fn new(width: u32, number: usize, leading: u32, fingerprints: u64) -> Self {
        if width <= 64 {
            return Self::Full;
        }
        if number == 0 {
            return Self::Rows;
        }
        let row = bit_length(fingerprints.saturating_sub(1));
        Self::Narrow { lead: leading.min(row + Self::SPARE_BITS).min(64 - row), row }
    }

    /// Number of leading bits by which keys can be looked for, of `leading` that the layout allows.
    #[must_use]
    pub fn searchable(self, leading: u32) -> u32 {
        match self {
            Self::Full | Self::Rows => leading.min(64),
            Self::Narrow { lead, .. } => lead,
        }
    }

    /// By how many bits a stored key is shorter than 64; the missing ones are zeros in front of it.
    #[must_use]
    pub fn shift(self) -> u32 {
        match self {
            Self::Full | Self::Rows => 0,
            Self::Narrow { lead, row } => 64 - lead - row,
        }
    }

    /// The greatest key that there can be.
    #[must_use]
    pub fn greatest_key(self) -> u64 {
        u64::MAX.checked_shr(self.shift()).unwrap_or(0)
    }

    /// The narrow key of a fingerprint whose permutation begins with the 64 bits `head` and that is the row `number`.
    #[must_use]
    pub fn narrow_key(self, head: u64, number: u64) -> u64 {
        match self {
            Self::Full | Self::Rows => head,
            Self::Narrow { lead, row } => {
                head.checked_shr(64 - lead).unwrap_or(0).checked_shl(row).unwrap_or(0) | number
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_keys_fit_64_bits_whatever_the_number_of_rows() {
        for fingerprints in [1, 2, 3, 1000, 1 << 20, (1 << 32) + 1, 1 << 40, u64::MAX] {
            for leading in [1, 8, 23, 64, 256] {
                let form = TableForm::new(256, 1, leading, fingerprints);
                let TableForm::Narrow { lead, row } = form else { panic!() };
                assert!(lead + row <= 64 && lead <= leading, "{fingerprints} {leading}");
                assert!(row == 64 || (fingerprints - 1) >> row == 0, "{fingerprints}");
                let key = form.narrow_key(u64::MAX, fingerprints - 1);
                assert!(key <= form.greatest_key() && form.greatest_key().count_ones() == lead + row);
                assert_eq!(key & crate::bits::low_mask(row), fingerprints - 1);
            }
        }
        assert_eq!(TableForm::new(64, 1, 32, 9), TableForm::Full);
        assert_eq!(TableForm::new(128, 0, 32, 9), TableForm::Rows);
    }
}
