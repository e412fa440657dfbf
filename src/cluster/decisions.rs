//! Decisions: the records that are kept, and the evidence on all others.

use crate::cluster::clustering::{Clustering, best_of};
use crate::cluster::groups::{Groups, records_of, shares};
use crate::cluster::keeper::Keeper;
use crate::cluster::labels::Label;
use crate::cluster::nearness::Nearness;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::keys::SketchBuffers;
use crate::join::{Output, ordered};
use crate::version::Share;
use std::ops::ControlFlow;

/// A record that is not kept, and the record that is kept in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Removed<F = u64> {
    /// The record; without ids, its fingerprint with the number of records that are not kept.
    pub record: Record<F>,
    /// The keeper of its cluster.
    pub keeper: Label<F>,
    /// The smallest id of its cluster or, without ids, the smallest fingerprint.
    pub cluster: Label<F>,
    /// How near it is to the keeper.
    pub nearness: Nearness,
}

/// What becomes of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision<F = u64> {
    /// It is kept: the label of its cluster.
    Kept(Label<F>),
    /// It is not kept.
    Removed(Removed<F>),
}

/// Records other than the keepers of their clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// All of them.
    pub records: u64,
    /// Records that are not near their keepers by the rule that links records, such as a distance: others link them.
    pub far: u64,
}

impl LeftOut {
    fn add(&mut self, records: u64, is_far: bool) {
        self.records = self.records.saturating_add(records);
        self.far = self.far.saturating_add(if is_far { records } else { 0 });
    }
}

/// What the evidence says of all records of a fingerprint.
pub(crate) struct Grounds<F> {
    pub(crate) keeper: Label<F>,
    pub(crate) cluster: Label<F>,
    /// The keeper's fingerprint.
    near: F,
    nearness: Nearness,
}

