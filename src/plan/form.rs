//! The forms of table keys.
//!
//! A fingerprint of 64 bits is stored whole in every table. Wider ones are stored whole only once, as *rows* in
//! ascending order; the other tables have *narrow* keys: enough leading bits of the permuted fingerprint to distinguish
//! it, followed by the number of its row.

use crate::bits::bit_length;

/// The form of a table's keys, which are 64-bit numbers or are searched by their 64 leading bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// Whole permuted fingerprints, compressed in blocks.
    Full,
    /// Whole uncompressed fingerprints: each page has as many as fit.
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
    /// Leading bits of narrow keys beyond log2 of the rows. Then one in 64 prefixes has an unrelated key, which costs a
    /// read of its row; each further bit would cost a bit a fingerprint and table.
    const SPARE_BITS: u32 = 6;

    /// The form of table `number` of this many fingerprints; `leading` bits of its keys may be a prefix.
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

    /// Number of leading bits by which keys can be searched, of `leading` that the layout allows.
    #[must_use]
    pub fn searchable(self, leading: u32) -> u32 {
        match self {
            Self::Full | Self::Rows => leading.min(64),
            Self::Narrow { lead, .. } => lead,
        }
    }

    /// Leading zeros of every stored key.
    #[must_use]
    pub fn shift(self) -> u32 {
        match self {
            Self::Full | Self::Rows => 0,
            Self::Narrow { lead, row } => 64 - lead - row,
        }
    }

    /// The greatest possible key.
    #[must_use]
    pub fn greatest_key(self) -> u64 {
        u64::MAX.checked_shr(self.shift()).unwrap_or(0)
    }

    /// The narrow key of row `number`, whose permuted fingerprint begins with the 64 bits `head`.
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
