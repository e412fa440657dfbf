//! The report on removed records: compared with the clusters by definition, for every linkage and keeper.

use crate::clusters::components;
use crate::linkage::{Cluster, chain, counted, each_kind, expected, greedy, keepers, label, sorted};
use crate::support::{Fixture, families, numbered, real};
use fpstore::clusters::{Chain, Chains, Clusters, Keeper, Label, Linkage, Nearnesses, Removed};
use fpstore::{Fingerprint, Id, IdKind, Parameters, ReadMode, Record, Store};
use std::collections::{BTreeMap, BTreeSet};

/// Clusters in a report.
const LARGEST: usize = 10;

const ALL: [Linkage; 3] = [Linkage::Single, Linkage::Star, Linkage::Complete];

/// The connected components, each with its keeper first.
fn single<F: Fingerprint>(records: &[Record<F>], k: u32, keeper: &Keeper) -> Vec<Cluster<F>> {
    let of = components(records, k);
    let mut members: BTreeMap<F, Cluster<F>> = BTreeMap::new();
    for record in sorted(records, keeper) {
        members.entry(of[&record.fingerprint]).or_default().push(record.clone());
    }
    members.into_values().collect()
}

fn count(id: &Id) -> u64 {
    if let Id::Count(count) = id { *count } else { 1 }
}

fn records_of<F>(cluster: &Cluster<F>) -> u64 {
    cluster.iter().map(|record| count(&record.id)).sum()
}

fn histogram(distances: impl Iterator<Item = (u32, u64)>, k: u32) -> Nearnesses {
    let mut all = Nearnesses::default();
    for (distance, records) in distances.filter(|one| one.1 > 0) {
        all.distances.resize(all.distances.len().max(distance as usize + 1), 0);
        all.distances[distance as usize] += records;
        all.far += if distance > k { records } else { 0 };
    }
    all
}

fn chains<F: Fingerprint>(clusters: &[Cluster<F>], components: &[Cluster<F>], k: u32) -> Chains<F> {
    let kept: BTreeSet<F> = clusters.iter().map(|cluster| cluster[0].fingerprint).collect();
    let parts = |component: &Cluster<F>| {
        let fingerprints: BTreeSet<F> = component.iter().map(|record| record.fingerprint).collect();
        fingerprints.intersection(&kept).count() as u64
    };
    let more = components.iter().flat_map(|component| {
        let keeper = component[0].fingerprint;
        let fingerprints: BTreeSet<F> = component.iter().map(|record| record.fingerprint).collect();
        assert!(kept.contains(&keeper));
        let lost = fingerprints.into_iter().filter(|one| kept.contains(one) && *one != keeper).collect::<Vec<F>>();
        lost.into_iter().map(move |one| (one.distance(keeper), 1))
    });
    let divided: Vec<&Cluster<F>> = components.iter().filter(|component| parts(component) > 1).collect();
    let first = |component: &Cluster<F>| component.iter().map(|record| record.fingerprint).min();
    let largest = divided.iter().max_by(|a, b| records_of(a).cmp(&records_of(b)).then_with(|| first(b).cmp(&first(a))));
    Chains {
        count: divided.len() as u64,
        largest: largest.map(|largest| Chain {
            keeper: label(&largest[0]),
            records: records_of(largest),
            clusters: parts(largest),
        }),
        more_removed: clusters.len() as u64 - components.len() as u64,
        nearnesses: histogram(more, k),
    }
}

/// A cluster as a report has it: labels, records, and the first records that are removed.
type Large<F> = (Label<F>, Label<F>, u64, Vec<Removed<F>>);

