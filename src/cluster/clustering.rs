//! Finished clusters, record by record.

use crate::bitset::Bitset;
use crate::cluster::chains::Divided;
use crate::cluster::clusters::Clusters;
use crate::cluster::components::Components;
use crate::cluster::groups::{Groups, records_of, shares, visit_best};
use crate::cluster::keeper::Keeper;
use crate::cluster::labels::{Gathering, Label, Labels};
use crate::cluster::nearness::Measure;
use crate::cluster::numbers::Numbers;
use crate::error::Result;
use crate::executor::Executor;
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::{Output, Progress, ordered, visit_wanted};
use crate::segment::Segment;
use crate::version::{Pieces, Share};
use std::ops::ControlFlow;
use std::sync::Arc;

const CHUNK: usize = 1 << 13;

/// A record and its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clustered<F = u64> {
    /// The record.
    pub record: Record<F>,
    /// The label of its cluster.
    pub label: Label<F>,
    /// Records of its cluster, if they were counted ([`Clusters::with_sizes`]).
    pub size: Option<u64>,
}

pub(crate) struct United<F: Fingerprint> {
    pub(crate) segments: Vec<Arc<Segment>>,
    pub(crate) numbers: Numbers<F>,
    pub(crate) components: Components,
    /// The connected components that are several clusters, if they are wanted.
    pub(crate) divided: Option<Divided>,
    /// The earlier clusters, if there is memory for them and most may still be the same.
    pub(crate) before: Option<Components>,
    /// Fingerprints whose neighbours were searched.
    pub(crate) searched: u64,
    /// Earlier labels of records that are still there.
    pub(crate) labelled: u64,
}

