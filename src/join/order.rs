//! The orders in which the tables of a segment have its fingerprints.
//!
//! The fingerprints that agree in the first bits of a table's keys are neighbours there. A join by such bits reads them
//! as they come, and need not deal them.

use super::hash::Groups;
use super::mask;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::plan::{Permutation, TableForm};
use crate::segment::{Scratch, Segment, Table};
use crate::version::Share;
use std::sync::Arc;

/// The order of keys that begin with the bits from `first` on, `length` of them, all in the first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    first: u32,
    length: u32,
}

impl Order {
    /// The orders that a table of each segment has.
    pub(super) fn common<'s, F: Fingerprint>(
        mut segments: impl Iterator<Item = &'s Arc<Segment>> + Clone,
    ) -> Vec<Self> {
        let Some(segment) = segments.next() else { return Vec::new() };
        let orders = segment.tables().iter().filter(|table| is_whole::<F>(table));
        let orders = orders.filter_map(|table| Self::of(&table.layout().permutation));
        orders.filter(|order| segments.clone().all(|other| order.table::<F>(other).is_some())).collect()
    }

    fn of(permutation: &Permutation) -> Option<Self> {
        let group = permutation.groups().first().filter(|group| group.first < 64)?;
        Some(Self { first: group.first, length: group.length.min(64 - group.first) })
    }

    /// Whether keys of this permutation begin with its bits, perhaps with more.
    fn is_of(self, permutation: &Permutation) -> bool {
        Self::of(permutation).is_some_and(|order| order.first == self.first && order.length >= self.length)
    }

    pub(super) fn table<F: Fingerprint>(self, segment: &Segment) -> Option<&Table> {
        segment.tables().iter().find(|table| is_whole::<F>(table) && self.is_of(&table.layout().permutation))
    }

    /// Its first `bits` bits; `None` if it has not as many.
    pub(super) fn leading<F: Fingerprint>(self, bits: u32) -> Option<F> {
        (bits <= self.length).then(|| (self.first..self.first + bits).fold(F::default(), |mask, bit| mask.flipped(bit)))
    }

    /// The number of bits in `mask`, if they are the first ones of this order.
    pub(super) fn leads<F: Fingerprint>(self, mask: F) -> Option<u32> {
        let bits = mask::size(mask);
        (bits > 0 && self.leading(bits) == Some(mask)).then_some(bits)
    }

    /// Groups by the first `bits` bits of a mask whose bits lead this order.
    pub(super) fn groups<F: Fingerprint>(self, mask: F, bits: u32) -> Groups<F> {
        Groups::ascending(mask, self.first, bits)
    }
}

/// Whether a table has whole fingerprints.
fn is_whole<F: Fingerprint>(table: &Table) -> bool {
    matches!(table.form(), TableForm::Full | TableForm::Rows) && table.layout().permutation.width() == F::WIDTH
}

/// Replaces `out` by the fingerprints whose keys are in a share of a table with whole fingerprints, in its order.
pub(super) fn read<F: Fingerprint>(table: &Table, share: Share, scratch: &mut Scratch, out: &mut Vec<F>) -> Result<()> {
    out.clear();
    out.reserve_exact(share.at_most_of(table.index())?);
    let (permutation, mut rows) = (&table.layout().permutation, Vec::new());
    for block in share.blocks(table.index())? {
        table.prefetch_ahead(block);
        if table.form() == TableForm::Full {
            let keys = table.block(block, scratch)?;
            let keys = keys.get(share.of(keys)).unwrap_or_default();
            out.extend(keys.iter().map(|&key| F::from_words(|_| permutation.invert(key))));
        } else {
            table.fingerprints::<F>(block, scratch, &mut rows)?;
            out.extend_from_slice(rows.get(share.of(&rows)).unwrap_or_default());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Design;

    #[test]
    fn the_keys_of_an_orders_tables_begin_with_its_bits() {
        let nested = [(8, 7), (5, 4), (4, 4)].map(|(outer, inner)| Design::Nested { outer, inner });
        for design in Design::LISTED.into_iter().chain(nested) {
            let tables = design.tables(64).unwrap();
            for order in tables.iter().filter_map(|table| Order::of(&table.permutation)) {
                let found = tables.iter().find(|table| order.is_of(&table.permutation)).unwrap();
                let leading: u64 = order.leading(order.length).unwrap();
                assert!(found.permutation.apply(leading).leading_ones() >= order.length, "{design}: {order:?}");
                assert_eq!((order.leads(leading), order.leads(0u64)), (Some(order.length), None));
            }
        }
    }
}
