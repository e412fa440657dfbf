//! Star and complete linkage: compared with the greedy definition on all pairs, for every keeper and kind of ids.

use crate::clusters::{crowded, text};
use crate::support::{Fixture, Random, families, gathered, numbered, real, wide};
use fpstore::clusters::{Clustering, Decision, Keeper, Label, LeftOut, Linkage, Nearness, Removed};
use fpstore::{ErrorKind, Fingerprint, Id, IdKind, Parameters, ReadMode, Record, Result, Store, U256};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A cluster, its keeper first.
pub(crate) type Cluster<F> = Vec<Record<F>>;

/// `Less` if `a` comes before `b`.
pub(crate) fn by_priority<F: Fingerprint>(a: &Record<F>, b: &Record<F>, keeper: &Keeper) -> Ordering {
    let is_counted = matches!(a.id, Id::Count(_));
    let rank = |id: &Id| if let Keeper::Ranked(rank) = keeper { rank(id).unwrap_or(u64::MAX) } else { 0 };
    let by_id = if is_counted { a.fingerprint.cmp(&b.fingerprint) } else { a.id.cmp(&b.id) };
    let by_id = if matches!(keeper, Keeper::Largest) { by_id.reverse() } else { by_id };
    (if is_counted { by_id } else { rank(&a.id).cmp(&rank(&b.id)).then(by_id) }).then(a.fingerprint.cmp(&b.fingerprint))
}

/// The distinct records by priority.
pub(crate) fn sorted<'a, F: Fingerprint>(records: &'a [Record<F>], keeper: &Keeper) -> Vec<&'a Record<F>> {
    let mut records: Vec<&Record<F>> = records.iter().collect::<BTreeSet<_>>().into_iter().collect();
    records.sort_by(|a, b| by_priority(a, b, keeper));
    records
}

/// The clusters by definition: records by priority, one after the other.
pub(crate) fn greedy<F: Fingerprint>(
    records: &[Record<F>],
    k: u32,
    linkage: Linkage,
    keeper: &Keeper,
) -> Vec<Cluster<F>> {
    let mut clusters: Vec<Cluster<F>> = Vec::new();
    for record in sorted(records, keeper) {
        let is_near = |member: &Record<F>| member.fingerprint.distance(record.fingerprint) <= k;
        let joined = clusters.iter_mut().find(|cluster| match linkage {
            Linkage::Complete => cluster.iter().all(is_near),
            _ => is_near(&cluster[0]),
        });
        match joined {
            Some(cluster) => cluster.push(record.clone()),
            None => clusters.push(vec![record.clone()]),
        }
    }
    clusters
}

pub(crate) fn label<F: Fingerprint>(record: &Record<F>) -> Label<F> {
    match &record.id {
        Id::Count(_) => Label::Fingerprint(record.fingerprint),
        id => Label::Id(id.clone()),
    }
}

/// The label of every record.
pub(crate) type LabelOf<F> = BTreeMap<Record<F>, Label<F>>;

/// Evidence and labels as the greedy clusters have them.
pub(crate) fn expected<F: Fingerprint>(clusters: &[Cluster<F>]) -> (Vec<Removed<F>>, LabelOf<F>) {
    let (mut removed, mut labels) = (Vec::new(), BTreeMap::new());
    for cluster in clusters {
        let keeper = &cluster[0];
        let smallest = cluster.iter().map(label).min().unwrap();
        for record in cluster {
            labels.insert(record.clone(), label(keeper));
            let left = match (&record.id, record == keeper) {
                (Id::Count(1), true) => continue,
                (Id::Count(count), true) => Id::Count(count - 1),
                (_, true) => continue,
                (id, false) => id.clone(),
            };
            removed.push(Removed {
                record: Record { fingerprint: record.fingerprint, id: left },
                keeper: label(keeper),
                cluster: smallest.clone(),
                nearness: Nearness::Distance(record.fingerprint.distance(keeper.fingerprint)),
            });
        }
    }
    removed.sort_by(|a, b| a.record.cmp(&b.record));
    (removed, labels)
}

