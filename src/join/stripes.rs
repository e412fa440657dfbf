//! The fingerprints of segments, read by bits that the keys of a table have behind others.
//!
//! A table has the fingerprints of each group of such bits in stripes, one for each value of the bits before them. A
//! pass for some groups reads the stripes of these, and if these are long, little more: so less memory does not mean
//! that more is decoded. And within a stripe the groups follow each other: dealing writes to one place after another.

use super::hash::Groups;
use super::merged::{MergeBuffers, MergedTables};
use super::order::Visit;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::version::Share;
use std::ops::Range;

/// Tables whose keys have the bits of the groups behind `before` others.
#[derive(Clone, Debug)]
pub(super) struct Stripes<'a, F> {
    pub(super) tables: MergedTables<'a>,
    pub(super) before: u32,
    pub(super) groups: Groups<F>,
}

impl<F: Fingerprint> Stripes<'_, F> {
    /// Visits the fingerprints of a share, in the order of the tables; those in other groups than the `wanted` ones are
    /// left out if these are groups of the stripes.
    pub(super) fn visit(
        &self,
        share: Share,
        wanted: Option<(Groups<F>, &Range<usize>)>,
        take: Visit<'_, F>,
    ) -> Result<()> {
        let mut buffers = MergeBuffers::default();
        match wanted.filter(|(groups, range)| *groups == self.groups && range.len() < groups.count()) {
            None => self.tables.visit(share, &mut buffers, take),
            Some((groups, range)) => stripes(self.before, groups.bits(), range)
                .map(|stripe| share.and(stripe))
                .filter(|stripe| !stripe.is_empty())
                .try_for_each(|stripe| self.tables.visit(stripe, &mut buffers, &mut *take)),
        }
    }
}

/// The keys whose `bits` bits behind `before` others number one of some groups, at least one: a share for each
/// value of the others.
fn stripes(before: u32, bits: u32, range: &Range<usize>) -> impl Iterator<Item = Share> {
    let (start, end) = (range.start, range.end);
    // The last bound is beyond all keys.
    let bound = move |value: u64, group: usize| ((u128::from(value) << bits) + group as u128) << (64 - before - bits);
    let stripe = move |value| Share::new(bound(value, start) as u64, u64::try_from(bound(value, end)).ok());
    (0..1 << before).map(stripe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_is_in_one_stripe_if_its_group_is_wanted(before in 0u32..8, bits in 1u32..=20, key: u64, ends: (u64, u64)) {
            let number = |end: u64| (end % ((1 << bits) + 1)) as usize;
            let range = number(ends.0).min(number(ends.1))..number(ends.0).max(number(ends.1));
            prop_assume!(!range.is_empty());
            // Also the first and the last key of a value of the first bits.
            for key in [key, key | u64::MAX >> before, key & !(u64::MAX >> before)] {
                let group = (key << before >> (64 - bits)) as usize;
                let found = stripes(before, bits, &range).filter(|stripe| stripe.has(key)).count();
                prop_assert_eq!(found, usize::from(range.contains(&group)));
            }
        }
    }
}