/// The fingerprints whose ids may be labels.
#[derive(Clone, Copy)]
pub(crate) enum Among<'a> {
    All,
    /// The fingerprints with these numbers.
    These(&'a Bitset),
    /// The same, looked up one by one because they are few. Clusters with none of them have no label then.
    Few(&'a Bitset),
    /// The fingerprints of keepers: those with the numbers `own`, and the records of some segments that have a place in
    /// `kept` among the ids of their fingerprint, by its number.
    Kept {
        segments: &'a [Arc<Segment>],
        kept: &'a [u32],
        own: &'a Bitset,
    },
}

/// The component of a fingerprint, the number of its records, the best id if it is wanted, and the smallest one.
type Gathered<F> = (usize, F, u64, Option<Id>, Option<Id>);

/// The clusters of all records.
#[derive(Debug)]
pub struct Clustering<F: Fingerprint = u64> {
    pub(crate) segments: Vec<Arc<Segment>>,
    pub(crate) measure: Measure<F>,
    pub(crate) numbers: Numbers<F>,
    pub(crate) components: Components,
    pub(crate) divided: Option<Divided>,
    pub(crate) searched: u64,
    pub(crate) labelled: u64,
    pub(crate) overruled: u64,
    pub(crate) lost_keys: u64,
    pub(crate) labels: Labels<F>,
    pub(crate) sizes: Option<Vec<u64>>,
    /// The fingerprint of each component's keeper, if they were kept.
    pub(crate) keepers: Option<Vec<F>>,
    /// The smallest label of each component, if keepers were kept and are not the smallest.
    pub(crate) smallest: Option<Labels<F>>,
    keeper: Keeper,
    pub(crate) progress: Progress,
    pub(crate) executor: Arc<Executor>,
}

impl<F: Fingerprint> Clustering<F> {
    pub(crate) fn new(clusters: &Clusters<F>, united: United<F>, keeper: &Keeper, among: Among<'_>) -> Result<Self> {
        let United { segments, numbers, components, divided, searched, labelled, .. } = united;
        let is_smallest = matches!(keeper, Keeper::Smallest) && !matches!(among, Among::Kept { .. });
        let wants_smallest = clusters.keepers && !is_smallest;
        let parts = if wants_smallest { 8 } else { 4 };
        let gather = |keeper, wants_keepers| {
            let workspace = clusters.job.workspace(clusters.job.memory / parts);
            Gathering::new(clusters.parameters.ids(), components.count(), keeper, wants_keepers, workspace)
        };
        let mut labels = gather(keeper, clusters.keepers);
        let mut smallest = wants_smallest.then(|| gather(&Keeper::Smallest, false));
        let mut sizes = clusters.sizes.then(|| vec![0u64; components.count()]);
        // The best id of each fingerprint that is not alone.
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            clusters.job.progress.check()?;
            let mut found = Vec::new();
            let mut groups = Groups::new(&segments, &numbers, &components, share)?;
            let mut ids = Vec::new();
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                let (mut records, mut best, mut least) = (0u64, None, None);
                let is_wanted = match among {
                    Among::These(wanted) | Among::Kept { own: wanted, .. } => wanted.has(groups.number() as usize),
                    _ => true,
                };
                while groups.has_more(fingerprint) {
                    groups.next_ids(fingerprint, &mut ids)?;
                    keeper.ask(&ids);
                    if component.is_some() && (is_wanted || wants_smallest) {
                        records = records.saturating_add(records_of(&ids));
                        if is_wanted {
                            best = keeper.better(best, keeper.best(&ids));
                        }
                        if wants_smallest {
                            least = Keeper::Smallest.better(least, Keeper::Smallest.best(&ids));
                        }
                    }
                }
                if let Some(component) = component.filter(|_| records > 0) {
                    found.push((component, fingerprint, records, best, least));
                }
                if found.len() == CHUNK {
                    output.send(std::mem::take(&mut found))?;
                }
            }
            output.send(found)
        };
        let shares = shares(&segments)?;
        let mut take = |found: Vec<Gathered<F>>| {
            for (component, fingerprint, records, best, least) in found {
                best.map_or(Ok(()), |best| labels.add(component, fingerprint, &best))?;
                if let Some((smallest, least)) = smallest.as_mut().zip(least) {
                    smallest.add(component, fingerprint, &least)?;
                }
                if let Some(size) = sizes.as_mut().and_then(|sizes| sizes.get_mut(component)) {
                    *size = size.saturating_add(records);
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        match among {
            Among::Few(wanted) => {
                let mut add = |fingerprint: F, number| {
                    let Some(one) = components.of(number) else { return Ok(()) };
                    let best = best_of(&segments, fingerprint, keeper)?.0;
                    best.map_or(Ok(()), |id| labels.add(one, fingerprint, &id))
                };
                visit_wanted(&segments, Share::ALL, wanted, &mut add)?;
            }
            _ => ordered(None, &*clusters.job.executor.crew()?, shares, || (), work, &mut take).map(drop)?,
        }
        if let Among::Kept { segments, kept, .. } = among {
            let is_wanted = |number: u32| {
                components.of(number).is_some() && kept.get(number as usize).is_some_and(|&place| place != u32::MAX)
            };
            let mut add = |fingerprint, number, id: &_| {
                components.of(number).map_or(Ok(()), |component| labels.add(component, fingerprint, id))
            };
            visit_best(&clusters.job, (segments, &numbers), is_wanted, keeper, Some(kept), &mut add)?;
        }
        let (labels, keepers) = labels.finish()?;
        let smallest = smallest.map(|smallest| Ok(smallest.finish()?.0)).transpose()?;
        let measure = clusters.measure()?;
        Ok(Self {
            executor: Arc::clone(&clusters.job.executor),
            segments,
            measure,
            numbers,
            components,
            divided,
            searched,
            labelled,
            overruled: 0,
            lost_keys: 0,
            labels,
            sizes,
            keepers,
            smallest,
            keeper: keeper.clone(),
            progress: clusters.progress(),
        })
    }

    /// Labels clusters by their smallest ids instead of their keepers', if the keepers were kept
    /// ([`Clusters::with_keepers`]).
    #[must_use]
    pub fn labelled_by_smallest(mut self) -> Self {
        if let Some(smallest) = self.smallest.take() {
            (self.labels, self.keeper) = (smallest, Keeper::Smallest);
        }
        self
    }

    pub(crate) fn into_united(self) -> United<F> {
        let Self { segments, numbers, components, divided, searched, labelled, .. } = self;
        United { segments, numbers, components, divided, before: None, searched, labelled }
    }

    /// Fingerprints whose neighbours were searched: all, unless the clusters continue earlier ones. A fingerprint in
    /// several segments counts several times.
    #[must_use]
    pub fn searched(&self) -> u64 {
        self.searched
    }

    /// Earlier labels of old records that are still there and not among the new ones too ([`Clusters::find_from`]).
    #[must_use]
    pub fn labelled(&self) -> u64 {
        self.labelled
    }

    /// New records that have priority over the earlier keepers that removed them ([`Clusters::find_from_removals`]): in
    /// a search of all, they or others might be kept instead.
    #[must_use]
    pub fn overruled(&self) -> u64 {
        self.overruled
    }

    /// Keys of a key index that several earlier records share and that no longer count, because with the new records
    /// too many have them ([`Clusters::find_from_removals`]): in a search of all, other records might be kept.
    #[must_use]
    pub fn lost_keys(&self) -> u64 {
        self.lost_keys
    }

    /// Iterates over all records, in the order of the store: by fingerprint, then id.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading; the iterator returns further ones, and ends after the first.
    pub fn records(&self) -> Result<ClusteredIter<'_, F>> {
        ClusteredIter::new(self, Share::ALL)
    }

    /// Calls `sink` with the values gathered from all records, in the order of the store, until it breaks. All threads
    /// call `add`, which breaks when a value is large enough to be passed on.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading; those of `sink`.
    pub fn visit<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, Clustered<F>) -> ControlFlow<()> + Sync,
        mut sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            self.progress.check()?;
            let mut gathered = T::default();
            for record in ClusteredIter::new(self, share)? {
                if add(&mut gathered, record?).is_break() {
                    output.send(std::mem::take(&mut gathered))?;
                }
            }
            output.send(gathered)
        };
        ordered(None, &*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut sink).map(drop)
    }

    /// The fingerprint of the keeper of a fingerprint's cluster, if keepers were kept.
    pub(crate) fn keeper_of(&self, fingerprint: F, component: Option<usize>) -> Option<F> {
        let keepers = self.keepers.as_ref()?;
        component.map_or(Some(fingerprint), |component| keepers.get(component).copied())
    }

    /// The label of a fingerprint's cluster, and the number of its records if they were counted. `ids` are the
    /// fingerprint's ids, or the first ones if there are `more`.
    pub(crate) fn label(
        &self,
        fingerprint: F,
        component: Option<usize>,
        ids: &[Id],
        more: bool,
    ) -> Result<(Label<F>, Option<u64>)> {
        if let Some(component) = component {
            let size = self.sizes.as_ref().map(|sizes| sizes.get(component).copied().unwrap_or(0));
            return Ok((self.labels.of(component)?, size));
        }
        let (mut best, mut records) = (self.keeper.best(ids), records_of(ids));
        if more {
            (best, records) = best_of(&self.segments, fingerprint, &self.keeper)?;
        }
        let label = best.filter(|id| !matches!(id, Id::Count(_))).map_or(Label::Fingerprint(fingerprint), Label::Id);
        Ok((label, self.sizes.as_ref().map(|_| records)))
    }
}