/// The labels of all clusters, the evidence on all other records, and the number of these.
pub(crate) fn decisions<F: Fingerprint>(clustering: &Clustering<F>) -> (Vec<Label<F>>, Vec<Removed<F>>, LeftOut) {
    let (decisions, left) = gathered(|add, sink| clustering.visit_decisions(add, sink));
    let (mut kept, mut removed) = (Vec::new(), Vec::new());
    for one in decisions {
        match one {
            Decision::Kept(label) => kept.push(label),
            Decision::Removed(one) => removed.push(one),
        }
    }
    assert!(kept_of(clustering) == (kept.clone(), left), "with and without evidence");
    (kept, removed, left)
}

pub(crate) fn evidence<F: Fingerprint>(clustering: &Clustering<F>) -> Vec<Removed<F>> {
    decisions(clustering).1
}

/// The labels of all clusters without evidence.
pub(crate) fn kept_of<F: Fingerprint>(clustering: &Clustering<F>) -> (Vec<Label<F>>, LeftOut) {
    gathered(|add, sink| clustering.visit_kept(add, sink))
}

/// Compares labels, evidence and kept records with the definition, within plenty of memory and within the least.
fn agrees<F: Fingerprint>(store: &Store<F>, records: &[Record<F>], k: u32, linkage: Linkage, keeper: &Keeper) {
    agrees_within(&[1 << 30, 0], store, records, k, linkage, keeper);
}

/// The same within at least these bytes of memory.
fn agrees_within<F: Fingerprint>(
    memories: &[u64],
    store: &Store<F>,
    records: &[Record<F>],
    k: u32,
    linkage: Linkage,
    keeper: &Keeper,
) {
    let clusters = greedy(records, k, linkage, keeper);
    let (removed, labels) = expected(&clusters);
    for &memory in memories {
        let clusters_of = store.clusters(k).unwrap().with_linkage(linkage).with_keepers();
        let memory = clusters_of.least_memory().unwrap().max(memory);
        let clustering = clusters_of.with_memory(memory).find(keeper).unwrap();
        let found: LabelOf<F> =
            clustering.records().unwrap().map(Result::unwrap).map(|one| (one.record, one.label)).collect();
        assert!(found == labels, "labels, k = {k}, {linkage:?}, {keeper:?}");
        let (kept, evidence, left) = decisions(&clustering);
        assert!(evidence == removed, "evidence, k = {k}, {linkage:?}, {keeper:?}");
        let mut keepers: Vec<&Record<F>> = clusters.iter().map(|cluster| &cluster[0]).collect();
        keepers.sort();
        assert!(kept == keepers.into_iter().map(label).collect::<Vec<_>>(), "kept, k = {k}, {linkage:?}, {keeper:?}");
        assert_eq!(
            left.records,
            removed.iter().map(|one| if let Id::Count(count) = one.record.id { count } else { 1 }).sum::<u64>()
        );
        assert_eq!(left.far, 0, "every removed record is near its keeper");
    }
}

/// A rank for about every third id; many ids share one.
fn rank(id: &Id) -> Option<u64> {
    let hash = id.to_string().bytes().fold(7u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    (hash % 3 == 0).then_some(hash % 109)
}

pub(crate) fn keepers() -> [Keeper; 3] {
    [Keeper::Smallest, Keeper::Largest, Keeper::Ranked(Arc::new(rank))]
}

const BOTH: [Linkage; 2] = [Linkage::Star, Linkage::Complete];

/// The records as a store without ids has them.
pub(crate) fn counted(records: &[Record]) -> Vec<Record> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    records.iter().for_each(|record| *counts.entry(record.fingerprint).or_default() += 1);
    counts.into_iter().map(|(fingerprint, count)| Record { fingerprint, id: Id::Count(count) }).collect()
}

