//! Earlier clusters: the records that are still in one, and those that are searched again.
//!
//! Near fingerprints stay near. So the records of a cluster stay together unless one is missing, which may have linked
//! the others. (A label stands for its cluster only if the record with that id is still there.) Two kinds of pairs are
//! unknown: those with a record that had no label, and those within a cluster from which a record is missing. [`unite`]
//! returns the fingerprints of these records, to be compared with all.
//!
//! [`Matching`] matched most labels and records by their places; the others are matched here by their ids, both sorted.
//! An id that is on both sides is not certain: all its records are searched again.

use crate::bitset::Bitset;
use crate::cluster::keys::Key;
use crate::cluster::label_order::Order;
use crate::cluster::match_by_id::{Labelled, Unlabelled};
use crate::cluster::match_by_place::{MEMBER, MISSING, Matching, STANDING};
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::extsort::Walk;
use crate::fingerprint::Fingerprint;
use crate::join::Progress;
use std::sync::Arc;

pub(crate) struct Known<F> {
    /// The numbers of fingerprints that may have unknown neighbours.
    pub(crate) fresh: Bitset,
    /// The numbers of fingerprints whose least id is, or was, the label of their cluster, if each cluster with a
    /// fingerprint that is not fresh has one. Then no other id can be a label but those of fresh fingerprints.
    pub(crate) standing: Option<Bitset>,
    pub(crate) order: Option<Arc<Order<F>>>,
    /// Number of labels of records that are there.
    pub(crate) labels: u64,
}

/// Notes further numbers of fingerprints whose clusters may have lost links, given those of fresh ones, and whether all
/// labels are of records that are there.
pub(crate) type Doubt<'a> = &'a dyn Fn(&Bitset, bool, &mut Bitset) -> Result<()>;

/// Unites the fingerprints that are still in one cluster, after all `given` labels were pushed. Each walk over sorted
/// items takes `memory` bytes.
pub(crate) fn unite<F: Fingerprint, K: Key>(
    matching: Matching<F, K>,
    given: u64,
    (sets, doubt): (&UnionFind, Doubt<'_>),
    memory: u64,
    progress: &Progress,
) -> Result<Known<F>> {
    let count = sets.count();
    let Matching { matched, has_rest, mut members, ids, lines, unknown, mut fresh, standing, order, .. } = matching;
    let (mut labels, mut doubted) = (matched, Bitset::new(0));
    if has_rest {
        doubted = Bitset::new(count as usize);
        let (lines, unknown, ids) = (lines.finish()?, unknown.finish()?, ids.finish()?);
        let mut matched = Walk::new(&ids, memory);
        let mut rest = Labelled::new(&lines, &unknown, memory);
        let (mut head, mut is_certain) = (0, true);
        while let Some(id) = rest.peek()? {
            while matched.next_if(|one| one.0 < id.word(0))?.is_some() {}
            // If one of several ids with the same head is not certain, none of them is.
            is_certain |= head != id.word(0);
            head = id.word(0);
            while let Some((_, number)) = matched.next_if(|one| one.0 == head)? {
                doubted.insert(index(number));
                fresh.insert(index(number));
                is_certain = false;
            }
            let mut unlabelled = |unlabelled| match unlabelled {
                Unlabelled::Number(number) => {
                    fresh.insert(index(number));
                    Ok(())
                }
                Unlabelled::Label(label) => members.push((label, MISSING)),
            };
            if let Some(one) = rest.next(is_certain, &mut unlabelled)? {
                labels += one.numbers.len() as u64;
                let kind = if one.label == one.id { STANDING } else { MEMBER };
                one.numbers.iter().try_for_each(|number| members.push((one.label, number + kind)))?;
            }
            progress.check()?;
        }
    }
    doubt(&fresh, labels == given, &mut doubted)?;
    let members = members.finish()?;
    let (mut before, mut members) = (Walk::new(&members, memory), Walk::new(&members, memory));
    while let Some((label, _)) = before.peek()? {
        let (mut standing, mut is_touched) = (0, false);
        while let Some((_, entry)) = before.next_if(|next| next.0 == label)? {
            standing += u32::from((STANDING..MEMBER).contains(&entry));
            is_touched |= number_of(entry).is_none_or(|number| doubted.has(index(number)));
        }
        let mut first: Option<u64> = None;
        while let Some((_, entry)) = members.next_if(|next| next.0 == label)? {
            let Some(number) = number_of(entry) else { continue };
            // Two clusters may have the same label if its id is on two fingerprints.
            if is_touched || standing != 1 {
                fresh.insert(index(number));
            } else {
                sets.unite(small(*first.get_or_insert(number)), small(number));
            }
        }
        progress.check()?;
    }
    let is_all = labels == matched;
    let order = (is_all && order.holds()).then(|| Arc::new(order));
    Ok(Known { fresh, standing: standing.filter(|_| is_all), order, labels })
}

fn number_of(entry: u64) -> Option<u64> {
    entry.checked_sub(MEMBER).or_else(|| entry.checked_sub(STANDING))
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn index(number: u64) -> usize {
    small(number) as usize
}
