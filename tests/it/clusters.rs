//! Clusters: the connected components of brute force, with the expected labels, sizes and keepers.

use crate::linkage::kept_of;
use crate::support::{Fixture, Random, families, gathered, numbered, real};
use fpstore::clusters::{Clustered, Keeper, Label, Spread};
use fpstore::{ErrorKind, Fingerprint, Id, IdKind, Parameters, ReadMode, Record, Result, Store, U256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// For each distinct fingerprint the smallest one of its component.
pub(crate) fn components<F: Fingerprint>(records: &[Record<F>], k: u32) -> BTreeMap<F, F> {
    let all: Vec<F> = records.iter().map(|record| record.fingerprint).collect::<BTreeSet<F>>().into_iter().collect();
    let mut of: Vec<usize> = (0..all.len()).collect();
    fn root(of: &[usize], mut one: usize) -> usize {
        while of[one] != one {
            one = of[one];
        }
        one
    }
    for a in 0..all.len() {
        for b in a + 1..all.len() {
            if all[a].distance(all[b]) <= k {
                let (a, b) = (root(&of, a), root(&of, b));
                of[a.max(b)] = a.min(b);
            }
        }
    }
    (0..all.len()).map(|one| (all[one], all[root(&of, one)])).collect()
}

/// Every record with its label and the size of its cluster, in the order of the store.
pub(crate) fn expected<F: Fingerprint>(
    records: &[Record<F>],
    k: u32,
    label: impl Fn(&[&Record<F>]) -> Label<F>,
) -> Vec<Clustered<F>> {
    let of = components(records, k);
    let records: BTreeSet<&Record<F>> = records.iter().collect();
    let mut members: BTreeMap<F, Vec<&Record<F>>> = BTreeMap::new();
    records.iter().for_each(|record| members.entry(of[&record.fingerprint]).or_default().push(record));
    let clustered = records.iter().map(|&record| {
        let members = &members[&of[&record.fingerprint]];
        Clustered { record: record.clone(), label: label(members), size: Some(members.len() as u64) }
    });
    clustered.collect()
}

fn found<F: Fingerprint>(store: &Store<F>, k: u32, keeper: &Keeper) -> Vec<Clustered<F>> {
    let clustering = store.clusters(k).unwrap().with_sizes().find(keeper).unwrap();
    let all: Vec<Clustered<F>> = clustering.records().unwrap().map(Result::unwrap).collect();
    let (visited, ()) = gathered(|add, sink| clustering.visit(add, sink));
    assert!(visited == all, "visiting and iterating differ");
    let with_keepers = store.clusters(k).unwrap().with_keepers().find(keeper).unwrap();
    let (labels, left) = kept_of(&with_keepers);
    // Two clusters may have the same label if two fingerprints share an id.
    let count = clustering.report(0).unwrap().clusters;
    assert_eq!(labels.len() as u64, count);
    assert_eq!(count + left.records, clustering.report(0).unwrap().records);
    let sets = [labels, all.iter().map(|one| one.label.clone()).collect::<Vec<_>>()];
    let [labels, expected] = sets.map(|labels| labels.into_iter().collect::<BTreeSet<Label<F>>>());
    assert_eq!(labels, expected);
    all
}

/// Some thousand records in families; many share a fingerprint and many share an id.
pub(crate) fn crowded(id: impl Fn(u64) -> Id) -> Vec<Record> {
    let fingerprints = families(150, 12, 9);
    let mut random = Random(10);
    let mut record = |_| {
        let fingerprint = fingerprints[random.below(fingerprints.len() as u64) as usize];
        Record { fingerprint, id: id(random.below(3000)) }
    };
    (0..3000).map(&mut record).collect()
}

pub(crate) fn text(number: u64) -> Id {
    Id::Text(format!("https://example.org/{}", number * 7919 % 1000).into())
}

/// A rank for about every third id.
fn rank(id: &Id) -> Option<u64> {
    let hash = id.to_string().bytes().fold(7u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    (hash % 3 == 0).then_some(hash % 1009)
}

#[test]
fn every_keeper_with_ids_of_every_kind() {
    for (kind, records) in [(IdKind::Number, crowded(Id::Number)), (IdKind::Text, crowded(text))] {
        for segments in [1, 3] {
            let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3).with_ids(kind), &records, segments);
            let ids = |members: &[&Record]| members.iter().map(|record| record.id.clone()).collect::<BTreeSet<Id>>();
            let smallest = |members: &[&Record]| Label::Id(ids(members).pop_first().unwrap());
            let largest = |members: &[&Record]| Label::Id(ids(members).pop_last().unwrap());
            let ranked = |members: &[&Record]| {
                let best = ids(members).into_iter().min_by_key(|id| rank(id).unwrap_or(u64::MAX));
                Label::Id(best.unwrap())
            };
            for k in [0, 1, 3] {
                assert!(
                    found(&store, k, &Keeper::Smallest) == expected(&records, k, smallest),
                    "{kind} {segments} {k}"
                );
                assert!(found(&store, k, &Keeper::Largest) == expected(&records, k, largest), "{kind} {segments} {k}");
            }
            let keeper = Keeper::Ranked(Arc::new(rank));
            assert!(found(&store, 3, &keeper) == expected(&records, 3, ranked), "{kind} {segments}");
        }
    }
}

#[test]
fn without_ids_fingerprints_stand_for_clusters() {
    let records = crowded(Id::Number);
    let of = components(&records, 3);
    for segments in [1, 3] {
        let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3).with_ids(IdKind::None), &records, segments);
        let labels = found(&store, 3, &Keeper::Smallest);
        assert_eq!(labels.len(), of.len());
        for one in labels {
            let least = of[&one.record.fingerprint];
            assert_eq!(one.label, Label::Fingerprint(least));
            let size = records.iter().filter(|record| of[&record.fingerprint] == least).count();
            assert_eq!(one.size, Some(size as u64));
        }
    }
}