/// Compares stores of ids of every kind, of one and of three segments, with the definition, for every keeper.
pub(crate) fn each_kind(linkages: &[Linkage], agrees: impl Fn(&Store, &[Record], u32, Linkage, &Keeper)) {
    for kind in [IdKind::Number, IdKind::Text, IdKind::None] {
        let records: Vec<Record> = crowded(if kind == IdKind::Text { text } else { Id::Number });
        let distinct: Vec<Record> = records.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect();
        let model = if kind == IdKind::None { counted(&distinct) } else { distinct.clone() };
        for segments in [1, 3] {
            let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3).with_ids(kind), &distinct, segments);
            for (&linkage, keeper) in linkages.iter().flat_map(|linkage| keepers().map(|keeper| (linkage, keeper))) {
                for k in [0, 1, 3] {
                    agrees(&store, &model, k, linkage, &keeper);
                }
            }
        }
    }
}

#[test]
fn ids_of_every_kind_in_one_and_three_segments() {
    each_kind(&BOTH, agrees);
}

/// More pairs than the memory for them holds: they are read back in pieces of any length.
#[test]
fn pairs_that_go_to_a_file() {
    let mut fingerprints: Vec<u64> = Vec::new();
    for family in 0..2500_u64 {
        let base = family.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        fingerprints.extend((0..12).map(|member| base ^ 1 << (5 * member)));
    }
    let records = numbered(&fingerprints);
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 1);
    let threads = std::thread::available_parallelism().unwrap().get() as u64;
    let memories = [45, 53, 60, 71].map(|mib| (mib << 20) * threads + 12_345 * mib);
    agrees_within(&memories, &store, &records, 2, Linkage::Star, &Keeper::Smallest);
}

#[test]
fn real_and_wide_fingerprints() {
    let records = numbered(&real().into_iter().step_by(9).collect::<Vec<u64>>());
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 1);
    for linkage in BOTH {
        agrees(&store, &records, 3, linkage, &Keeper::Smallest);
        agrees(&store, &records, 6, linkage, &Keeper::Largest);
    }
    let mut random = Random(5);
    let mut members = wide::<U256>(40, 8);
    for number in 0..600 {
        members.push(members[number].flipped(random.below(256) as u32));
    }
    let records = numbered(&members);
    let store = Fixture::new(ReadMode::Mmap).load_wide(&Parameters::new(3).with_width(256), &records, 2);
    for linkage in BOTH {
        agrees(&store, &records, 3, linkage, &Keeper::Largest);
    }
}

/// Fingerprints of which each is three bits from the one before, and farther from all others.
pub(crate) fn chain(links: usize) -> Vec<u64> {
    let mut random = Random(3);
    let (mut next, mut recent) = (random.next(), Vec::new());
    let mut link = || {
        let link = next;
        for _ in 0..3 {
            // A bit that five steps have not flipped: nearby links do not come back.
            let bit = std::iter::repeat_with(|| random.below(64)).find(|bit| !recent.contains(bit)).unwrap();
            next ^= 1 << bit;
            recent.push(bit);
        }
        recent.drain(..recent.len().saturating_sub(15));
        link
    };
    (0..links).map(|_| link()).collect()
}

#[test]
fn adversarial_shapes() {
    let one_way = chain(20);
    let cliques: Vec<u64> =
        (0..30).flat_map(|clique: u64| (0..8).map(move |member| clique << 40 | 1 << member)).collect();
    let star: Vec<u64> = std::iter::once(0).chain((0..64).map(|bit| 1 << bit)).collect();
    for (fingerprints, k) in [(one_way, 3), (cliques, 2), (star.clone(), 1), (star, 2), (families(3, 60, 4), 3)] {
        for order in [1, 7, 11] {
            let count = fingerprints.len() as u64;
            let id = |number: usize| Id::Number(number as u64 * order % count);
            let records: Vec<Record> = fingerprints
                .iter()
                .enumerate()
                .map(|(number, &fingerprint)| Record { fingerprint, id: id(number) })
                .collect();
            let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 1);
            for linkage in BOTH {
                agrees(&store, &records, k, linkage, &Keeper::Smallest);
            }
        }
    }
}

