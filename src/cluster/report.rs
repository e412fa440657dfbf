//! A report of clusters: their sizes, what they remove, and the distances of fingerprints within the largest.

use crate::cluster::chains::Chains;
use crate::cluster::clustering::Clustering;
use crate::cluster::decisions::Removed;
use crate::cluster::groups::{Groups, records_of, shares};
use crate::cluster::labels::Label;
use crate::cluster::nearness::{Measure, Nearnesses};
use crate::cluster::totals::{Largest, keep};
use crate::error::Result;
use crate::extsort::Sample;
use crate::fingerprint::Fingerprint;
use crate::join::keys::SketchBuffers;
use crate::join::{Output, ordered};
use crate::version::Share;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Most fingerprints of a cluster that are compared in pairs; larger clusters are sampled.
const COMPARED: usize = 1 << 14;
/// Members that a thread hands on together.
const CHUNK: usize = 1 << 13;
/// Samples of removed records of a cluster.
const SAMPLES: usize = 3;

/// Sizes and distances of clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterReport<F = u64> {
    /// Records of all clusters.
    pub records: u64,
    /// Clusters, including those of one record.
    pub clusters: u64,
    /// Number of records other than the keepers by how near they are to the keeper of their cluster. Counted only after
    /// [`crate::cluster::clusters::Clusters::with_keepers`].
    pub removed: Nearnesses,
    /// The connected components that are divided, if they were found
    /// ([`crate::cluster::clusters::Clusters::with_chains`]) and the keepers were kept.
    pub chains: Option<Chains<F>>,
    /// Clusters by size: 1, 2, 3 to 4, 5 to 8 records and so on.
    pub sizes: Vec<SizeClass>,
    /// The largest ones, largest first.
    pub largest: Vec<LargeCluster<F>>,
}

/// The clusters of about the same size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeClass {
    /// Least number of records.
    pub from: u64,
    /// Greatest number of records.
    pub to: u64,
    /// Number of clusters.
    pub clusters: u64,
    /// Number of their records.
    pub records: u64,
}

/// A large cluster. If it is a chain, many pairs are beyond the distance at which records are linked.
#[derive(Clone, Debug, PartialEq)]
pub struct LargeCluster<F = u64> {
    /// Its label.
    pub label: Label<F>,
    /// Its smallest id or fingerprint, if the keepers were kept; otherwise its label.
    pub smallest: Label<F>,
    /// Its records.
    pub records: u64,
    /// Its distinct fingerprints.
    pub fingerprints: u64,
    /// How far apart its fingerprints are; nothing in a key index.
    pub spread: Option<Spread>,
    /// The first three of its records other than the keeper, in the order of the store, if the keepers were kept.
    pub removed: Vec<Removed<F>>,
}

/// Distances within a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The greatest distance of two of its fingerprints.
    pub diameter: u32,
    /// The share of its pairs of records that are farther apart than the distance at which records are linked, 0 to 1.
    pub far_pairs: f64,
    /// Whether diameter and share are of a sample of its fingerprints, as it has very many.
    pub sampled: bool,
}

/// A fingerprint of one of the largest clusters, with samples of its removed records.
struct Member<F> {
    number: usize,
    fingerprint: F,
    records: u64,
    removed: Vec<Removed<F>>,
}

/// A component, or a fingerprint without a component.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place<F> {
    Component(usize),
    Alone(F),
}

impl<F: Fingerprint> Clustering<F> {
    /// Reports sizes and how near records are, with the `count` largest clusters. Needs
    /// [`crate::cluster::clusters::Clusters::with_sizes`].
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading, or from temporary files.
    pub fn report(&self, count: usize) -> Result<ClusterReport<F>> {
        if let Some(keepers) = &self.keepers {
            self.measure.count(&self.segments, &self.components, keepers)?;
        }
        let (totals, chains) = self.totals(count)?;
        let (mut by_size, removed) = (totals.by_size, totals.removed);
        let sizes = self.sizes.as_deref().unwrap_or_default();
        sizes.iter().for_each(|&size| *by_size.entry(size).or_default() += 1);
        let components = sizes.iter().enumerate().map(|(one, &size)| (size, Place::Component(one)));
        let alone = totals.largest.into_iter().map(|(Reverse(size), fingerprint)| (size, Place::Alone(fingerprint)));
        let mut largest = Largest::new();
        components.chain(alone).for_each(|(size, place)| keep(&mut largest, (Reverse(size), place), count));
        let largest = self.measured(&largest.into_sorted_vec())?;
        let records =
            by_size.iter().map(|(size, clusters)| size.saturating_mul(*clusters)).fold(0, u64::saturating_add);
        let (clusters, sizes) = (by_size.values().sum(), classes(&by_size));
        Ok(ClusterReport { records, clusters, removed, chains, sizes, largest })
    }

