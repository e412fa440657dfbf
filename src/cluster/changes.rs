//! The changes of earlier labels.
//!
//! Where labels came in the order of the store, most records keep their labels, and a file keeps their lines. Changes
//! name labels by the order in which they came. Fingerprints are read again only in chunks with a changed label, ids
//! only where a label has to be found. Records that were searched again may have another label; the others of their
//! component have another one if the component's label is not that of the earlier cluster.

use crate::bitset::Bitset;
use crate::cluster::clustering::{Among, Clustered, Clustering, United, best_of};
use crate::cluster::clusters::Clusters;
use crate::cluster::keeper::Keeper;
use crate::cluster::label_order::{Order, OrderChunk};
use crate::cluster::labels::Label;
use crate::cluster::numbers::Numbers;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::{Output, Step, ordered, visit_stored, visit_wanted};
use crate::version::Share;
use std::iter::Peekable;
use std::ops::{ControlFlow, Range};
use std::slice::Iter;
use std::sync::Arc;

/// At most one of this many fingerprints may have a changed label.
const UNCHANGED: u64 = 16;
const CHUNKS: usize = 32;
const LABELS: u64 = 1 << 10;

/// The outcome of [`Clusters::find_changes`].
#[derive(Debug)]
pub enum ClusterUpdate<F: Fingerprint = u64> {
    /// Most labels are the same.
    Changes(ClusterChanges<F>),
    /// Any label may have changed.
    All(Clustering<F>),
}

/// Earlier labels that are still the same, and the records between them.
#[derive(Debug)]
pub struct ClusterChanges<F: Fingerprint = u64> {
    clustering: Clustering<F>,
    /// Number of the store's segments, which come first.
    old: usize,
    order: Arc<Order<F>>,
    /// The numbers of fingerprints whose labels may have changed.
    changed: Bitset,
}

/// A part of all records and their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterChange<F: Fingerprint = u64> {
    /// The records of the earlier labels with these numbers, counted from 0 in the order they came. They keep their
    /// labels.
    Same(Range<u64>),
    /// The records of these earlier labels have this label now, which may be the same.
    Other(Range<u64>, Label<F>),
    /// A record that is new or had no label.
    Record(Clustered<F>),
}

/// A clustering that has the labels of the fingerprints whose labels may have changed, and the numbers of these.
/// `fresh` fingerprints were searched again; `standing` ones have the label of an earlier cluster.
pub(crate) fn changed<F: Fingerprint>(
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
    let wanted = Bitset::of(count, |number| {
        let is_touched = || united.components.of(number).is_some_and(|component| touched.has(component));
        fresh.has(number as usize) || (standing.has(number as usize) && is_touched())
    });
    let clustering = Clustering::new(clusters, united, &Keeper::Smallest, Among::Few(&wanted))?;
    let components = &clustering.components;
    let before = before.as_ref().unwrap_or(components);
    // Earlier clusters, and fingerprints that were alone.
    let (mut renamed, mut alone) = (Bitset::new(before.count()), Bitset::new(count as usize));
    let mut compare = |fingerprint: F, number: u32| {
        let Some(component) = components.of(number).filter(|_| standing.has(number as usize)) else { return Ok(()) };
        // A record without a label had no part in the label. A fresh fingerprint may have such records.
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
    visit_wanted(&clustering.segments, Share::ALL, &wanted, &mut compare)?;
    let changed = Bitset::of(count, |number| {
        let is_renamed = || before.of(number).is_some_and(|cluster| renamed.has(cluster));
        fresh.has(number as usize) || alone.has(number as usize) || is_renamed()
    });
    Ok((clustering, changed))
}

impl<F: Fingerprint> ClusterChanges<F> {
    /// Returns the components instead if many labels have changed.
    pub(crate) fn new(
        clusters: &Clusters<F>,
        (clustering, changed): (Clustering<F>, Bitset),
        order: Arc<Order<F>>,
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

    /// Calls `sink` with the values gathered from all changes, as [`Clustering::visit`] does for records.
    ///
    /// # Errors
    /// As [`Clustering::visit`].
    pub fn visit<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, ClusterChange<F>) -> ControlFlow<()> + Sync,
        mut sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let work = |(): &mut (), chunks: Range<usize>, output: &Output<_>| {
            self.clustering.progress.check()?;
            let mut gathered = T::default();
            let mut parts = Parts {
                order: &*self.order,
                same: 0..0,
                add: |part| match add(&mut gathered, part) {
                    ControlFlow::Break(()) => output.send(std::mem::take(&mut gathered)),
                    ControlFlow::Continue(()) => Ok(()),
                },
            };
            chunks.map(|at| self.order.chunk(at)).try_for_each(|chunk| self.chunk(&chunk, &mut parts))?;
            parts.flush()?;
            output.send(gathered)
        };
        let chunks = self.order.chunks();
        let tasks = (0..chunks).step_by(CHUNKS).map(|from| from..chunks.min(from + CHUNKS)).collect();
        ordered(None, &*self.clustering.executor.crew()?, tasks, || (), work, &mut sink).map(drop)
    }

    fn chunk<A: FnMut(ClusterChange<F>) -> Step>(&self, chunk: &OrderChunk, parts: &mut Parts<'_, F, A>) -> Step {
        let old = self.clustering.segments.get(..self.old).unwrap_or_default();
        let mut changed = Vec::new();
        visit_wanted(old, chunk.share, &self.changed, &mut |fingerprint: F, number| {
            changed.push((fingerprint, number));
            Ok(())
        })?;
        changed.sort_unstable();
        let mut rest = Rest {
            changes: self,
            new: self.order.new_of(chunk).iter().peekable(),
            unlabelled: self.order.unlabelled(&chunk.records).iter().peekable(),
            record: chunk.records.start,
            last: None,
        };
        if !changed.is_empty() {
            let (mut changed, mut counts) = (changed.into_iter().peekable(), self.order.counts(chunk));
            let mut result = Ok(());
            visit_stored(old, chunk.share, &mut |fingerprints: &[F]| {
                let mut each = fingerprints.iter();
                if result.is_ok() {
                    result = each.try_for_each(|&fingerprint| {
                        let now = changed.next_if(|one| one.0 == fingerprint);
                        let now = now.map(|(_, number)| self.label(fingerprint, number)).transpose()?;
                        let end = rest.record + counts.next().ok_or_else(other_records)?;
                        rest.go_to(end, now.map(|label| (fingerprint, label)), parts)
                    });
                }
            })?;
            result?;
            if changed.next().is_some() || rest.record != chunk.records.end {
                return Err(other_records().into());
            }
        }
        rest.go_to(chunk.records.end, None, parts)?;
        rest.add_new(u64::MAX, parts)
    }

    fn label(&self, fingerprint: F, number: u32) -> Result<Label<F>> {
        let component = self.clustering.components.of(number);
        // Without a component, all ids of the fingerprint are read.
        self.clustering.label(fingerprint, component, &[], true).map(|(label, _)| label)
    }
}

