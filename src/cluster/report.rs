//! What clusters look like: how large they are, and how far their ends are apart.

use crate::cluster::clustering::Clustering;
use crate::cluster::groups::Groups;
use crate::cluster::labels::Label;
use crate::cluster::shares::shares;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::{Output, ordered};
use crate::version::Share;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Fingerprints of a cluster of which every two are compared; of larger clusters so many are looked at.
const COMPARED: usize = 1 << 14;

/// What clusters look like.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterReport<F = u64> {
    /// Records of all clusters.
    pub records: u64,
    /// Clusters, those of one record too.
    pub clusters: u64,
    /// Records that are farther from the one that stands for their cluster than the distance at which records are linked. Counted
    /// after [`crate::cluster::clusters::Clusters::with_keepers`] only.
    pub far_records: u64,
    /// How many there are of each size, by powers of two; those of one and of two records by themselves.
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

/// A large cluster. In one that was chained together, many pairs are beyond the distance at which records are linked.
#[derive(Clone, Debug, PartialEq)]
pub struct LargeCluster<F = u64> {
    /// What stands for it.
    pub label: Label<F>,
    /// Its records.
    pub records: u64,
    /// Its distinct fingerprints.
    pub fingerprints: u64,
    /// The greatest distance of two of its fingerprints.
    pub diameter: u32,
    /// The share of its pairs of records that are farther apart than the distance, 0 to 1.
    pub far_pairs: f64,
    /// Whether diameter and share are those of some of its fingerprints only, as it has very many.
    pub sampled: bool,
}

/// One cluster, on the way to the list of the largest: by size, then by place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place<F> {
    Component(usize),
    Alone(F),
}

/// What threads tell of clusters of one fingerprint: sizes and how often; the largest. And how many records of the others are far.
type Told<F> = (BTreeMap<u64, u64>, Vec<(u64, F)>, u64);

impl<F: Fingerprint> Clustering<F> {
    /// What the clusters look like, with the largest `count`. Records have to have been counted
    /// ([`crate::cluster::clusters::Clusters::with_sizes`]).
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn report(&self, count: usize) -> Result<ClusterReport<F>> {
        let (mut by_size, alone, far_records) = self.alone(count)?;
        let sizes = self.sizes.as_deref().unwrap_or_default();
        sizes.iter().for_each(|&size| *by_size.entry(size).or_default() += 1);
        let mut largest: Vec<(u64, Place<F>)> =
            sizes.iter().enumerate().map(|(one, &size)| (size, Place::Component(one))).collect();
        largest.extend(alone.into_iter().map(|(size, fingerprint)| (size, Place::Alone(fingerprint))));
        largest.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        largest.truncate(count);
        let largest = self.looked_at(&largest)?;
        let records =
            by_size.iter().map(|(size, clusters)| size.saturating_mul(*clusters)).fold(0, u64::saturating_add);
        let (clusters, sizes) = (by_size.values().sum(), classes(&by_size));
        Ok(ClusterReport { records, clusters, far_records, sizes, largest })
    }

    /// Of clusters of one fingerprint: how many there are of each size, and the `count` largest. Of the others, the far records.
    fn alone(&self, count: usize) -> Result<Told<F>> {
        let work = |(): &mut (), share: Share, output: &Output<_>| {
            let mut groups = Groups::new(&self.segments, &self.numbers, &self.components, share)?;
            let (mut by_size, mut largest, mut far) = (BTreeMap::<u64, u64>::new(), Vec::new(), 0u64);
            while let Some((fingerprint, component)) = groups.next_fingerprint()? {
                let records = groups.count_rest(fingerprint)?;
                if component.is_none() {
                    *by_size.entry(records).or_default() += 1;
                    largest.push((records, fingerprint));
                } else if self.is_far(fingerprint, component) {
                    far = far.saturating_add(records);
                }
            }
            output.send((by_size, keep_largest(largest, count), far))
        };
        let (mut by_size, mut largest, mut far) = (BTreeMap::new(), Vec::new(), 0u64);
        let mut take = |(sizes, mut some, more): Told<F>| {
            far = far.saturating_add(more);
            sizes.into_iter().for_each(|(size, clusters)| *by_size.entry(size).or_default() += clusters);
            largest.append(&mut some);
            largest = keep_largest(std::mem::take(&mut largest), count);
            Ok(ControlFlow::Continue(()))
        };
        let _ = ordered(&*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut take)?;
        Ok((by_size, largest, far))
    }