impl<F: Fingerprint> Clustering<F> {
    /// Calls `sink` with the values gathered from the labels of all clusters, in the order of the store's fingerprints,
    /// until it breaks. All threads call `add`, which breaks when a value is large enough to be passed on. Returns the
    /// number of the other records so far. Needs [`crate::clusters::Clusters::with_keepers`].
    ///
    /// # Errors
    /// `InvalidInput` if the keepers were not kept; `Damaged` or `Io` from reading; those of `sink`.
    pub fn visit_kept<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, Label<F>) -> ControlFlow<()> + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<LeftOut> {
        let add = |gathered: &mut T, decision| match decision {
            Decision::Kept(label) => add(gathered, label),
            Decision::Removed(_) => ControlFlow::Continue(()),
        };
        self.decide(false, add, sink)
    }

    /// As [`Clustering::visit_kept`], with the evidence on all other records too.
    ///
    /// # Errors
    /// As [`Clustering::visit_kept`].
    pub fn visit_decisions<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, Decision<F>) -> ControlFlow<()> + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<LeftOut> {
        self.decide(true, add, sink)
    }

    fn decide<T: Default + Send>(
        &self,
        wants_evidence: bool,
        add: impl Fn(&mut T, Decision<F>) -> ControlFlow<()> + Sync,
        mut sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<LeftOut> {
        let Some(keepers) = &self.keepers else {
            return Err(Error::invalid("the clusters were found without their keepers"));
        };
        let measures = wants_evidence || !self.measure.all_near();
        if measures {
            self.measure.count(&self.segments, &self.components, keepers)?;
        }
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            self.progress.check()?;
            let (mut part, mut ids) = ((T::default(), LeftOut::default()), Vec::new());
            let mut buffers = SketchBuffers::default();
            let decide = |part: &mut (T, LeftOut), decision| match add(&mut part.0, decision) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => output.send(std::mem::take(part)),
            };
            let mut groups = Groups::new(&self.segments, &self.numbers, &self.components, share)?;
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                groups.next_ids(fingerprint, &mut ids)?;
                let more = groups.has_more(fingerprint);
                let near = self.keeper_of(fingerprint, component).unwrap_or(fingerprint);
                let is_alone = component.is_none() && !more && records_of(&ids) == 1;
                if is_alone || !wants_evidence {
                    if near == fingerprint {
                        decide(&mut part, Decision::Kept(self.label(fingerprint, component, &ids, more)?.0))?;
                    }
                    let records = records_of(&ids).saturating_add(groups.count_rest(fingerprint)?);
                    let others = records.saturating_sub(u64::from(near == fingerprint));
                    let is_far = others > 0 && measures && {
                        let nearness = self.measure.of(groups.number(), fingerprint, near, &mut buffers)?;
                        self.measure.is_far(nearness)
                    };
                    part.1.add(others, is_far);
                    continue;
                }
                let grounds = self.grounds((groups.number(), fingerprint), component, &ids, more, &mut buffers)?;
                if near == fingerprint {
                    decide(&mut part, Decision::Kept(grounds.keeper.clone()))?;
                }
                while !ids.is_empty() {
                    for removed in ids.drain(..).filter_map(|id| grounds.removed(fingerprint, id)) {
                        part.1.add(removed.record.id.records(), self.measure.is_far(removed.nearness));
                        decide(&mut part, Decision::Removed(removed))?;
                    }
                    groups.next_ids(fingerprint, &mut ids)?;
                }
            }
            output.send(part)
        };
        let mut left = LeftOut::default();
        let mut take = |(gathered, more): (T, LeftOut)| {
            left.records = left.records.saturating_add(more.records);
            left.far = left.far.saturating_add(more.far);
            sink(gathered)
        };
        let _ = ordered(None, &*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut take)?;
        Ok(left)
    }

    /// What the evidence says of a fingerprint with its number; its ids as for [`Clustering::names`].
    pub(crate) fn grounds(
        &self,
        (number, fingerprint): (u32, F),
        component: Option<usize>,
        ids: &[Id],
        more: bool,
        buffers: &mut SketchBuffers,
    ) -> Result<Grounds<F>> {
        let (keeper, cluster) = self.names(fingerprint, component, ids, more)?;
        let near = self.keeper_of(fingerprint, component).unwrap_or(fingerprint);
        let nearness = self.measure.of(number, fingerprint, near, buffers)?;
        Ok(Grounds { keeper, cluster, near, nearness })
    }

    /// The keeper of a fingerprint's cluster and the smallest id in it. `ids` are the fingerprint's ids, or the first
    /// ones if there are `more`.
    pub(crate) fn names(
        &self,
        fingerprint: F,
        component: Option<usize>,
        ids: &[Id],
        more: bool,
    ) -> Result<(Label<F>, Label<F>)> {
        let (keeper, _) = self.label(fingerprint, component, ids, more)?;
        let named = |best: Option<Id>| match best {
            Some(id) if !matches!(id, Id::Count(_)) => Label::Id(id),
            _ => keeper.clone(),
        };
        let cluster = match (component, &self.smallest) {
            (Some(component), Some(smallest)) => smallest.of(component)?,
            (None, Some(_)) if more => named(best_of(&self.segments, fingerprint, &Keeper::Smallest)?.0),
            (None, Some(_)) => named(Keeper::Smallest.best(ids)),
            (_, None) => keeper.clone(),
        };
        Ok((keeper, cluster))
    }
}

impl<F: Fingerprint> Grounds<F> {
    /// The evidence on a record, unless it is the keeper.
    pub(crate) fn removed(&self, fingerprint: F, id: Id) -> Option<Removed<F>> {
        let is_near = fingerprint == self.near;
        let id = match id {
            Id::Count(count) => Id::Count(if is_near { count.saturating_sub(1) } else { count }),
            id => id,
        };
        if id == Id::Count(0) || is_near && matches!(&self.keeper, Label::Id(keeper) if *keeper == id) {
            return None;
        }
        let record = Record { fingerprint, id };
        let (keeper, cluster) = (self.keeper.clone(), self.cluster.clone());
        Some(Removed { record, keeper, cluster, nearness: self.nearness })
    }
}
