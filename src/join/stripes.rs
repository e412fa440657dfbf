//! Dealing by bits that follow the first ones of a table's keys.
//!
//! A table has the fingerprints of each group of such bits in stripes, one for each value of the bits before them. A
//! pass for some groups reads the stripes of these alone, so less memory does not mean that all is decoded more often.
//! And within a stripe the groups follow each other: dealing writes to one place after another.

use super::hash::Groups;
use super::order::{Visit, visit};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::segment::{Scratch, Table};
use crate::version::Share;
use std::ops::Range;

/// A table whose keys have the bits of the groups behind `before` others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stripes<'a, F> {
    pub(super) table: &'a Table,
    pub(super) before: u32,
    pub(super) groups: Groups<F>,
}

impl<F: Fingerprint> Stripes<'_, F> {
    /// Visits the fingerprints of a share, in the order of the table; those in other groups than the `wanted` ones are
    /// left out if these are groups of the stripes.
    pub(super) fn visit(
        &self,
        share: Share,
        wanted: Option<(Groups<F>, &Range<usize>)>,
        take: Visit<'_, F>,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        match wanted.filter(|(groups, range)| *groups == self.groups && range.len() < groups.count()) {
            None => visit(self.table, share, &mut scratch, take),
            Some((_, range)) => {
                self.of(share, range).try_for_each(|stripe| visit(self.table, stripe, &mut scratch, &mut *take))
            }
        }
    }

    /// The stripes of some groups in a share.
    fn of(&self, share: Share, range: &Range<usize>) -> impl Iterator<Item = Share> {
        let (before, bits) = (self.before, self.groups.bits());
        // Bounds are numbers of the first bits and those of the groups; the last one may be beyond all keys.
        let bound = move |value: u64, group: usize| {
            let number = (u128::from(value) << bits) + group as u128;
            u64::try_from(number << (64 - before - bits)).ok()
        };
        let range = range.clone();
        let stripe = move |value| Share::new(bound(value, range.start).unwrap_or(u64::MAX), bound(value, range.end));
        (0..1 << before).map(move |value| share.and(stripe(value))).filter(|stripe| !stripe.is_empty())
    }
}
