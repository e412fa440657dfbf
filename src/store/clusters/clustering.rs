//! Clusters that were made, record by record.

use super::groups::{Groups, records_of};
use super::keeper::Keeper;
use super::labels::{Gathering, Labels};
use super::{Clusters, Label};
use crate::cluster::{Bitset, Components, Numbers};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::{Output, Share, ordered, pool, unpacked};
use crate::segment::Segment;
use crate::store::means::Progress;
use crate::store::pairs::lookup::Pieces;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::vec::IntoIter;

/// Fingerprints of a share, about.
const SHARE: u64 = 1 << 14;

/// Fingerprints that are handed on together.
const LOT: usize = 1 << 13;

/// A record and its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clustered<F = u64> {
    /// The record.
    pub record: Record<F>,
    /// What stands for its cluster.
    pub label: Label<F>,
    /// Records of its cluster, if they were counted ([`Clusters::with_sizes`]).
    pub size: Option<u64>,
}

/// The clusters of all records.
#[derive(Debug)]
pub struct Clustering<F: Fingerprint = u64> {
    pub(super) segments: Vec<Arc<Segment>>,
    pub(super) k: u32,
    pub(super) numbers: Numbers<F>,
    pub(super) components: Components,
    searched: u64,
    labels: Labels<F>,
    /// Records of each component, if they were counted.
    pub(super) sizes: Option<Vec<u64>>,
    keeper: Keeper,
    progress: Progress,
}

impl<F: Fingerprint> Clustering<F> {
    pub(super) fn new(
        clusters: &Clusters<F>,
        segments: Vec<Arc<Segment>>,
        numbers: Numbers<F>,
        components: Components,
        searched: u64,
        keeper: &Keeper,
    ) -> Result<Self> {
        let mut labels = Gathering::new(
            clusters.parameters.ids(),
            components.count(),
            keeper,
            clusters.means.workspace(clusters.means.memory / 4),
        );
        let mut sizes = clusters.sizes.then(|| vec![0u64; components.count()]);
        // What stands for each fingerprint that is not alone.
        let work = |(): &mut (), share: Share, output: &Output| {
            clusters.means.progress.check()?;
            let mut told = Vec::new();
            let mut groups = Groups::new(&segments, &numbers, &components, share)?;
            let mut ids = Vec::new();
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                let (mut records, mut best) = (0u64, None);
                while groups.has_more(fingerprint) {
                    groups.next_ids(fingerprint, &mut ids)?;
                    if component.is_some() {
                        records = records.saturating_add(records_of(&ids));
                        best = keeper.better(best, keeper.best(&ids));
                    }
                }
                told.extend(component.zip(best).map(|(component, best)| (component, fingerprint, records, best)));
                if told.len() == LOT {
                    output.send(std::mem::take(&mut told))?;
                }
            }
            output.send(told)
        };
        let shares = shares(&segments)?;
        let take = |told: Vec<(usize, F, u64, Id)>| {
            for (component, fingerprint, records, best) in told {
                labels.add(component, fingerprint, &best)?;
                if let Some(size) = sizes.as_mut().and_then(|sizes| sizes.get_mut(component)) {
                    *size = size.saturating_add(records);
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(&pool()?, shares, || (), work, &mut unpacked(take))?;
        let labels = labels.finish()?;
        Ok(Self {
            segments,
            k: clusters.k,
            numbers,
            components,
            searched,
            labels,
            sizes,
            keeper: keeper.clone(),
            progress: clusters.progress(),
        })
    }

    /// Fingerprints whose near ones were looked for: all, unless these clusters were gone on from others. One that several segments
    /// have counts several times.
    #[must_use]
    pub fn searched(&self) -> u64 {
        self.searched
    }

    /// Iterates over all records, in the order of the store: by fingerprint, then id.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading; the iterator returns further ones, and ends after the first.
    pub fn records(&self) -> Result<ClusteredIter<'_, F>> {
        ClusteredIter::new(self, Share::ALL)
    }

    /// Calls `sink` with what was gathered of all records, in the order of the store, until it breaks. `add` is called on all
    /// threads, and breaks when so much was gathered that it is to be handed on.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading; those of `sink`.
    pub fn visit<T: Default + Send + 'static>(
        &self,
        add: impl Fn(&mut T, Clustered<F>) -> ControlFlow<()> + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let work = |(): &mut (), share: Share, output: &Output| {
            self.progress.check()?;
            let mut gathered = T::default();
            for record in ClusteredIter::new(self, share)? {
                if add(&mut gathered, record?).is_break() {
                    output.send(std::mem::take(&mut gathered))?;
                }
            }
            output.send(gathered)
        };
        ordered(&pool()?, shares(&self.segments)?, || (), work, &mut unpacked(sink)).map(drop)
    }