#[test]
fn of_wide_fingerprints() {
    let mut random = Random(4);
    let mut fingerprints: Vec<U256> = Vec::new();
    for _ in 0..60 {
        let centre = U256::from_words(|_| random.next());
        let member = |random: &mut Random| {
            (0..random.below(25)).fold(centre, |member, _| member.flipped(random.below(256) as u32))
        };
        fingerprints.extend((0..8).map(|_| member(&mut random)));
    }
    let records = numbered(&fingerprints);
    let store = Fixture::new(ReadMode::Mmap).load_wide(&Parameters::new(31).with_width(256), &records, 2);
    let smallest = |members: &[&Record<U256>]| Label::Id(members.iter().map(|record| record.id.clone()).min().unwrap());
    assert!(found(&store, 31, &Keeper::Smallest) == expected(&records, 31, smallest));
}

#[test]
fn the_real_set_has_the_clusters_that_others_counted() {
    let records = numbered(&real());
    let mut before = None;
    for (segments, memory) in [(1, 1 << 30), (3, 17 << 20)] {
        let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, segments);
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let clusters = store.clusters(3).unwrap().with_memory(memory).with_sizes();
            let clustering = pool.install(|| clusters.find(&Keeper::Smallest)).unwrap();
            let all: Vec<_> = clustering.records().unwrap().map(Result::unwrap).collect();
            let labels: BTreeSet<Label> = all.iter().map(|one| one.label.clone()).collect();
            assert_eq!((all.len(), labels.len()), (85_364, 15_104));
            let report = clustering.report(3).unwrap();
            assert_eq!((report.records, report.clusters), (85_364, 15_104));
            assert_eq!(report.clusters - report.sizes[0].clusters, 8_908);
            assert_eq!(report.largest[0].records, 387);
            let all = (all, report);
            assert!(before.is_none_or(|before| before == all), "{segments} {threads}");
            before = Some(all);
        }
    }
}

#[test]
fn reports_make_chains_visible() {
    // Thirty fingerprints, each two bits from the one before: the ends differ in 58. One separate fingerprint with five
    // records; and six single records.
    let chain = (0..30u64).map(|number| (1u64 << (2 * number)) - 1);
    let repeated = [0xaaaa_aaaa_aaaa_aaaa; 5];
    let alone = (0..6u64).map(|number| 0x5555_0000_5555_0000 ^ 0xfff << (number * 8));
    let fingerprints: Vec<u64> = chain.chain(repeated).chain(alone).collect();
    let records = numbered(&fingerprints);
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 2);
    let report = store.clusters(3).unwrap().with_sizes().find(&Keeper::Smallest).unwrap().report(2).unwrap();
    assert_eq!((report.records, report.clusters), (41, 8));
    let classes: Vec<_> = report.sizes.iter().map(|one| (one.from, one.to, one.clusters, one.records)).collect();
    assert_eq!(classes, [(1, 1, 6, 6), (5, 8, 1, 5), (17, 32, 1, 30)]);
    let [large, next] = &report.largest[..] else { panic!("{report:?}") };
    let spread = large.spread.unwrap();
    assert_eq!((large.records, large.fingerprints, spread.diameter, spread.sampled), (30, 30, 58, false));
    let far = (0..30u32).flat_map(|a| (a + 1..30).map(move |b| b - a)).filter(|&steps| 2 * steps > 3).count();
    assert!((spread.far_pairs - far as f64 / 435.0).abs() < 1e-9, "{}", spread.far_pairs);
    assert_eq!((&large.label, &next.label), (&Label::Id(Id::Number(0)), &Label::Id(Id::Number(30))));
    assert_eq!((next.records, next.fingerprints), (5, 1));
    assert_eq!(next.spread, Some(Spread { diameter: 0, far_pairs: 0.0, sampled: false }));
}

#[test]
fn nothing_alone_and_one_with_very_many_records() {
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &[], 1);
    assert_eq!(found(&store, 3, &Keeper::Smallest), []);
    assert_eq!(store.clusters(65).unwrap_err().kind(), ErrorKind::InvalidInput);
    let records: Vec<Record> = (0..20_000).map(|id| Record::new(7, 50_000 - id)).collect();
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, 2);
    for (keeper, label) in [(Keeper::Smallest, 30_001), (Keeper::Largest, 50_000)] {
        let all = found(&store, 3, &keeper);
        assert_eq!(all.len(), 20_000);
        assert!(all.iter().all(|one| one.label == Label::Id(Id::Number(label)) && one.size == Some(20_000)));
    }
}

#[test]
fn too_little_memory_is_said_before_anything_is_done() {
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &numbered(&real()), 1);
    let error = store.clusters(3).unwrap().with_memory(1 << 20).find(&Keeper::Smallest).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("MiB of memory at least"), "{error}");
}

#[test]
fn work_that_was_told_to_stop_is_no_result() {
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &numbered(&real()), 1);
    let clusters = store.clusters(3).unwrap();
    clusters.progress().stop();
    assert_eq!(clusters.find(&Keeper::Smallest).unwrap_err().kind(), ErrorKind::Stopped);
    let pairs = store.pairs(3).unwrap();
    pairs.progress().stop();
    let last = pairs.records().unwrap().last().unwrap();
    assert_eq!(last.unwrap_err().kind(), ErrorKind::Stopped);
}