/// The best of a fingerprint's ids, and the number of its records.
pub(crate) fn best_of<F: Fingerprint>(
    segments: &[Arc<Segment>],
    fingerprint: F,
    keeper: &Keeper,
) -> Result<(Option<Id>, u64)> {
    let (mut best, mut records) = (None, 0u64);
    let mut pieces = Pieces::new(segments, fingerprint)?;
    while let Some(piece) = pieces.next_piece()? {
        records = records.saturating_add(records_of(&piece));
        best = keeper.better(best, keeper.best(&piece));
    }
    Ok((best, records))
}

/// Iterates over records and their clusters. Ends after the first error.
#[derive(Debug)]
pub struct ClusteredIter<'a, F: Fingerprint = u64> {
    clustering: &'a Clustering<F>,
    groups: Option<Groups<'a, F>>,
    /// The fingerprint of `ids`, its label and the size of its cluster.
    current: Option<(F, Label<F>, Option<u64>)>,
    /// Its next ids, the next one last.
    ids: Vec<Id>,
}

impl<'a, F: Fingerprint> ClusteredIter<'a, F> {
    fn new(clustering: &'a Clustering<F>, share: Share) -> Result<Self> {
        let groups = Groups::new(&clustering.segments, &clustering.numbers, &clustering.components, share)?;
        Ok(Self { clustering, groups: Some(groups), current: None, ids: Vec::new() })
    }

    fn next_record(&mut self) -> Result<Option<Clustered<F>>> {
        loop {
            if let (Some(id), Some((fingerprint, label, size))) = (self.ids.pop(), &self.current) {
                let record = Record { fingerprint: *fingerprint, id };
                return Ok(Some(Clustered { record, label: label.clone(), size: *size }));
            }
            let Some(groups) = &mut self.groups else { return Ok(None) };
            let ids = &mut self.ids;
            match &self.current {
                Some((fingerprint, ..)) if groups.has_more(*fingerprint) => groups.next_ids(*fingerprint, ids)?,
                _ => {
                    let Some((fingerprint, component)) = groups.next_fingerprint()? else { return Ok(None) };
                    groups.next_ids(fingerprint, ids)?;
                    let more = groups.has_more(fingerprint);
                    let (label, size) = self.clustering.label(fingerprint, component, ids, more)?;
                    self.current = Some((fingerprint, label, size));
                }
            }
            ids.reverse();
        }
    }
}

impl<F: Fingerprint> Iterator for ClusteredIter<'_, F> {
    type Item = Result<Clustered<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_record().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.groups = None;
            self.current = None;
        }
        next
    }
}
