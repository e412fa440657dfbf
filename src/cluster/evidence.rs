//! Evidence: why a record is not kept.

use crate::cluster::clustering::{Clustering, best_of};
use crate::cluster::groups::{Groups, shares};
use crate::cluster::keeper::Keeper;
use crate::cluster::labels::Label;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::{Output, ordered};
use crate::version::Share;
use std::ops::ControlFlow;

/// A record that is not kept, and the record that is kept in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed<F = u64> {
    /// The record; without ids, its fingerprint with the number of records that are not kept.
    pub record: Record<F>,
    /// The keeper of its cluster.
    pub keeper: Label<F>,
    /// The smallest id of its cluster or, without ids, the smallest fingerprint.
    pub cluster: Label<F>,
    /// Bits in which its fingerprint differs from the keeper's.
    pub distance: u32,
}

/// What the evidence says of all records of a fingerprint.
pub(crate) struct Grounds<F> {
    pub(crate) keeper: Label<F>,
    pub(crate) cluster: Label<F>,
    /// The keeper's fingerprint.
    near: F,
}

impl<F: Fingerprint> Clustering<F> {
    /// Calls `sink` with the values gathered from all records that are not kept, in the order of the store, until it
    /// breaks. All threads call `add`, which breaks when a value is large enough to be passed on. Together with the
    /// labels of [`Clustering::visit_labels`] these are all records. Needs
    /// [`crate::clusters::Clusters::with_keepers`].
    ///
    /// # Errors
    /// `InvalidInput` if the keepers were not kept; `Damaged` or `Io` from reading; those of `sink`.
    pub fn visit_removed<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, Removed<F>) -> ControlFlow<()> + Sync,
        mut sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if self.keepers.is_none() {
            return Err(Error::invalid("the clusters were found without their keepers"));
        }
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            self.progress.check()?;
            let (mut gathered, mut ids) = (T::default(), Vec::new());
            let mut groups = Groups::new(&self.segments, &self.numbers, &self.components, share)?;
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                groups.next_ids(fingerprint, &mut ids)?;
                if component.is_none() && !groups.has_more(fingerprint) && matches!(&ids[..], [id] if id.records() == 1)
                {
                    continue;
                }
                let grounds = self.grounds(fingerprint, component, &ids, groups.has_more(fingerprint))?;
                while !ids.is_empty() {
                    for id in ids.drain(..) {
                        if let Some(removed) = grounds.removed(fingerprint, id)
                            && add(&mut gathered, removed).is_break()
                        {
                            output.send(std::mem::take(&mut gathered))?;
                        }
                    }
                    groups.next_ids(fingerprint, &mut ids)?;
                }
            }
            output.send(gathered)
        };
        ordered(None, &*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut sink).map(drop)
    }

    /// `ids` are the fingerprint's ids, or the first ones if there are `more`.
    pub(crate) fn grounds(
        &self,
        fingerprint: F,
        component: Option<usize>,
        ids: &[Id],
        more: bool,
    ) -> Result<Grounds<F>> {
        let (keeper, _) = self.label(fingerprint, component, ids, more)?;
        let near = self.keeper_of(fingerprint, component).unwrap_or(fingerprint);
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
        Ok(Grounds { keeper, cluster, near })
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
        let distance = fingerprint.distance(self.near);
        let record = Record { fingerprint, id };
        Some(Removed { record, keeper: self.keeper.clone(), cluster: self.cluster.clone(), distance })
    }
}