/// Compares reports with the definition, within plenty of memory and within the least.
fn agrees<F: Fingerprint>(store: &Store<F>, records: &[Record<F>], k: u32, linkage: Linkage, keeper: &Keeper) {
    let components = single(records, k, keeper);
    let clusters = if linkage == Linkage::Single { components.clone() } else { greedy(records, k, linkage, keeper) };
    let (removed, _) = expected(&clusters);
    let removed = histogram(removed.iter().map(|one| (one.nearness.distance().unwrap(), count(&one.record.id))), k);
    let large: Vec<Large<F>> = clusters
        .iter()
        .map(|cluster| {
            let (mut removed, labels) = expected(std::slice::from_ref(cluster));
            removed.truncate(3);
            (label(&cluster[0]), labels.keys().map(label).min().unwrap(), records_of(cluster), removed)
        })
        .collect();
    let mut sizes: Vec<u64> = large.iter().map(|one| one.2).collect();
    sizes.sort_by(|a, b| b.cmp(a));
    let of = |clusters: Clusters<F>| clusters.with_linkage(linkage).with_sizes().with_keepers().with_chains();
    for memory in [1 << 30, 0] {
        let what = format!("k = {k}, {linkage:?}, {keeper:?}");
        let clusters_of = of(store.clusters(k).unwrap());
        let memory = clusters_of.least_memory().unwrap().max(memory);
        let report = clusters_of.with_memory(memory).find(keeper).unwrap().report(LARGEST).unwrap();
        assert_eq!(report.removed, removed, "{what}");
        assert_eq!((report.clusters, report.records), (clusters.len() as u64, sizes.iter().sum()), "{what}");
        let expected = (linkage != Linkage::Single).then(|| chains(&clusters, &components, k));
        assert!(report.chains == expected, "{what}: {:?} is not {expected:?}", report.chains);
        assert!(report.largest.iter().map(|one| one.records).eq(sizes.iter().copied().take(LARGEST)), "{what}");
        for one in report.largest {
            let found = (one.label, one.smallest, one.records, one.removed);
            assert!(large.contains(&found), "{what}: {found:?}");
        }
    }
}

#[test]
fn ids_of_every_kind() {
    each_kind(&ALL, agrees);
}

#[test]
fn adversarial_shapes() {
    let cliques: Vec<u64> =
        (0..30).flat_map(|clique: u64| (0..8).map(move |member| clique << 40 | 1 << member)).collect();
    let star: Vec<u64> = std::iter::once(0).chain((0..64).map(|bit| 1 << bit)).collect();
    let long = real().into_iter().step_by(40).collect();
    let shapes = [(chain(60), 3), (cliques, 2), (star.clone(), 1), (star, 2), (families(3, 60, 4), 3), (long, 8)];
    for (fingerprints, k) in shapes {
        for order in [1, 7, 11] {
            let count = fingerprints.len() as u64;
            let mut records = numbered(&fingerprints);
            for record in &mut records {
                record.id = Id::Number(record.id.number().unwrap() * order % count);
            }
            let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 1);
            ALL.into_iter().for_each(|linkage| agrees(&store, &records, k, linkage, &Keeper::Smallest));
        }
    }
}

#[test]
fn one_fingerprint_many_times() {
    // Alone, and as the end of a chain.
    for fingerprints in [vec![7], vec![7, 0, 0x38, 0x1c0]] {
        let records: Vec<Record> = (0..10_000)
            .map(|id| Record::new(7, id + 20))
            .chain(fingerprints.into_iter().zip(0..).map(|(fingerprint, id)| Record::new(fingerprint, id)))
            .collect();
        for (kind, model) in [(IdKind::Number, records.clone()), (IdKind::None, counted(&records))] {
            let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3).with_ids(kind), &records, 1);
            for (linkage, keeper) in ALL.into_iter().flat_map(|linkage| keepers().map(|keeper| (linkage, keeper))) {
                agrees(&store, &model, 3, linkage, &keeper);
            }
        }
    }
}

#[test]
fn chains_need_the_keepers_and_the_wish() {
    let records = numbered(&chain(20));
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 1);
    let star = || store.clusters(3).unwrap().with_linkage(Linkage::Star).with_sizes();
    for clusters in [star(), star().with_chains(), star().with_keepers()] {
        let report = clusters.find(&Keeper::Smallest).unwrap().report(1).unwrap();
        assert!(report.chains.is_none());
    }
    let report = star().find(&Keeper::Smallest).unwrap().report(1).unwrap();
    assert!(report.removed == Nearnesses::default() && report.largest[0].removed.is_empty());
    let more = star().with_chains().least_memory().unwrap() - star().least_memory().unwrap();
    assert_eq!(more, 80, "four bytes a fingerprint");
}