    fn measured(&self, clusters: &[(Reverse<u64>, Place<F>)]) -> Result<Vec<LargeCluster<F>>> {
        if clusters.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: BTreeMap<&Place<F>, usize> = clusters.iter().map(|(_, place)| place).zip(0..).collect();
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            self.progress.check()?;
            let mut groups = Groups::new(&self.segments, &self.numbers, &self.components, share)?;
            let (mut members, mut ids, mut buffers) = (Vec::new(), Vec::new(), SketchBuffers::default());
            let mut samples: Vec<usize> = vec![0; clusters.len()];
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                let place = component.map_or(Place::Alone(fingerprint), Place::Component);
                let Some(&number) = wanted.get(&place) else {
                    groups.count_rest(fingerprint)?;
                    continue;
                };
                groups.next_ids(fingerprint, &mut ids)?;
                let (mut removed, mut records) = (Vec::new(), records_of(&ids));
                if let Some(samples) = samples.get_mut(number).filter(|samples| **samples < SAMPLES)
                    && self.keepers.is_some()
                {
                    let more = groups.has_more(fingerprint);
                    let grounds = self.grounds((groups.number(), fingerprint), component, &ids, more, &mut buffers)?;
                    let all = ids.drain(..).filter_map(|id| grounds.removed(fingerprint, id));
                    removed.extend(all.take(SAMPLES - *samples));
                    *samples += removed.len();
                }
                records = records.saturating_add(groups.count_rest(fingerprint)?);
                members.push(Member { number, fingerprint, records, removed });
                if members.len() == CHUNK {
                    output.send(std::mem::take(&mut members))?;
                }
            }
            output.send(members)
        };
        let mut found: Vec<_> = clusters.iter().map(|_| (Sample::new(COMPARED), 0u64, Vec::new())).collect();
        let mut take = |members: Vec<Member<F>>| {
            for Member { number, fingerprint, records, removed } in members {
                if let Some((sample, count, samples)) = found.get_mut(number) {
                    sample.push((fingerprint, records));
                    *count += 1;
                    samples.extend(removed.into_iter().take(SAMPLES - samples.len()));
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(None, &*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut take)?;
        let measured =
            clusters.iter().zip(found).map(|((Reverse(records), place), (sample, fingerprints, removed))| {
                let (label, smallest) = match *place {
                    Place::Component(component) => self.names(F::default(), Some(component), &[], false)?,
                    Place::Alone(fingerprint) => self.names(fingerprint, None, &[], true)?,
                };
                let sample = sample.finish();
                let spread = match self.measure {
                    Measure::Distance { k } => {
                        let sampled = fingerprints > sample.len() as u64;
                        Some(Spread { sampled, ..self.executor.run(|| Ok(spread(&sample, k)))? })
                    }
                    Measure::Linked { .. } => None,
                };
                Ok(LargeCluster { label, smallest, records: *records, fingerprints, spread, removed })
            });
        measured.collect()
    }
}

fn classes(by_size: &BTreeMap<u64, u64>) -> Vec<SizeClass> {
    let mut classes: BTreeMap<u64, SizeClass> = BTreeMap::new();
    for (&size, &clusters) in by_size {
        // 1, 2, 3 to 4, 5 to 8 and so on.
        let to = size.checked_next_power_of_two().unwrap_or(u64::MAX);
        let class = classes.entry(to).or_default();
        (class.from, class.to) = (to / 2 + 1, to);
        class.clusters += clusters;
        class.records = class.records.saturating_add(size.saturating_mul(clusters));
    }
    classes.into_values().collect()
}

/// The spread of fingerprints with their numbers of records, where records are linked at distance `k`.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn spread<F: Fingerprint>(members: &[(F, u64)], k: u32) -> Spread {
    let rows = members.par_iter().enumerate().map(|(number, &(one, records))| {
        let (mut diameter, mut far) = (0, 0.0);
        for &(other, others) in members.get(number + 1..).unwrap_or_default() {
            let distance = one.distance(other);
            diameter = diameter.max(distance);
            far += if distance > k { records as f64 * others as f64 } else { 0.0 };
        }
        (diameter, far)
    });
    // Sums of whole numbers: their order matters only beyond the fifteenth digit.
    let rows: Vec<(u32, f64)> = rows.collect();
    let far: f64 = rows.iter().map(|&(_, far)| far).sum();
    let records: f64 = members.iter().map(|&(_, records)| records as f64).sum();
    let pairs = records * (records - 1.0) / 2.0;
    let diameter = rows.iter().map(|&(diameter, _)| diameter).max().unwrap_or(0);
    Spread { diameter, far_pairs: if pairs > 0.0 { far / pairs } else { 0.0 }, sampled: false }
}
