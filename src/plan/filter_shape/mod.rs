//! The shape of a table's prefix filter: what it tells, its size, and how often it errs.
//!
//! There are two kinds; `segment::filter` implements both. *Lines* (`lines.rs`) take 21 to 32 bits a key, and tell
//! which prefixes of log2 n + 11 bits exist, nearly all exactly. A *Bloom* filter (`bloom.rs`) takes 7.5 bits or
//! fewer, or 15 where there are many flips or keys, and tells with some errors which prefixes exist that are no longer
//! than the table's leading part.

mod bloom;
mod lines;

use super::masks::{masks, number_of_masks};
use super::{Design, TableForm, TableLayout};
use crate::error::Result;

pub(crate) use bloom::{BloomShape, LINE};
pub(crate) use lines::{BEHIND, LineShape, MOST_ENTRIES, MOST_MISSING};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FilterShape {
    Lines(LineShape),
    Bloom(BloomShape),
}

impl FilterShape {
    /// The filter of a table of this form that is probed within `radius` at the store's maximum distance; `None` if the
    /// table is too small, and for narrow keys and rows whose prefixes mostly exist, as wide fingerprints have many
    /// tables.
    pub(crate) fn of_table(form: TableForm, keys: u64, leading: u32, radius: Option<u32>) -> Option<Self> {
        let leading = form.searchable(leading);
        if form == TableForm::Full {
            return Self::new(keys, leading, radius);
        }
        let useful = leading > keys.max(1).ilog2();
        BloomShape::new(keys, leading, radius).filter(|_| useful).map(Self::Bloom)
    }

    /// As [`FilterShape::of_table`] for whole keys of 64 bits, whose first `leading` bits may be searched. Within
    /// radius 0 a query looks one prefix up: lines save few of the blocks.
    pub(crate) fn new(keys: u64, leading: u32, radius: Option<u32>) -> Option<Self> {
        let bloom = BloomShape::new(keys, leading, radius)?;
        let lines = LineShape::new(keys, leading, bloom).filter(|_| radius.is_some_and(|radius| radius > 0));
        Some(lines.map_or(Self::Bloom(bloom), Self::Lines))
    }

    /// Number of leading bits of a key that it tells.
    pub(crate) fn prefix(self) -> u32 {
        match self {
            Self::Lines(shape) => shape.prefix(),
            Self::Bloom(shape) => shape.prefix,
        }
    }

    /// Number of leading bits that name what a query looks up: it flips these.
    pub(crate) fn flipped(self) -> u32 {
        match self {
            Self::Lines(shape) => shape.flipped,
            Self::Bloom(shape) => shape.prefix,
        }
    }

    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Lines(shape) => shape.bytes(),
            Self::Bloom(shape) => shape.bytes(),
        }
    }

    /// The filter for less memory, or for keys that are spread too unevenly.
    pub(crate) fn smaller(self) -> BloomShape {
        match self {
            Self::Lines(shape) => shape.smaller,
            Self::Bloom(shape) => shape,
        }
    }

    /// The filter of keys of which this share finds no place in their lines.
    pub(crate) fn of_unsure(self, share: f64) -> Self {
        match self {
            Self::Lines(shape) => shape.with_unsure(share).map_or(Self::Bloom(shape.smaller), Self::Lines),
            Self::Bloom(_) => self,
        }
    }

    /// Number of prefixes that pass if they exist, of a query within `radius` in the leading part and `distance` in all
    /// bits.
    pub(crate) fn wanted(self, radius: u32, distance: u32) -> f64 {
        match self {
            Self::Lines(shape) => shape.wanted(radius, distance),
            Self::Bloom(shape) => number_of_masks(shape.prefix, radius),
        }
    }

    /// The masks of the prefixes that [`FilterShape::wanted`] counts.
    pub(crate) fn wanted_masks(self, radius: u32, distance: u32) -> Vec<u64> {
        match self {
            Self::Lines(shape) => shape.wanted_masks(radius, distance),
            Self::Bloom(shape) => masks(shape.prefix, radius),
        }
    }

    /// The chance that a look-up without a near key passes, if all keys have distinct prefixes.
    pub(crate) fn false_positives(self) -> f64 {
        match self {
            Self::Lines(shape) => shape.false_positives(),
            Self::Bloom(shape) => shape.density.false_positives,
        }
    }

    /// As [`FilterShape::false_positives`], of so many distinct prefixes.
    pub(crate) fn false_positives_of(self, prefixes: f64) -> f64 {
        match self {
            Self::Lines(shape) => shape.false_positives(),
            Self::Bloom(shape) => shape.false_positives(prefixes),
        }
    }
}

/// The hash of a prefix, given as its least key: a product folded as in wyhash, so that all bits of the hash depend on
/// all of the prefix's. The factor is 2^64 divided by the golden ratio.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves of a product")]
pub(crate) fn hash(first: u64) -> u64 {
    let product = u128::from(first ^ 0xa076_1d64_78bd_642f) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}

/// The filters of a design's tables at a distance, without tables that are too small. Fails if the design does not fit
/// the width.
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
    fn none_for_a_small_table() {
        assert_eq!(FilterShape::new(4095, 32, Some(1)), None);
        assert!(FilterShape::new(4096, 32, Some(1)).is_some());
    }

    #[test]
    fn lines_where_many_prefixes_exist() {
        let all = FilterShape::new(20_000_000, 28, Some(1)).unwrap();
        assert!(matches!(all, FilterShape::Lines(_)) && all.smaller().bytes() < all.bytes() / 2);
        // A leading part that is shorter than what lines tell, one with few existing prefixes, narrow keys, radius 0.
        let within = |radius, form, leading| FilterShape::of_table(form, 20_000_000, leading, Some(radius));
        let of_table = |form, leading| within(1, form, leading);
        let narrow = TableForm::Narrow { lead: 28, row: 25 };
        let full = TableForm::Full;
        for shape in [of_table(full, 18), of_table(full, 29), of_table(narrow, 28), within(0, full, 28)] {
            assert!(matches!(shape, Some(FilterShape::Bloom(_))), "{shape:?}");
        }
        assert_eq!(of_table(full, 28), Some(all));
    }
}