struct Rest<'a, F: Fingerprint> {
    changes: &'a ClusterChanges<F>,
    new: Peekable<Iter<'a, (u64, u32, Record<F>)>>,
    unlabelled: Peekable<Iter<'a, (u64, Id)>>,
    record: u64,
    /// The last fingerprint whose label was looked up, and the label.
    last: Option<(F, Label<F>)>,
}

impl<F: Fingerprint> Rest<'_, F> {
    /// Adds the records before `end`. `now` is their fingerprint and its label, if the label may have changed.
    fn go_to<A: FnMut(ClusterChange<F>) -> Step>(
        &mut self,
        end: u64,
        now: Option<(F, Label<F>)>,
        parts: &mut Parts<'_, F, A>,
    ) -> Step {
        while self.record < end {
            self.add_new(self.record, parts)?;
            let next = [self.new.peek().map(|one| one.0), self.unlabelled.peek().map(|one| one.0)];
            let to = next.into_iter().flatten().fold(end, u64::min);
            if to > self.record {
                let records = self.record..to;
                match &now {
                    Some((_, label)) => parts.relabel(records, label)?,
                    None => parts.keep(records)?,
                }
                self.record = to;
            } else if let (Some((_, id)), Some((fingerprint, label))) = (self.unlabelled.next(), &now) {
                let segments = &self.changes.clustering.segments;
                let id = match id {
                    Id::Count(_) => Id::Count(best_of(segments, *fingerprint, &Keeper::Smallest)?.1),
                    id => id.clone(),
                };
                parts.add_record(Record { fingerprint: *fingerprint, id }, label.clone())?;
                self.record += 1;
            } else {
                return Err(Error::damaged("a record has no label").into());
            }
        }
        if now.is_some() {
            self.last = now;
        }
        Ok(())
    }

    /// Adds the new records that come before old record `most`.
    fn add_new<A: FnMut(ClusterChange<F>) -> Step>(&mut self, most: u64, parts: &mut Parts<'_, F, A>) -> Step {
        while let Some((_, number, record)) = self.new.next_if(|one| one.0 <= most) {
            let fingerprint = record.fingerprint;
            let label = match self.last.take() {
                Some((last, label)) if last == fingerprint => label,
                _ => self.changes.label(fingerprint, *number)?,
            };
            parts.add_record(record.clone(), label.clone())?;
            self.last = Some((fingerprint, label));
        }
        Ok(())
    }
}

#[cold]
fn other_records() -> Error {
    Error::damaged("records are not those that came with the labels")
}

/// Joins changes before it passes them to `add`.
struct Parts<'a, F, A> {
    order: &'a Order<F>,
    /// Records that keep their labels and were not passed on yet, by their numbers among the labelled records.
    same: Range<u64>,
    add: A,
}

impl<F: Fingerprint, A: FnMut(ClusterChange<F>) -> Step> Parts<'_, F, A> {
    fn keep(&mut self, records: Range<u64>) -> Step {
        let labelled = self.labelled(&records);
        if labelled.start != self.same.end {
            self.flush()?;
            self.same = labelled;
        } else {
            self.same.end = labelled.end;
        }
        if self.same.end - self.same.start >= LABELS { self.flush() } else { Ok(()) }
    }

    fn relabel(&mut self, records: Range<u64>, label: &Label<F>) -> Step {
        self.flush()?;
        let labelled = self.labelled(&records);
        self.each(labelled, |labels| ClusterChange::Other(labels, label.clone()))
    }

    fn add_record(&mut self, record: Record<F>, label: Label<F>) -> Step {
        self.flush()?;
        (self.add)(ClusterChange::Record(Clustered { record, label, size: None }))
    }

    fn flush(&mut self) -> Step {
        let end = self.same.end;
        let same = std::mem::replace(&mut self.same, end..end);
        self.each(same, ClusterChange::Same)
    }

    /// The numbers of records among the labelled ones.
    fn labelled(&self, records: &Range<u64>) -> Range<u64> {
        let from = self.order.labelled(records.start);
        from..from + (records.end - records.start)
    }

    /// Adds a change for each range of the labels of these records.
    fn each(&mut self, labelled: Range<u64>, make: impl Fn(Range<u64>) -> ClusterChange<F>) -> Step {
        self.order.labels(labelled).try_for_each(|labels| {
            let pieces = (labels.start..labels.end).step_by(LABELS as usize);
            pieces.map(|from| from..labels.end.min(from + LABELS)).try_for_each(|piece| (self.add)(make(piece)))
        })
    }
}
