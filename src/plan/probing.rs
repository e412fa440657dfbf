//! The prefix length of a query in a table, and its cost by [`Timings::IN_USE`].
//!
//! Short prefixes mean few probes that cover many blocks each, long ones many probes of one block or two. The blocks
//! that a prefix covers depend on the skew of the data. With a filter its long prefix is the cheapest by far: hardly
//! any of the flipped prefixes exists.

use super::filter_shape::FilterShape;
use super::masks::number_of_masks;
use super::{TableForm, Timings};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) blocks: f64,
    pub(crate) keys: f64,
    /// Number of leading bits by which its keys can be searched.
    pub(crate) leading: u32,
    pub(crate) form: TableForm,
    pub(crate) width: u32,
    pub(crate) filter: Option<FilterShape>,
    /// The greatest distance of a query, in all bits.
    pub(crate) distance: u32,
}

impl Shape {
    /// Rows that a query reads: those of narrow keys whose whole leading part is within the radius, for any prefix.
    fn visited_rows(&self, radius: u32, covered: impl Fn(u32) -> f64) -> f64 {
        match self.form {
            TableForm::Narrow { lead, .. } => {
                let with_one_lead = covered(lead) * self.keys / self.blocks.max(1.0);
                (number_of_masks(lead, radius) * with_one_lead).min(self.keys)
            }
            TableForm::Full | TableForm::Rows => 0.0,
        }
    }

    /// Additional time to compare rows instead of 64-bit keys.
    fn more_nanos(&self, candidates: f64) -> f64 {
        match self.form {
            TableForm::Rows => candidates * (row_nanos(self.width) - Timings::IN_USE.key),
            TableForm::Full | TableForm::Narrow { .. } => 0.0,
        }
    }
}

/// Nanoseconds to compare one of consecutive rows.
fn row_nanos(width: u32) -> f64 {
    f64::from(width / 64) * Timings::IN_USE.row_word
}

/// The expected cost of probing a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Probing {
    pub(crate) prefix: u32,
    /// Number of leading bits that are flipped: the prefix, or those that name a line of the filter.
    pub(crate) flipped: u32,
    pub(crate) filtered: bool,
    /// Number of looked up prefixes or lines: all within the radius.
    pub(crate) probes: f64,
    /// Number of prefixes that are looked up in the index: all, or those that pass the filter.
    pub(crate) places: f64,
    pub(crate) blocks: f64,
    pub(crate) nanos: f64,
}

/// The fastest way to probe a table within `radius`. `covered` returns the blocks that the keys with one prefix of a
/// length cover.
pub(crate) fn choose(shape: Shape, radius: u32, covered: impl Fn(u32) -> f64) -> Probing {
    let visits = shape.visited_rows(radius, &covered) * Timings::IN_USE.row;
    let probing = |prefix: u32, filter: Option<FilterShape>| {
        let flipped = filter.map_or(prefix, FilterShape::flipped);
        let probes = number_of_masks(flipped, radius);
        let (exist, wrong) = match filter {
            Some(filter) => {
                let exist = (shape.keys / 2f64.powi(i32::try_from(prefix).unwrap_or(64))).min(1.0);
                (filter.wanted(radius, shape.distance) * exist, probes * filter.false_positives())
            }
            None => (probes, 0.0),
        };
        let places = exist + wrong;
        // A range begins within a block. Flips of the prefix's last bits lead to the same few blocks.
        let blocks = (exist * (1.0 + covered(prefix)) + wrong * (1.0 + covered(flipped))).min(shape.blocks);
        let filtered = filter.is_some();
        let candidates = blocks * shape.keys / shape.blocks.max(1.0);
        let nanos = nanos(filtered, probes, places, blocks, candidates) + shape.more_nanos(candidates) + visits;
        Probing { prefix, flipped, filtered, probes, places, blocks, nanos }
    };
    let filtered = shape.filter.map(|filter| probing(filter.prefix(), Some(filter)));
    let plain = (0..=shape.leading).map(|prefix| probing(prefix, None));
    filtered.into_iter().chain(plain).min_by(|a, b| a.nanos.total_cmp(&b.nanos)).unwrap_or_else(|| probing(0, None))
}

/// Time of a query with `probes` prefixes, `places` of which are looked up, and this many decoded blocks and keys.
pub(crate) fn nanos(filtered: bool, probes: f64, places: f64, blocks: f64, keys: f64) -> f64 {
    let Timings { filter, place, block, key, .. } = Timings::IN_USE;
    let asked = if filtered { probes * filter } else { 0.0 };
    asked + places * place + blocks * block + keys * key
}

/// Nanoseconds to scan the primary table.
pub(crate) fn scan_nanos(width: u32, blocks: f64, keys: f64) -> f64 {
    let key = if width <= 64 { Timings::IN_USE.key } else { row_nanos(width) };
    blocks * Timings::IN_USE.next_block + keys * key
}

/// The blocks that a prefix covers if keys are spread evenly.
pub(crate) fn evenly(blocks: f64) -> impl Fn(u32) -> f64 {
    move |prefix| blocks / 2f64.powi(i32::try_from(prefix).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(blocks: f64, leading: u32) -> Shape {
        Shape { blocks, keys: 50.0 * blocks, leading, form: TableForm::Full, width: 64, filter: None, distance: 3 }
    }

    #[test]
    fn large_tables_take_longer_prefixes_within_the_leading_part() {
        let choose = |blocks, leading, radius| choose(shape(blocks, leading), radius, evenly(blocks));
        let prefix = |blocks: f64| choose(blocks, 32, 1).prefix;
        assert!(prefix(1e3) < prefix(1e5) && prefix(1e5) < prefix(1e7));
        assert!((16..=24).contains(&prefix(2e5)), "{}", prefix(2e5));
        assert_eq!(choose(1e9, 16, 0).prefix, 16);
    }

    #[test]
    fn bits_that_never_vary_are_looked_beyond() {
        // After 12 constant bits the keys of 1,000 blocks are spread evenly.
        let covered = |prefix: u32| evenly(1000.0)(prefix.saturating_sub(12));
        let even = choose(shape(1000.0, 32), 1, evenly(1000.0));
        let skewed = choose(shape(1000.0, 32), 1, covered);
        assert!(skewed.prefix >= even.prefix + 8 && skewed.blocks < 100.0, "{even:?} {skewed:?}");
    }

    #[test]
    fn a_tiny_table_is_read_whole() {
        let tiny = choose(shape(1.0, 64), 3, evenly(1.0));
        assert_eq!((tiny.prefix, tiny.probes, tiny.blocks), (0, 1.0, 1.0));
    }

    #[test]
    fn a_filter_is_used_where_it_saves_blocks() {
        let filtered = |radius| {
            let filter = FilterShape::new(20_000_000, 32, Some(radius));
            choose(Shape { filter, ..shape(4e5, 32) }, radius, evenly(4e5))
        };
        assert!(filtered(1).filtered && filtered(1).blocks < 4.0, "{:?}", filtered(1));
        assert!(filtered(1).places < 0.1 * filtered(1).probes, "{:?}", filtered(1));
        assert!(filtered(3).nanos <= choose(shape(4e5, 32), 3, evenly(4e5)).nanos);
    }
}
