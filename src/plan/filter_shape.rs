//! How dense a table's prefix filter is, and how often it is wrong.
//!
//! The filter itself is `segment::filter`: a word of 64 bits for some keys, in which a prefix sets a few bits. What it
//! has to be depends on how many prefixes a query asks for. Within radius 1 there are some thirty, and one false answer
//! among 23 costs less than the memory that would prevent it. Within radius 3 there are thousands: there a filter of
//! twice the bits is wrong about one in 160, which spares some two hundred blocks a query.

use super::{Design, TableForm, TableLayout};
use crate::error::Result;

/// Keys of the smallest table that gets a filter: all of a smaller one is soon in the cache.
const LEAST_KEYS: u64 = 1 << 16;
/// From this radius on filters are [`DENSE`].
const DENSE_FROM: u32 = 2;

/// Words of a line, which is what memory is fetched in.
pub(crate) const LINE: u64 = 8;

/// Most bits by which prefixes of one line differ: with more, the line fills less evenly than is gained.
const MOST_SHARING: u32 = 5;

/// How many bits a filter has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Density {
    /// Bits of memory for each of the table's keys.
    bits: f64,
    /// Bits that a prefix sets in its word.
    pub(crate) ones: u32,
    /// Share of the prefixes that no key has which pass, if every key has another prefix.
    pub(crate) false_positives: f64,
}

const USUAL: Density = Density { bits: 7.5, ones: 3, false_positives: 0.0426 };
const DENSE: Density = Density { bits: 15.0, ones: 4, false_positives: 0.0061 };

/// What the filter of a table looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FilterShape {
    /// Number of leading key bits that it knows.
    pub(crate) prefix: u32,
    /// Prefixes that differ in no more than so many of their last bits share a line.
    pub(crate) sharing: u32,
    /// Number of its 64-bit words, whole lines of them.
    pub(crate) words: u64,
    /// How many bits it has for them.
    pub(crate) density: Density,
}

impl FilterShape {
    /// The filter of a table of so many keys, probed within `radius` at the store's maximum distance; `None` if the
    /// table is too small for one to be worth its while.
    ///
    /// Its prefix is the whole leading part, as far as its bits tell keys apart: more than eight bits beyond log2 n
    /// only make more prefixes to ask for, none of which exist.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    pub(crate) fn new(keys: u64, leading: u32, radius: Option<u32>) -> Option<Self> {
        if keys < LEAST_KEYS {
            return None;
        }
        let density = if radius.is_some_and(|radius| radius >= DENSE_FROM) { DENSE } else { USUAL };
        let words = ((keys as f64 * density.bits / 64.0) as u64 + 1).next_multiple_of(LINE);
        let prefix = leading.min(keys.ilog2() + 9);
        // Only so many that hardly more than one of those which share a line exists on average: others would fill lines
        // unevenly.
        let sharing = prefix.saturating_sub(keys.ilog2() + 3).min(MOST_SHARING);
        Some(Self { prefix, sharing, words, density })
    }

    /// The filter of a table of this form, whose layout has so many leading bits; as [`FilterShape::new`], and none for
    /// narrow keys and rows whose prefixes exist, most of them: wide fingerprints have many tables.
    pub(crate) fn of_table(form: TableForm, keys: u64, leading: u32, radius: Option<u32>) -> Option<Self> {
        let leading = form.searchable(leading);
        let useful = form == TableForm::Full || leading > keys.max(1).ilog2();
        Self::new(keys, leading, radius).filter(|_| useful)
    }

    /// Bytes of memory.
    pub(crate) fn bytes(self) -> u64 {
        self.words * 8
    }

    /// Share of the prefixes that no key has which pass when so many different prefixes were entered.
    ///
    /// The entered prefixes spread over the words as chance will have it (Poisson). In a word that j of them have come
    /// to, each bit is still 0 with probability (63/64)^(ones j), and a prefix passes when none of its bits is.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn false_positives(self, entered: f64) -> f64 {
        let load = entered / self.words as f64;
        let ones = f64::from(self.density.ones);
        let mut chance = (-load).exp();
        (0..100)
            .map(f64::from)
            .map(|j| {
                let share = chance * (1.0 - (63.0f64 / 64.0).powf(ones * j)).powf(ones);
                chance *= load / (j + 1.0);
                share
            })
            .sum()
    }
}

/// The hash of a prefix, given as the least key that has it: the two halves of a product folded, as in wyhash, so that
/// all its bits depend on all of the prefix's. The factor is 2^64 divided by the golden ratio.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves of a product")]
pub(crate) fn hash(first: u64) -> u64 {
    let product = u128::from(first ^ 0xa076_1d64_78bd_642f) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}

/// The filters of the tables of a design for so many keys, made for a distance; tables too small for one are left out.
///
/// # Errors
/// `InvalidInput` if the design does not fit the width.
pub(crate) fn filters_of(design: Design, width: u32, keys: u64, distance: u32) -> Result<Vec<FilterShape>> {
    let tables = design.tables(width)?.into_iter().zip(design.radii(distance)).enumerate();
    let filter = |(number, (table, radius)): (usize, (TableLayout, _))| {
        let form = TableForm::new(width, number, table.leading, keys);
        FilterShape::of_table(form, keys, table.leading, radius)
    };
    Ok(tables.filter_map(filter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_where_many_prefixes_are_asked_for() {
        let n = 20_000_000;
        let [usual, dense] = [Some(1), Some(2)].map(|radius| FilterShape::new(n, 64, radius).unwrap());
        assert_eq!((usual.prefix, usual.density, usual.words), (33, USUAL, 2_343_752));
        assert_eq!((dense.prefix, dense.density, dense.words), (33, DENSE, 4_687_504));
        assert_eq!(FilterShape::new(n, 32, None), FilterShape::new(n, 32, Some(0)));
        for shape in [usual, dense] {
            let (full, known) = (shape.false_positives(2e7), shape.density.false_positives);
            assert!((full - known).abs() < 1e-4, "{full} {known}");
        }
        assert!(usual.false_positives(1e6) < 0.001 && usual.false_positives(0.0) < 1e-9);
    }

    #[test]
    fn none_for_a_small_table() {
        assert_eq!(FilterShape::new(65_535, 32, Some(1)), None);
        assert!(FilterShape::new(65_536, 32, Some(1)).is_some());
    }
}
