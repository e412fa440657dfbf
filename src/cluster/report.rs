//! A report of clusters: their sizes, and the distances within the largest.

use crate::cluster::clustering::Clustering;
use crate::cluster::groups::{Groups, shares};
use crate::cluster::labels::Label;
use crate::error::Result;
use crate::extsort::Sample;
use crate::fingerprint::Fingerprint;
use crate::join::{Output, ordered};
use crate::version::Share;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

/// Most fingerprints of a cluster that are compared in pairs; larger clusters are sampled.
const COMPARED: usize = 1 << 14;

/// Sizes and distances of clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterReport<F = u64> {
    /// Records of all clusters.
    pub records: u64,
    /// Clusters, including those of one record.
    pub clusters: u64,
    /// Records that are farther from the keeper of their cluster than the distance at which records are linked. Counted
    /// only after [`crate::cluster::clusters::Clusters::with_keepers`].
    pub far_records: u64,
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
    /// Its records.
    pub records: u64,
    /// Its distinct fingerprints.
    pub fingerprints: u64,
    /// The greatest distance of two of its fingerprints.
    pub diameter: u32,
    /// The share of its pairs of records that are farther apart than the distance, 0 to 1.
    pub far_pairs: f64,
    /// Whether diameter and share are of a sample of its fingerprints, as it has very many.
    pub sampled: bool,
}

/// A component, or a fingerprint without a component.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place<F> {
    Component(usize),
    Alone(F),
}

/// Of clusters of one fingerprint, the number of each size and the largest; of the others, the number of far records.
type Counted<F> = (BTreeMap<u64, u64>, Largest<F>, u64);

/// Clusters by size. The smallest is the first to go.
type Largest<T> = BinaryHeap<(Reverse<u64>, T)>;

impl<F: Fingerprint> Clustering<F> {
    /// Reports sizes and distances, with the `count` largest clusters. Needs
    /// [`crate::cluster::clusters::Clusters::with_sizes`].
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn report(&self, count: usize) -> Result<ClusterReport<F>> {
        let (mut by_size, alone, far_records) = self.alone(count)?;
        let sizes = self.sizes.as_deref().unwrap_or_default();
        sizes.iter().for_each(|&size| *by_size.entry(size).or_default() += 1);
        let components = sizes.iter().enumerate().map(|(one, &size)| (size, Place::Component(one)));
        let alone = alone.into_iter().map(|(Reverse(size), fingerprint)| (size, Place::Alone(fingerprint)));
        let mut largest = Largest::new();
        components.chain(alone).for_each(|(size, place)| keep(&mut largest, (Reverse(size), place), count));
        let largest = self.measured(&largest.into_sorted_vec())?;
        let records =
            by_size.iter().map(|(size, clusters)| size.saturating_mul(*clusters)).fold(0, u64::saturating_add);
        let (clusters, sizes) = (by_size.values().sum(), classes(&by_size));
        Ok(ClusterReport { records, clusters, far_records, sizes, largest })
    }

    /// Keeps the `count` largest clusters.
    fn alone(&self, count: usize) -> Result<Counted<F>> {
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            let mut groups = Groups::new(&self.segments, &self.numbers, &self.components, share)?;
            let (mut by_size, mut largest, mut far) = (BTreeMap::<u64, u64>::new(), Largest::new(), 0u64);
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                let records = groups.count_rest(fingerprint)?;
                if component.is_none() {
                    *by_size.entry(records).or_default() += 1;
                    keep(&mut largest, (Reverse(records), fingerprint), count);
                } else if self.is_far(fingerprint, component) {
                    far = far.saturating_add(records);
                }
            }
            output.send((by_size, largest, far))
        };
        let (mut by_size, mut largest, mut far) = (BTreeMap::new(), Largest::new(), 0u64);
        let mut take = |(sizes, some, more): Counted<F>| {
            far = far.saturating_add(more);
            sizes.into_iter().for_each(|(size, clusters)| *by_size.entry(size).or_default() += clusters);
            some.into_iter().for_each(|cluster| keep(&mut largest, cluster, count));
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(None, &*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut take)?;
        Ok((by_size, largest, far))
    }

    fn measured(&self, clusters: &[(Reverse<u64>, Place<F>)]) -> Result<Vec<LargeCluster<F>>> {
        let wanted: BTreeMap<usize, usize> = clusters
            .iter()
            .enumerate()
            .filter_map(
                |(number, (_, place))| if let Place::Component(one) = place { Some((*one, number)) } else { None },
            )
            .collect();
        type Members<F> = Vec<(usize, F, u64)>;
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            let mut groups = Groups::new(&self.segments, &self.numbers, &self.components, share)?;
            let mut members = Vec::new();
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                let records = groups.count_rest(fingerprint)?;
                let number = component.and_then(|component| wanted.get(&component));
                members.extend(number.map(|&number| (number, fingerprint, records)));
            }
            output.send(members)
        };
        let mut members: Vec<_> = clusters.iter().map(|_| (Sample::new(COMPARED), 0u64)).collect();
        if !wanted.is_empty() {
            let mut take = |some: Members<F>| {
                for (number, fingerprint, records) in some {
                    if let Some((sample, count)) = members.get_mut(number) {
                        sample.push((fingerprint, records));
                        *count += 1;
                    }
                }
                Ok(ControlFlow::Continue(()))
            };
            let _ = ordered(None, &*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut take)?;
        }
        let measured =
            clusters.iter().zip(members).map(|((Reverse(records), place), (mut sample, mut fingerprints))| {
                let label = match *place {
                    Place::Component(component) => self.label(F::default(), Some(component), &[], false)?.0,
                    Place::Alone(fingerprint) => {
                        sample.push((fingerprint, *records));
                        fingerprints += 1;
                        self.label(fingerprint, None, &[], true)?.0
                    }
                };
                let sample = sample.finish();
                let (diameter, far_pairs) = self.executor.run(|| Ok(spread(&sample, self.k)))?;
                let sampled = fingerprints > sample.len() as u64;
                Ok(LargeCluster { label, records: *records, fingerprints, diameter, far_pairs, sampled })
            });
        measured.collect()
    }
}

fn keep<T: Ord>(largest: &mut Largest<T>, cluster: (Reverse<u64>, T), count: usize) {
    largest.push(cluster);
    if largest.len() > count {
        largest.pop();
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

/// The diameter of fingerprints with their numbers of records, and the share of pairs of records beyond distance `k`.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn spread<F: Fingerprint>(members: &[(F, u64)], k: u32) -> (u32, f64) {
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
    (diameter, if pairs > 0.0 { far / pairs } else { 0.0 })
}
