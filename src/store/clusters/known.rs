//! Clusters from before: which records are still in one, and which have to be looked at anew.
//!
//! Records and the labels that they had are brought together by their ids, both sorted. What was near is still near; so those of
//! a cluster stay together, as long as none of them is missing: it may have been what linked the others. (That the record whose id is
//! the label is there shows that the label is one.) Pairs that are not known are those with a record that had no label, and those among
//! the records of a cluster from which one is missing: the fingerprints of all of these are returned, to be compared with all.

use super::clustering::shares;
use super::labelled::{Labelled, Unlabelled};
use super::previous::{Key, Keys, Line};
use super::sorted::Walk;
use super::{Clusters, Label};
use crate::bulk::{Sorted, Sorter};
use crate::cluster::{Bitset, Numbers, UnionFind};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, IdKind, Record};
use crate::join::{Output, Share, ordered, pool, unpacked};
use crate::segment::{Segment, fingerprints_of};
use crate::store::RecordIter;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Records that are handed on together.
const LOT: usize = 1 << 16;
/// Instead of a number, of a cluster: a record is missing. Numbers are one more, so this comes before them.
const MISSING: u64 = 0;

/// What is needed to go on from labels.
pub(super) struct Known<'a, F: Fingerprint> {
    pub(super) clusters: &'a Clusters<F>,
    pub(super) keys: &'a Keys,
    pub(super) sets: &'a UnionFind,
    /// Bytes; a quarter of it has the labels.
    pub(super) memory: u64,
}

/// Unites the numbers of fingerprints whose records had these labels and still are clusters; returns those of all others.
pub(super) fn unite<F: Fingerprint, K: Key>(known: &Known<'_, F>, lines: &Sorted<Line<K>>) -> Result<Bitset> {
    let Known { clusters, sets, memory, .. } = *known;
    let segments = clusters.segments()?;
    let numbers = Numbers::<F>::new(&segments, 0)?;
    let (old, new) = segments.split_at(clusters.old()?);
    // Where a fingerprint is the id, one that was there before is not new.
    let is_new = |number: u64| clusters.parameters.ids() != IdKind::None || number >= fingerprints_of(old);
    let old = known.records::<K>(old, &numbers, memory / 4, &|_| true)?;
    let new = known.records::<K>(new, &numbers, memory / 8, &is_new)?;
    let labelled = || Labelled::new(lines, &old, &new, memory / 16);
    let mut fresh = Bitset::new(numbers.count() as usize);
    // What hangs on another record's label.
    let mut members: Sorter<(K, u64)> = clusters.means.workspace(memory).sorter(memory / 8);
    let mut ids = labelled();
    while let Some(one) = ids.next_labelled(&mut |unlabelled| match unlabelled {
        Unlabelled::Number(number) => {
            fresh.insert(index(number));
            Ok(())
        }
        Unlabelled::Label(label) => members.push((label, MISSING)),
    })? {
        // A record by itself, or the one that stands for its cluster, is found by its id.
        if one.label != one.id {
            one.numbers.iter().try_for_each(|number| members.push((one.label, number + 1)))?;
        }
        clusters.means.progress.check()?;
    }
    drop(ids);
    let members = members.finish()?;
    let mut members = Walk::new(&members, memory / 16);
    let mut ids = labelled();
    let mut standing = ids.next_labelled(&mut |_| Ok(()))?;
    while let Some((label, _)) = members.peek()? {
        while standing.as_ref().is_some_and(|one| one.id < label) {
            standing = ids.next_labelled(&mut |_| Ok(()))?;
        }
        let standing_here = standing.as_ref().filter(|one| one.id == label && one.label == label);
        let is_touched = members.next_if(|&next| next == (label, MISSING))?.is_some() || standing_here.is_none();
        let mut first: Option<u64> = None;
        let mut each = |number: u64| {
            if is_touched {
                fresh.insert(index(number));
            } else {
                sets.unite(small(*first.get_or_insert(number)), small(number));
            }
        };
        standing_here.into_iter().flat_map(|one| &one.numbers).for_each(|&number| each(number));
        while let Some((_, member)) = members.next_if(|next| next.0 == label)? {
            each(member - 1);
        }
        clusters.means.progress.check()?;
    }
    Ok(fresh)
}

/// Numbers come from 32 bits.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn index(number: u64) -> usize {
    small(number) as usize
}

impl<F: Fingerprint> Known<'_, F> {
    /// The keys of all records of some segments whose fingerprints have numbers that are wanted, with these.
    fn records<K: Key>(
        &self,
        segments: &[Arc<Segment>],
        numbers: &Numbers<F>,
        memory: u64,
        wanted: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Sorted<(K, u64)>> {
        let means = &self.clusters.means;
        let mut sorter = means.workspace(memory).sorter(memory);
        let work = |(): &mut (), share: Share, output: &Output| {
            means.progress.check()?;
            let mut told: Vec<(K, u64)> = Vec::new();
            let mut numbers = numbers.ascending()?;
            let mut last: Option<(F, u64)> = None;
            for record in RecordIter::of_share(segments, share)? {
                let record: Record<F> = record?;
                let number = match last {
                    Some((fingerprint, number)) if fingerprint == record.fingerprint => number,
                    _ => numbers.of(record.fingerprint)?.into(),
                };
                last = Some((record.fingerprint, number));
                if !wanted(number) {
                    continue;
                }
                let label = match record.id {
                    Id::Count(_) => Label::Fingerprint(record.fingerprint),
                    id => Label::Id(id),
                };
                told.push((self.keys.key(&label), number));
                if told.len() == LOT {
                    output.send(std::mem::take(&mut told))?;
                }
            }
            output.send(told)
        };
        let take = |told: Vec<(K, u64)>| {
            sorter.extend(&told)?;
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(&pool()?, shares(segments)?, || (), work, &mut unpacked(take))?;
        sorter.finish()
    }
}