    /// Calls `sink` with the label of each cluster, in the order in which the store has their first fingerprints, until it
    /// breaks.
    ///
    /// # Errors
    /// As [`Clustering::visit`].
    pub fn visit_labels(&self, mut sink: impl FnMut(Label<F>) -> Result<ControlFlow<()>>) -> Result<()> {
        /// A cluster of several fingerprints, or the label of another one.
        enum Told<F> {
            Component(usize),
            Alone(Label<F>),
        }
        let work = |(): &mut (), share: Share, output: &Output| {
            self.progress.check()?;
            let mut told = Vec::new();
            let mut groups = Groups::new(&self.segments, &self.numbers, &self.components, share)?;
            let mut ids = Vec::new();
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                groups.next_ids(fingerprint, &mut ids)?;
                told.push(match component {
                    Some(component) => Told::Component(component),
                    None => Told::Alone(self.label(fingerprint, None, &ids, groups.has_more(fingerprint))?.0),
                });
                groups.count_rest(fingerprint)?;
                if told.len() == LOT {
                    output.send(std::mem::take(&mut told))?;
                }
            }
            output.send(told)
        };
        let mut seen = Bitset::new(self.components.count());
        let tell = |told: Vec<Told<F>>| {
            for one in told {
                let label = match one {
                    Told::Alone(label) => label,
                    Told::Component(component) => {
                        if !seen.insert(component) {
                            continue;
                        }
                        self.labels.of(component)?
                    }
                };
                if sink(label)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        ordered(&pool()?, shares(&self.segments)?, || (), work, &mut unpacked(tell)).map(drop)
    }

    /// The label of a fingerprint's cluster, and its records if they were counted. `ids` are those of the fingerprint, or the
    /// first ones if there are `more`.
    pub(super) fn label(
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
            records = 0;
            let mut pieces = Pieces::new(&self.segments, fingerprint)?;
            while let Some(piece) = pieces.next_piece()? {
                records = records.saturating_add(records_of(&piece));
                best = self.keeper.better(best, self.keeper.best(&piece));
            }
        }
        let label = best.filter(|id| !matches!(id, Id::Count(_))).map_or(Label::Fingerprint(fingerprint), Label::Id);
        Ok((label, self.sizes.as_ref().map(|_| records)))
    }
}

/// Cuts all fingerprints into shares, for threads to take one after another.
pub(super) fn shares(segments: &[Arc<Segment>]) -> Result<Vec<Share>> {
    Share::of_size(segments, SHARE)
}

/// Iterates over records and their clusters. Ends after the first error.
#[derive(Debug)]
pub struct ClusteredIter<'a, F: Fingerprint = u64> {
    clustering: &'a Clustering<F>,
    /// None after the end.
    groups: Option<Groups<'a, F>>,
    /// The fingerprint whose ids come, its label and the size of its cluster.
    current: Option<(F, Label<F>, Option<u64>)>,
    ids: IntoIter<Id>,
}

impl<'a, F: Fingerprint> ClusteredIter<'a, F> {
    fn new(clustering: &'a Clustering<F>, share: Share) -> Result<Self> {
        let groups = Groups::new(&clustering.segments, &clustering.numbers, &clustering.components, share)?;
        Ok(Self { clustering, groups: Some(groups), current: None, ids: Vec::new().into_iter() })
    }

    fn next_record(&mut self) -> Result<Option<Clustered<F>>> {
        loop {
            if let (Some(id), Some((fingerprint, label, size))) = (self.ids.next(), &self.current) {
                let record = Record { fingerprint: *fingerprint, id };
                return Ok(Some(Clustered { record, label: label.clone(), size: *size }));
            }
            let Some(groups) = &mut self.groups else { return Ok(None) };
            let mut ids = Vec::new();
            match &self.current {
                Some((fingerprint, ..)) if groups.has_more(*fingerprint) => groups.next_ids(*fingerprint, &mut ids)?,
                _ => {
                    let Some((fingerprint, component)) = groups.next_fingerprint()? else { return Ok(None) };
                    groups.next_ids(fingerprint, &mut ids)?;
                    let more = groups.has_more(fingerprint);
                    let (label, size) = self.clustering.label(fingerprint, component, &ids, more)?;
                    self.current = Some((fingerprint, label, size));
                }
            }
            self.ids = ids.into_iter();
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
