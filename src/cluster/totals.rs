//! One pass over all records for a report: clusters of one fingerprint, how near records are to keepers, chains.

use crate::cluster::chains::{Chain, Chains, Divided};
use crate::cluster::clustering::Clustering;
use crate::cluster::groups::{Groups, shares};
use crate::cluster::nearness::Nearnesses;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::keys::SketchBuffers;
use crate::join::{Output, ordered};
use crate::version::Share;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

/// Members of chains that a thread hands on together.
const CHUNK: usize = 1 << 13;

/// Clusters by size. The smallest is the first to go.
pub(crate) type Largest<T> = BinaryHeap<(Reverse<u64>, T)>;

#[derive(Default)]
pub(crate) struct Totals<F: Fingerprint> {
    /// Of clusters of one fingerprint, the number of each size, and the largest.
    pub(crate) by_size: BTreeMap<u64, u64>,
    pub(crate) largest: Largest<F>,
    /// How near the removed records are to their keepers, if those were kept.
    pub(crate) removed: Nearnesses,
    /// How near kept records are to the other record that single linkage keeps instead.
    kept_in_chains: Nearnesses,
}

/// A fingerprint of a chain.
struct Member {
    chain: usize,
    records: u64,
    is_keeper: bool,
}

/// Clusters and records of each chain.
struct Counts {
    clusters: Vec<u32>,
    records: Vec<u64>,
}

impl<F: Fingerprint> Clustering<F> {
    /// Keeps the `count` largest clusters of one fingerprint. Chains are counted if they were found
    /// ([`crate::clusters::Clusters::with_chains`]) and the keepers were kept.
    pub(crate) fn totals(&self, count: usize) -> Result<(Totals<F>, Option<Chains<F>>)> {
        let shared_in_chains = match (&self.divided, &self.keepers) {
            (Some(divided), Some(keepers)) => {
                let first = divided.all_first().filter_map(|cluster| keepers.get(cluster).copied());
                self.measure.shared(&self.segments, divided.components(), &first.collect::<Vec<F>>())?
            }
            _ => Vec::new(),
        };
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            self.progress.check()?;
            let mut groups = Groups::new(&self.segments, &self.numbers, &self.components, share)?;
            let (mut totals, mut members) = (Totals::default(), Vec::new());
            let mut buffers = SketchBuffers::default();
            while let Some((fingerprint, cluster)) = groups.next_fingerprint()? {
                let number = groups.number();
                let records = groups.count_rest(fingerprint)?;
                if cluster.is_none() {
                    *totals.by_size.entry(records).or_default() += 1;
                    keep(&mut totals.largest, (Reverse(records), fingerprint), count);
                }
                let Some(keeper) = self.keeper_of(fingerprint, cluster) else { continue };
                let is_keeper = keeper == fingerprint;
                let others = records.saturating_sub(is_keeper.into());
                if others > 0 {
                    let nearness = self.measure.of(number, fingerprint, keeper, &mut buffers)?;
                    totals.removed.add(nearness, others, self.measure.is_far(nearness));
                }
                if let Some((chain, first)) = self.in_chain(number) {
                    if is_keeper && first != fingerprint {
                        let one = (number, fingerprint);
                        let nearness = self.measure.with_shared(&shared_in_chains, one, first, &mut buffers)?;
                        totals.kept_in_chains.add(nearness, 1, self.measure.is_far(nearness));
                    }
                    members.push(Member { chain, records, is_keeper });
                    if members.len() == CHUNK {
                        output.send((std::mem::take(&mut totals), std::mem::take(&mut members)))?;
                    }
                }
            }
            output.send((totals, members))
        };
        let chains = self.divided.as_ref().map_or(0, Divided::count);
        let mut counts = Counts { clusters: vec![0; chains], records: vec![0; chains] };
        let mut totals = Totals::default();
        let mut take = |(more, members): (Totals<F>, Vec<Member>)| {
            totals.add(more, count);
            members.iter().for_each(|member| counts.add(member));
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(None, &*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut take)?;
        let nearnesses = std::mem::take(&mut totals.kept_in_chains);
        let divided = self.divided.as_ref().filter(|_| self.keepers.is_some());
        let chains = divided.map(|divided| self.chains(divided, &counts, nearnesses)).transpose()?;
        Ok((totals, chains))
    }

    /// The chain of a number and the fingerprint of its keeper.
    fn in_chain(&self, number: u32) -> Option<(usize, F)> {
        let divided = self.divided.as_ref()?;
        let chain = divided.component(number)?;
        Some((chain, *self.keepers.as_ref()?.get(divided.first(chain))?))
    }

    fn chains(&self, divided: &Divided, counts: &Counts, nearnesses: Nearnesses) -> Result<Chains<F>> {
        let all = counts.clusters.iter().zip(&counts.records).enumerate();
        let largest = all.max_by_key(|&(chain, (_, records))| (records, Reverse(chain)));
        let largest = largest.map(|(chain, (&clusters, &records))| {
            let keeper = self.labels.of(divided.first(chain))?;
            Ok(Chain { keeper, records, clusters: clusters.into() })
        });
        let kept: u64 = counts.clusters.iter().map(|&clusters| u64::from(clusters)).sum();
        // One of each chain stays.
        let more_removed = kept.saturating_sub(divided.count() as u64);
        Ok(Chains { count: divided.count() as u64, largest: largest.transpose()?, more_removed, nearnesses })
    }
}

impl<F: Fingerprint> Totals<F> {
    fn add(&mut self, more: Self, count: usize) {
        more.by_size.into_iter().for_each(|(size, clusters)| *self.by_size.entry(size).or_default() += clusters);
        more.largest.into_iter().for_each(|cluster| keep(&mut self.largest, cluster, count));
        self.removed.merge(more.removed);
        self.kept_in_chains.merge(more.kept_in_chains);
    }
}

impl Counts {
    fn add(&mut self, member: &Member) {
        if let Some(clusters) = self.clusters.get_mut(member.chain) {
            *clusters += u32::from(member.is_keeper);
        }
        if let Some(records) = self.records.get_mut(member.chain) {
            *records = records.saturating_add(member.records);
        }
    }
}

pub(crate) fn keep<T: Ord>(largest: &mut Largest<T>, cluster: (Reverse<u64>, T), count: usize) {
    largest.push(cluster);
    if largest.len() > count {
        largest.pop();
    }
}
