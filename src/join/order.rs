//! The orders in which the tables of a segment have its fingerprints.
//!
//! The fingerprints that agree in the first bits of a table's keys are neighbours there. A join by such bits reads them
//! as they come, and need not deal them.

use super::hash::Groups;
use super::mask;
use crate::fingerprint::Fingerprint;
use crate::plan::{Permutation, TableForm};
use crate::segment::{Segment, Table};
use std::sync::Arc;

/// Takes some fingerprints.
pub(crate) type Visit<'a, F> = &'a mut dyn FnMut(&[F]);

/// The order of keys that begin with the bits from `first` on, `length` of them, all in the first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    first: u32,
    length: u32,
}

impl Order {
    /// That of fingerprints themselves.
    #[cfg(test)]
    pub(super) const ASCENDING: Self = Self { first: 0, length: 64 };

    /// The orders in which the segments of each side can be read.
    pub(super) fn common<F: Fingerprint>(sides: &[&[Arc<Segment>]]) -> Vec<Self> {
        let Some(segment) = sides.iter().copied().flatten().next() else { return Vec::new() };
        let orders = segment.tables().iter().filter(|table| is_whole::<F>(table));
        let orders = orders.filter_map(|table| Self::of(&table.layout().permutation));
        orders.filter(|order| sides.iter().all(|segments| order.tables::<F>(segments).is_some())).collect()
    }

    fn of(permutation: &Permutation) -> Option<Self> {
        let group = permutation.groups().first().filter(|group| group.first < 64)?;
        Some(Self { first: group.first, length: group.length.min(64 - group.first) })
    }

    /// Whether keys of this permutation begin with its bits, perhaps with more.
    fn is_of(self, permutation: &Permutation) -> bool {
        Self::of(permutation).is_some_and(|order| order.first == self.first && order.length >= self.length)
    }

    /// A table of each segment with keys that begin with its bits, and that are permuted alike: segments of stores with
    /// other designs may have other bits behind these.
    pub(super) fn tables<'s, F: Fingerprint>(self, segments: &'s [Arc<Segment>]) -> Option<Vec<&'s Table>> {
        let of = |segment: &'s Arc<Segment>| -> Option<&'s Table> {
            segment.tables().iter().find(|table| is_whole::<F>(table) && self.is_of(&table.layout().permutation))
        };
        let tables: Vec<&Table> = segments.iter().map(of).collect::<Option<_>>()?;
        let are_alike = tables.windows(2).all(|two| match two {
            [a, b] => a.layout().permutation == b.layout().permutation,
            _ => true,
        });
        are_alike.then_some(tables)
    }

    /// Its bits from number `from` on, `count` of them; `None` if it has not as many.
    pub(super) fn bits<F: Fingerprint>(self, from: u32, count: u32) -> Option<F> {
        let first = self.first + from;
        (from + count <= self.length).then(|| (first..first + count).fold(F::default(), |mask, bit| mask.flipped(bit)))
    }

    /// The number of its first bits that are in `mask`.
    pub(super) fn leading_of<F: Fingerprint>(self, mask: F) -> u32 {
        (0..self.length).take_while(|&number| self.bits(number, 1).is_some_and(|bit| mask::meet(bit, mask))).count()
            as u32
    }

    /// The number of the first bit in `mask`, if these are neighbours in this order.
    pub(super) fn place_of<F: Fingerprint>(self, mask: F) -> Option<u32> {
        let bits = mask::size(mask);
        (0..self.length).find(|&place| bits > 0 && self.bits(place, bits) == Some(mask))
    }

    /// Whether the bits in `mask` are its first ones.
    pub(super) fn begins_with<F: Fingerprint>(self, mask: F) -> bool {
        let bits = mask::size(mask);
        bits > 0 && self.bits(0, bits) == Some(mask)
    }

    /// Groups by the first `bits` bits of a mask, whose bits are neighbours in this order from `place` on.
    pub(super) fn groups<F: Fingerprint>(self, mask: F, place: u32, bits: u32) -> Groups<F> {
        Groups::ascending(mask, self.first + place, bits)
    }
}

/// Whether a table has whole fingerprints.
fn is_whole<F: Fingerprint>(table: &Table) -> bool {
    matches!(table.form(), TableForm::Full | TableForm::Rows) && table.layout().permutation.width() == F::WIDTH
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
                let leading: u64 = order.bits(0, order.length).unwrap();
                assert!(found.permutation.apply(leading).leading_ones() >= order.length, "{design}: {order:?}");
                assert_eq!((order.place_of(leading), order.place_of(0u64)), (Some(0), None));
                assert_eq!((order.leading_of(leading), order.leading_of(!leading)), (order.length, 0));
                let second = order.bits(1, 1).unwrap();
                assert_eq!((order.place_of::<u64>(second), order.leading_of(second)), (Some(1), 0));
            }
        }
    }
}
