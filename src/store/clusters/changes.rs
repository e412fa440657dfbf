//! What has changed of labels from before.
//!
//! Where labels came in the order of the store, those of most records are still the same, and so are their lines in a file. A lot of
//! records none of whose labels may have changed is not read again at all. Labels may have changed of records that were looked at
//! anew, and of those of a component in which such a record is, if the label of it is not the one that its cluster had.

use super::clustering::{Among, best_of};
use super::groups::Groups;
use super::order::Order;
use super::{Clustered, Clustering, Clusters, Keeper, Label, United};
use crate::cluster::{Bitset, Numbers};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::{Output, Share, Step, ordered, pool, unpacked, visit_wanted};
use crate::store::RecordIter;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Of so many fingerprints, the labels of one may have changed at most.
const UNCHANGED: u64 = 16;
/// Lots that a thread takes at a time.
const LOTS: usize = 32;
/// Labels that are told of together, about.
const LABELS: u64 = 1 << 9;

/// What labels from before have become ([`Clusters::find_changes`]).
#[derive(Debug)]
pub enum ClusterUpdate<F: Fingerprint = u64> {
    /// Most are the same.
    Changes(ClusterChanges<F>),
    /// Nothing is known of which are.
    All(Clustering<F>),
}

/// Labels from before that are still the same, and the records that are in between.
#[derive(Debug)]
pub struct ClusterChanges<F: Fingerprint = u64> {
    clustering: Clustering<F>,
    /// How many of the segments are the store's.
    old: usize,
    order: Arc<Order>,
    /// The numbers of fingerprints the labels of whose records may have changed.
    changed: Bitset,
}

/// A part of all records and their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterChange<F: Fingerprint = u64> {
    /// Those labels from before that came as these, the first one as 0.
    Same(Range<u64>),
    /// A record that is new or whose label may be another one.
    Record(Clustered<F>),
}

/// The numbers of fingerprints the labels of whose records may have changed, and a clustering that has the labels of these: `fresh` were
/// looked at anew; of clusters from before, `standing` have the label.
pub(super) fn changed<F: Fingerprint>(
    clusters: &Clusters<F>,
    mut united: United<F>,
    fresh: &Bitset,
    standing: &Bitset,
) -> Result<(Clustering<F>, Bitset)> {
    let count = Numbers::<F>::count_of(&united.segments)?;
    let before = united.before.take();
    let segments = united.segments.clone();
    let old = segments.get(..clusters.old()?).unwrap_or_default();
    let mut touched = Bitset::new(united.components.count());
    let fresh_ones = (0..count).filter(|&number| fresh.has(number as usize));
    fresh_ones.filter_map(|number| united.components.of(number)).for_each(|one| _ = touched.insert(one));
    let telling = Bitset::of(count, |number| {
        let is_touched = || united.components.of(number).is_some_and(|component| touched.has(component));
        fresh.has(number as usize) || (standing.has(number as usize) && is_touched())
    });
    let clustering = Clustering::new(clusters, united, &Keeper::Smallest, Among::Few(&telling))?;
    let components = &clustering.components;
    let before = before.as_ref().unwrap_or(components);
    // Of clusters from before, and of fingerprints that were alone.
    let (mut renamed, mut alone) = (Bitset::new(before.count()), Bitset::new(count as usize));
    let mut compare = |fingerprint: F, number: u32| {
        let Some(component) = components.of(number).filter(|_| standing.has(number as usize)) else { return Ok(()) };
        // A record that was not labelled had no part in the label; which of the store's are such is not told apart.
        let is_known = !fresh.has(number as usize);
        let least = best_of(old, fingerprint, &Keeper::Smallest)?.0.filter(|id| !matches!(id, Id::Count(_)));
        let label = least.map_or(Label::Fingerprint(fingerprint), Label::Id);
        if !is_known || clustering.labels.of(component)? != label {
            let _ = match before.of(number) {
                Some(cluster) => renamed.insert(cluster),
                None => alone.insert(number as usize),
            };
        }
        Ok(())
    };
    visit_wanted(&clustering.segments, Share::ALL, &telling, &mut compare)?;
    let changed = Bitset::of(count, |number| {
        let is_renamed = || before.of(number).is_some_and(|cluster| renamed.has(cluster));
        fresh.has(number as usize) || alone.has(number as usize) || is_renamed()
    });
    Ok((clustering, changed))
}

impl<F: Fingerprint> ClusterChanges<F> {
    /// If few labels have changed.
    pub(super) fn new(
        clusters: &Clusters<F>,
        (clustering, changed): (Clustering<F>, Bitset),
        order: Arc<Order>,
    ) -> Result<std::result::Result<Self, United<F>>> {
        if changed.count() > changed.bound() / UNCHANGED {
            return Ok(Err(clustering.into_united()));
        }
        Ok(Ok(Self { clustering, old: clusters.old()?, order, changed }))
    }

    /// As [`Clustering::searched`].
    #[must_use]
    pub fn searched(&self) -> u64 {
        self.clustering.searched()
    }

    /// As [`Clustering::labelled`].
    #[must_use]
    pub fn labelled(&self) -> u64 {
        self.clustering.labelled()
    }

