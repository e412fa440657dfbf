//! Clusters from before: which records are still in one, and which have to be looked at anew.
//!
//! What was near is still near; so those of a cluster stay together, as long as none of them is missing: it may have been what linked
//! the others. (That the record whose id is the label is there shows that the label is one.) Pairs that are not known are those with
//! a record that had no label, and those among the records of a cluster from which one is missing: the fingerprints of all of these
//! are returned, to be compared with all.
//!
//! Most labels and records were brought together by their places ([`Matching`]); the others are by their ids, both sorted. An id
//! that is among those others is not certain where it is among the first ones too: all its records are looked at anew.

use crate::bitset::Bitset;
use crate::cluster::keys::Key;
use crate::cluster::labelled::{Labelled, Unlabelled};
use crate::cluster::matching::{MEMBER, MISSING, Matching, STANDING};
use crate::cluster::order::Order;
use crate::cluster::sorted::Walk;
use crate::cluster::union_find::UnionFind;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::Progress;
use std::sync::Arc;

/// What labels from before tell.
pub(crate) struct Told<F> {
    /// The numbers of fingerprints that may be near any others.
    pub(crate) fresh: Bitset,
    /// The numbers of fingerprints whose least id is the label of their cluster, or was, if that is so of each cluster that has one that
    /// is not fresh. So the ids of all other fingerprints that are not fresh tell nothing of labels.
    pub(crate) standing: Option<Bitset>,
    /// Which label is of which record, if both came in the same order.
    pub(crate) order: Option<Arc<Order<F>>>,
    /// How many labels are of a record that is there.
    pub(crate) labels: u64,
}

/// Unites the numbers of fingerprints whose records still are clusters. After all labels; each walk over what is sorted takes so
/// many bytes of memory.
pub(crate) fn unite<F: Fingerprint, K: Key>(
    matching: Matching<F, K>,
    sets: &UnionFind,
    count: u32,
    memory: u64,
    progress: &Progress,
) -> Result<Told<F>> {
    let Matching { matched, has_rest, mut members, ids, lines, unknown, mut fresh, standing, order, .. } = matching;
    let (mut labels, mut doubted) = (matched, Bitset::new(0));
    if has_rest {
        doubted = Bitset::new(count as usize);
        let (lines, unknown, ids) = (lines.finish()?, unknown.finish()?, ids.finish()?);
        let mut matched = Walk::new(&ids, memory);
        let mut rest = Labelled::new(&lines, &unknown, memory);
        let (mut head, mut is_certain) = (0, true);
        while let Some(id) = rest.peek()? {
            while matched.next_if(|one| one.0 < id.key())?.is_some() {}
            // Where ids begin alike, none of them is certain if one is not.
            is_certain |= head != id.key();
            head = id.key();
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
    Ok(Told { fresh, standing: standing.filter(|_| is_all), order, labels })
}

/// The number of the fingerprint that an entry is about.
fn number_of(entry: u64) -> Option<u64> {
    entry.checked_sub(MEMBER).or_else(|| entry.checked_sub(STANDING))
}

/// Numbers come from 32 bits.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn index(number: u64) -> usize {
    small(number) as usize
}