    /// Has a closer look at some clusters.
    fn looked_at(&self, clusters: &[(u64, Place<F>)]) -> Result<Vec<LargeCluster<F>>> {
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
        let mut members: Vec<Sample<F>> = clusters.iter().map(|_| Sample::default()).collect();
        if !wanted.is_empty() {
            let mut take = |some: Members<F>| {
                for (number, fingerprint, records) in some {
                    members.iter_mut().skip(number).take(1).for_each(|sample| sample.add(fingerprint, records));
                }
                Ok(ControlFlow::Continue(()))
            };
            let _ = ordered(&*self.executor.crew()?, shares(&self.segments)?, || (), work, &mut take)?;
        }
        let looked_at = clusters.iter().zip(members).map(|((records, place), mut sample)| {
            let label = match *place {
                Place::Component(component) => self.label(F::default(), Some(component), &[], false)?.0,
                Place::Alone(fingerprint) => {
                    sample.add(fingerprint, *records);
                    self.label(fingerprint, None, &[], true)?.0
                }
            };
            let (diameter, far_pairs) = self.executor.run(|| Ok(sample.spread(self.k)))?;
            let (fingerprints, sampled) = (sample.seen, sample.step > 1);
            Ok(LargeCluster { label, records: *records, fingerprints, diameter, far_pairs, sampled })
        });
        looked_at.collect()
    }
}

fn keep_largest<F: Fingerprint>(mut all: Vec<(u64, F)>, count: usize) -> Vec<(u64, F)> {
    all.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    all.truncate(count);
    all
}

/// Sizes by powers of two.
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

/// Some fingerprints of a cluster, with their records: all, or every second, fourth...
#[derive(Debug)]
struct Sample<F> {
    members: Vec<(F, u64)>,
    step: u64,
    seen: u64,
}

impl<F> Default for Sample<F> {
    fn default() -> Self {
        Self { members: Vec::new(), step: 1, seen: 0 }
    }
}

impl<F: Fingerprint> Sample<F> {
    fn add(&mut self, fingerprint: F, records: u64) {
        if self.seen.is_multiple_of(self.step) {
            self.members.push((fingerprint, records));
        }
        self.seen += 1;
        if self.members.len() > COMPARED {
            let mut number = 0;
            self.members.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.step *= 2;
        }
    }

    /// The diameter, and the share of pairs of records beyond distance `k`.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    fn spread(&self, k: u32) -> (u32, f64) {
        let rows = self.members.par_iter().enumerate().map(|(number, &(one, records))| {
            let (mut diameter, mut far) = (0, 0.0);
            for &(other, others) in self.members.get(number + 1..).unwrap_or_default() {
                let distance = one.distance(other);
                diameter = diameter.max(distance);
                far += if distance > k { records as f64 * others as f64 } else { 0.0 };
            }
            (diameter, far)
        });
        // The sums are of whole numbers: their order tells only beyond the fifteenth digit.
        let rows: Vec<(u32, f64)> = rows.collect();
        let far: f64 = rows.iter().map(|&(_, far)| far).sum();
        let records: f64 = self.members.iter().map(|&(_, records)| records as f64).sum();
        let pairs = records * (records - 1.0) / 2.0;
        let diameter = rows.iter().map(|&(diameter, _)| diameter).max().unwrap_or(0);
        (diameter, if pairs > 0.0 { far / pairs } else { 0.0 })
    }
}