    /// Calls `sink` with what was gathered of all parts, as [`Clustering::visit`] does of records.
    ///
    /// # Errors
    /// As [`Clustering::visit`].
    pub fn visit<T: Default + Send + 'static>(
        &self,
        add: impl Fn(&mut T, ClusterChange<F>) -> ControlFlow<()> + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let lots: Vec<(Share, u64)> =
            self.order.lots().map(|(from, to, record)| (Share::new(from, to), record)).collect();
        let work = |(): &mut (), lots: &[(Share, u64)], output: &Output| {
            self.clustering.progress.check()?;
            let mut gathered = T::default();
            let mut parts = Parts {
                order: &self.order,
                same: 0..0,
                add: |part| match add(&mut gathered, part) {
                    ControlFlow::Break(()) => output.send(std::mem::take(&mut gathered)),
                    ControlFlow::Continue(()) => Ok(()),
                },
            };
            lots.iter().try_for_each(|&(share, record)| self.lot(share, record, &mut parts))?;
            parts.flush()?;
            output.send(gathered)
        };
        let tasks = lots.chunks(LOTS).collect();
        ordered(&pool()?, tasks, || (), work, &mut unpacked(sink)).map(drop)
    }

    /// Adds the records of a lot, which begins with this one.
    fn lot<A: FnMut(ClusterChange<F>) -> Step>(&self, share: Share, mut record: u64, parts: &mut Parts<'_, A>) -> Step {
        let Clustering { segments, numbers, components, .. } = &self.clustering;
        let mut has_changed = false;
        visit_wanted(segments, share, &self.changed, &mut |_: F, _| {
            has_changed = true;
            Ok(())
        })?;
        if !has_changed {
            return (record..self.order.end_of(record)).try_for_each(|record| parts.keep::<F>(record)).map(drop);
        }
        let (old, new) = segments.split_at_checked(self.old).unwrap_or_default();
        let records = |segments| RecordIter::<F>::of_share(segments, share).map(Iterator::peekable);
        let (mut old, mut new) = (records(old)?, records(new)?);
        let mut groups = Groups::new(segments, numbers, components, share)?;
        let mut ids = Vec::new();
        while let Some((fingerprint, component)) = groups.next_fingerprint()? {
            let is_changed = self.changed.has(groups.number() as usize);
            let mut label = None;
            while groups.has_more(fingerprint) {
                groups.next_ids(fingerprint, &mut ids)?;
                if is_changed && label.is_none() {
                    let more = groups.has_more(fingerprint);
                    label = Some(self.clustering.label(fingerprint, component, &ids, more)?.0);
                }
                for id in ids.drain(..) {
                    let is_next = |next: &Result<Record<F>>| {
                        next.as_ref().map_or(true, |next| next.fingerprint == fingerprint && is_same(&next.id, &id))
                    };
                    let is_new = new.next_if(is_next).transpose()?.is_some();
                    // One of the store's that is among the new ones counts as new, where there are ids.
                    let is_stored = old.next_if(is_next).transpose()?.is_some();
                    let is_old = is_stored && (!is_new || matches!(id, Id::Count(_)));
                    match &label {
                        Some(label) => {
                            let record = Record { fingerprint, id };
                            parts.add(ClusterChange::Record(Clustered { record, label: label.clone(), size: None }))?;
                        }
                        None if is_old => parts.keep::<F>(record)?,
                        None => return Err(no_label().into()),
                    }
                    record += u64::from(is_old);
                }
            }
        }
        Ok(())
    }
}

/// Whether an id is the same one, or there are none.
fn is_same(a: &Id, b: &Id) -> bool {
    matches!((a, b), (Id::Count(_), Id::Count(_))) || a == b
}

#[cold]
fn no_label() -> Error {
    Error::damaged("a record has no label")
}

/// Parts on their way to what gathers them.
struct Parts<'a, A> {
    order: &'a Order,
    /// Records that keep their labels and were not told yet, by their numbers among those that have one.
    same: Range<u64>,
    add: A,
}

impl<A> Parts<'_, A> {
    /// Adds the label that a record had.
    fn keep<F: Fingerprint>(&mut self, record: u64) -> Step
    where
        A: FnMut(ClusterChange<F>) -> Step,
    {
        let labelled = self.order.labelled(record).ok_or_else(no_label)?;
        if labelled != self.same.end || self.same.end - self.same.start >= LABELS {
            self.flush()?;
            self.same = labelled..labelled;
        }
        self.same.end += 1;
        Ok(())
    }

    fn add<F: Fingerprint>(&mut self, part: ClusterChange<F>) -> Step
    where
        A: FnMut(ClusterChange<F>) -> Step,
    {
        self.flush()?;
        (self.add)(part)
    }

    fn flush<F: Fingerprint>(&mut self) -> Step
    where
        A: FnMut(ClusterChange<F>) -> Step,
    {
        let same = std::mem::replace(&mut self.same, 0..0);
        self.order.labels(same).try_for_each(|labels| (self.add)(ClusterChange::Same(labels)))
    }
}