#[test]
fn a_chain_of_ten_thousand_links_keeps_every_second_record() {
    let records: Vec<Record> = chain(10_000).into_iter().zip(0..).map(|(one, id)| Record::new(one, id)).collect();
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 1);
    let clustering =
        store.clusters(3).unwrap().with_linkage(Linkage::Star).with_keepers().find(&Keeper::Smallest).unwrap();
    let (removed, _) = expected(&greedy(&records, 3, Linkage::Star, &Keeper::Smallest));
    assert!(removed.len() == 5000 && evidence(&clustering) == removed);
}

#[test]
fn a_million_records_with_one_fingerprint_are_one_star() {
    let records: Vec<Record> = (0..1_000_000).map(|id| Record::new(7, id)).chain([Record::new(6, 2_000_000)]).collect();
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 1);
    for linkage in BOTH {
        let clusters = store.clusters(3).unwrap().with_linkage(linkage).with_keepers();
        let clustering = clusters.find(&Keeper::Largest).unwrap();
        let add = |sums: &mut (u64, u64), decision: Decision| {
            let Decision::Removed(one) = decision else { return ControlFlow::Continue(()) };
            assert_eq!((&one.keeper, &one.cluster), (&Label::Id(Id::Number(2_000_000)), &Label::Id(Id::Number(0))));
            (sums.0, sums.1) = (sums.0 + 1, sums.1 + u64::from(one.nearness.distance().unwrap()));
            ControlFlow::Continue(())
        };
        let (mut removed, mut distances) = (0, 0);
        let sink = |some: (u64, u64)| {
            (removed, distances) = (removed + some.0, distances + some.1);
            Ok(ControlFlow::Continue(()))
        };
        clustering.visit_decisions(add, sink).unwrap();
        assert_eq!((removed, distances), (1_000_000, 1_000_000));
    }
}

#[test]
fn a_star_of_a_million_records_with_many_fingerprints() {
    // All fingerprints of up to three of 48 bits. Zero has the first id.
    let triples = (0..48).flat_map(|c| (0..=c).flat_map(move |b| (0..=b).map(move |a| 1u64 << a | 1 << b | 1 << c)));
    let leaves: BTreeSet<u64> = triples.collect();
    let ids = (1_000_000 / leaves.len()) as u64 + 1;
    let records =
        leaves.iter().zip(0..).flat_map(|(&leaf, at)| (1..=ids).map(move |id| Record::new(leaf, at * ids + id)));
    let records: Vec<Record> = [Record::new(0, 0)].into_iter().chain(records).collect();
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 1);
    let clusters = store.clusters(3).unwrap().with_linkage(Linkage::Star).with_keepers();
    let (kept, mut removed, _) = decisions(&clusters.find(&Keeper::Smallest).unwrap());
    let center = Label::Id(Id::Number(0));
    assert_eq!(kept, std::slice::from_ref(&center));
    let is_right = |one: &Removed| {
        one.nearness == Nearness::Distance(one.record.fingerprint.count_ones()) && one.cluster == center
    };
    assert!(removed.iter().all(|one| is_right(one) && one.keeper == center));
    removed.sort_by(|a, b| a.record.id.cmp(&b.record.id));
    assert!(removed.iter().map(|one| &one.record).eq(&records[1..]));
}

#[test]
fn earlier_labels_are_of_single_linkage() {
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &numbered(&[1u64, 2]), 1);
    let clusters = store.clusters(3).unwrap().with_linkage(Linkage::Star);
    let error = clusters.find_from(clusters.previous().unwrap(), &Keeper::Smallest).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let clustering = clusters.find(&Keeper::Smallest).unwrap();
    let error =
        clustering.visit_decisions(|(): &mut (), _| ControlFlow::Continue(()), |()| Ok(ControlFlow::Continue(())));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput);
}
