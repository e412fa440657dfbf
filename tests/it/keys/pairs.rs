//! Pairs and clusters of a key index equal those of comparing all records.

use super::model::*;
use crate::linkage::decisions;
use fpstore::clusters::{Clusters, Keeper, Label, Linkage, Nearness};
use fpstore::keys::{KeyPair, KeyRule, jaccard};
use fpstore::{Filters, Id, IdKind, KeyFormat, KeyIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// What makes a pair, and the rule that says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) min_shared: u64,
    pub(super) min_jaccard: f64,
    pub(super) most: Option<u64>,
}

impl Wanted {
    pub(super) fn rule(self) -> KeyRule {
        let rule = KeyRule::new().with_min_shared(self.min_shared).with_min_jaccard(self.min_jaccard);
        self.most.map_or(rule, |most| rule.with_max_key_frequency(most))
    }
}

/// All pairs, and the number of keys that are too frequent.
pub(super) fn pairs_of(model: &Model, wanted: Wanted) -> (Vec<KeyPair>, u64) {
    let mut of_key: BTreeMap<u64, Vec<&Id>> = BTreeMap::new();
    for (id, keys) in model.keys() {
        keys.iter().for_each(|key| of_key.entry(*key).or_default().push(id));
    }
    let frequent = |ids: &Vec<&Id>| wanted.most.is_some_and(|most| ids.len() as u64 > most);
    let skipped = of_key.values().filter(|ids| frequent(ids)).count() as u64;
    let mut shared: BTreeMap<(&Id, &Id), u64> = BTreeMap::new();
    for ids in of_key.values().filter(|ids| !frequent(ids)) {
        for (at, b) in ids.iter().enumerate() {
            ids[..at].iter().for_each(|a| *shared.entry((a, b)).or_default() += 1);
        }
    }
    let mut pairs = Vec::new();
    for ((a, b), shared) in shared {
        let sketch = |id| &model.records[id].sketch;
        let similar = (model.format.sketch_bits() > 0).then(|| jaccard(model.format, sketch(a), sketch(b)));
        if shared >= wanted.min_shared && similar.is_none_or(|similar| similar >= wanted.min_jaccard) {
            pairs.push(KeyPair { a: a.clone(), b: b.clone(), shared, jaccard: similar });
        }
    }
    (pairs, skipped)
}

fn found(index: &KeyIndex, wanted: Wanted, memory: u64) -> (Vec<KeyPair>, u64) {
    let mut found = Vec::new();
    let pairs = index.pairs(wanted.rule()).unwrap().with_memory(memory);
    let skipped = pairs
        .visit(|pair| {
            found.push(pair);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    found.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
    (found, skipped)
}

/// The label of each record by connected components: the smallest id.
pub(super) fn components(model: &Model, pairs: &[KeyPair]) -> BTreeMap<Id, Id> {
    let mut labels: BTreeMap<Id, Id> = model.records.keys().map(|id| (id.clone(), id.clone())).collect();
    loop {
        let mut changed = false;
        for pair in pairs {
            let least = labels[&pair.a].clone().min(labels[&pair.b].clone());
            for id in [&pair.a, &pair.b] {
                changed |= labels.insert(id.clone(), least.clone()).is_some_and(|before| before != least);
            }
        }
        if !changed {
            return labels;
        }
    }
}

/// The keeper of each record by star linkage: the smallest ids come first.
pub(super) fn stars(model: &Model, pairs: &[KeyPair]) -> BTreeMap<Id, Id> {
    let mut near: BTreeMap<&Id, BTreeSet<&Id>> = BTreeMap::new();
    for pair in pairs {
        near.entry(&pair.b).or_default().insert(&pair.a);
    }
    let mut keepers: BTreeMap<Id, Id> = BTreeMap::new();
    for id in model.records.keys() {
        let kept = near.get(id).into_iter().flatten().find(|other| keepers[**other] == ***other);
        keepers.insert(id.clone(), kept.map_or(id, |kept| kept).clone());
    }
    keepers
}

pub(super) fn labels(index: &KeyIndex, wanted: Wanted, linkage: Linkage) -> BTreeMap<Id, Id> {
    labels_of(&index.clusters(wanted.rule()).unwrap(), linkage)
}

pub(super) fn labels_of(clusters: &Clusters, linkage: Linkage) -> BTreeMap<Id, Id> {
    let clusters = clusters.clone().with_linkage(linkage).with_memory(64 << 20);
    let clustering = clusters.find(&Keeper::Smallest).unwrap();
    let label = |one: fpstore::clusters::Clustered| match one.label {
        Label::Id(id) => (one.record.id, id),
        other => panic!("{other:?}"),
    };
    clustering.records().unwrap().map(|one| label(one.unwrap())).collect()
}

/// The keys that two records share, but for too frequent ones, and their estimated similarity.
pub(super) fn nearness(model: &Model, wanted: Wanted, a: &Id, b: &Id) -> Nearness {
    let count = |key: &u64| model.keys().values().filter(|keys| keys.contains(key)).count() as u64;
    let shared =
        model.keys()[a].intersection(&model.keys()[b]).filter(|key| wanted.most.is_none_or(|most| count(key) <= most));
    let sketch = |id| &model.records[id].sketch;
    let similar = (model.format.sketch_bits() > 0).then(|| jaccard(model.format, sketch(a), sketch(b)));
    Nearness::Keys { shared: shared.count() as u64, jaccard: similar }
}

/// Each record is kept or removed, and the evidence says why; the largest id of a cluster is kept.
pub(super) fn check_evidence(index: &KeyIndex, model: &Model, wanted: Wanted, linkage: Linkage) {
    let clusters = index.clusters(wanted.rule()).unwrap().with_linkage(linkage).with_memory(64 << 20);
    let clustering = clusters.with_keepers().find(&Keeper::Largest).unwrap();
    let (kept, removed, left) = decisions(&clustering);
    let labels: BTreeMap<Id, Label> =
        clustering.records().unwrap().map(|one| one.unwrap()).map(|one| (one.record.id, one.label)).collect();
    let keepers: BTreeSet<&Label> = labels.values().collect();
    assert_eq!(kept.iter().collect::<BTreeSet<_>>(), keepers);
    assert_eq!((kept.len(), kept.len() + removed.len()), (keepers.len(), labels.len()), "{wanted:?} {linkage:?}");
    let mut far = 0;
    for one in &removed {
        let Label::Id(keeper) = &one.keeper else { panic!("{one:?}") };
        assert_eq!(one.keeper, labels[&one.record.id]);
        let members = labels.iter().filter(|(_, label)| **label == one.keeper);
        let smallest = members.map(|(id, _)| Label::Id(id.clone())).min();
        assert_eq!(Some(&one.cluster), smallest.as_ref());
        let expected = nearness(model, wanted, &one.record.id, keeper);
        assert_eq!(one.nearness, expected, "{wanted:?} {linkage:?} {one:?}");
        let Nearness::Keys { shared, jaccard } = expected else { panic!() };
        far += u64::from(shared < wanted.min_shared || jaccard.is_some_and(|jaccard| jaccard < wanted.min_jaccard));
    }
    assert_eq!((left.records, left.far), (removed.len() as u64, far), "{wanted:?} {linkage:?}");
    assert!(linkage == Linkage::Single || far == 0);
}

#[test]
fn pairs_and_clusters_are_those_of_comparing_all() {
    for (format, ids) in [
        (KeyFormat::default(), IdKind::Number),
        (KeyFormat::default().with_sketch(64, 1), IdKind::Text),
        (KeyFormat::default().with_key_bits(9), IdKind::Number),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let (index, model) = several_loads(&directory.path().join("store"), format, ids);
        for (min_shared, min_jaccard, most) in
            [(1, 0.0, None), (2, 0.0, None), (1, 0.5, None), (1, 0.0, Some(3)), (3, 0.2, Some(4))]
        {
            let min_jaccard = if format.sketch_bits() > 0 { min_jaccard } else { 0.0 };
            let wanted = Wanted { min_shared, min_jaccard, most };
            let expected = pairs_of(&model, wanted);
            assert!(!expected.0.is_empty(), "{wanted:?}");
            for memory in [1 << 20, 1 << 30] {
                assert!(found(&index, wanted, memory) == expected, "{format:?} {wanted:?}");
            }
            assert_eq!(labels(&index, wanted, Linkage::Single), components(&model, &expected.0), "{wanted:?}");
            assert_eq!(labels(&index, wanted, Linkage::Star), stars(&model, &expected.0), "{wanted:?}");
            for linkage in [Linkage::Single, Linkage::Star, Linkage::Complete] {
                check_evidence(&index, &model, wanted, linkage);
            }
        }
    }
}

#[test]
fn a_key_of_all_records_costs_each_record_once() {
    let format = KeyFormat::default();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    // Making its four hundred billion pairs would not end.
    let mut sorter = fpstore::keys::KeySorter::new(&path, &options(), format);
    for number in 0..900_000u64 {
        sorter.push(NO_ID, &[5 << 60, number << 20], &[]).unwrap();
    }
    let (index, _) =
        KeyIndex::create_loaded(&path, &parameters(format, IdKind::Number), &options(), sorter.finish().unwrap())
            .unwrap();
    // A table of so many fingerprints would have a filter; nothing would ask one of the numbers of records.
    let with_filters = KeyIndex::open_read_only(&path, &options().with_filters(Filters::AtOpen)).unwrap();
    let statistics = with_filters.statistics();
    assert_eq!([statistics.filter_bytes, statistics.filters.wanted_bytes, statistics.filters.built_bytes], [0; 3]);
    let wanted = Wanted { min_shared: 1, min_jaccard: 0.0, most: None };
    let clusters = index.clusters(wanted.rule()).unwrap();
    let clustering = clusters.find(&Keeper::Smallest).unwrap();
    assert!(clustering.records().unwrap().all(|one| one.unwrap().label == Label::Id(Id::from(0))));
    let limited = index.clusters(wanted.rule().with_max_key_frequency(1000)).unwrap();
    let clustering = limited.find(&Keeper::Smallest).unwrap();
    assert_eq!(limited.skipped_keys(), 1);
    assert!(
        clustering
            .records()
            .unwrap()
            .all(|one| one.as_ref().is_ok_and(|one| one.label == Label::Id(one.record.id.clone())))
    );
    assert_eq!(found(&index, Wanted { most: Some(1000), ..wanted }, 1 << 30), (Vec::new(), 1));
}

#[test]
fn pairs_between_two_indexes_are_those_of_comparing_all() {
    for (format, ids) in [
        (KeyFormat::default(), IdKind::Number),
        (KeyFormat::default().with_key_bits(20).with_sketch(64, 1), IdKind::Text),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let made = |name: &str, seeds: std::ops::Range<u64>| {
            let path = directory.path().join(name);
            let index = KeyIndex::create(&path, &parameters(format, ids), &options()).unwrap();
            let mut model = Model::new(format);
            for seed in seeds {
                let mut all = records(120, 6, format, ids, seed);
                // A key of a third of all records.
                all.iter_mut().step_by(3).for_each(|record| record.keys.push(7 << 60));
                index.load(sorted(&path, &options(), format, &all)).unwrap();
                model.add(&all);
            }
            let gone: Vec<Id> = model.records.keys().step_by(7).cloned().collect();
            remove(&index, &gone);
            model.remove(&gone);
            (index, model)
        };
        // Some records are in both.
        let ((left, one), (right, other)) = (made("left", 0..2), made("right", 1..3));
        for (min_shared, min_jaccard, most) in [(1, 0.0, None), (2, 0.0, None), (1, 0.5, None), (1, 0.0, Some(40))] {
            let min_jaccard = if format.sketch_bits() > 0 { min_jaccard } else { 0.0 };
            let wanted = Wanted { min_shared, min_jaccard, most };
            let (mut expected, mut frequent) = (Vec::new(), BTreeSet::new());
            let count = |key: &u64| {
                let has = |model: &Model| model.keys().values().filter(|keys| keys.contains(key)).count() as u64;
                has(&one) + has(&other)
            };
            for (a, own) in one.keys() {
                for (b, keys) in other.keys() {
                    let (few, many): (Vec<u64>, Vec<u64>) =
                        own.intersection(keys).partition(|key| most.is_none_or(|most| count(key) <= most));
                    frequent.extend(many);
                    let sketches = || jaccard(format, &one.records[a].sketch, &other.records[b].sketch);
                    let similar = (format.sketch_bits() > 0).then(sketches);
                    let shared = few.len() as u64;
                    if shared >= min_shared && similar.is_none_or(|similar| similar >= min_jaccard) {
                        expected.push(KeyPair { a: a.clone(), b: b.clone(), shared, jaccard: similar });
                    }
                }
            }
            for memory in [1 << 20, 1 << 30] {
                let mut found = Vec::new();
                let pairs = left.pairs_with(&right, wanted.rule()).unwrap().with_memory(memory);
                let sink = |pair| {
                    found.push(pair);
                    Ok(ControlFlow::Continue(()))
                };
                assert_eq!(pairs.visit(sink).unwrap(), frequent.len() as u64);
                found.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
                assert!(!found.is_empty() && found == expected, "{format:?} {wanted:?}");
            }
        }
        let narrow = KeyIndex::create(
            directory.path().join("narrow"),
            &parameters(KeyFormat::default().with_key_bits(12), ids),
            &options(),
        );
        let error = left.pairs_with(&narrow.unwrap(), KeyRule::new()).unwrap_err();
        assert!(error.to_string().contains("other widths of keys"), "{error}");
    }
}

#[test]
fn the_ranks_of_sketches_count_as_memory() {
    let options = options();
    let least = |format: KeyFormat, loads: u64, beside: bool| {
        let directory = tempfile::tempdir().unwrap();
        let create = |name| {
            let path = directory.path().join(name);
            KeyIndex::create(&path, &parameters(format, IdKind::Number), &options).unwrap()
        };
        let (index, other) = (create("store"), create("other"));
        for seed in 0..loads {
            let records = records(6400, 2, format, IdKind::Number, seed);
            let to = if beside && seed == 0 { &other } else { &index };
            to.load(sorted(to.path(), &options, format, &records)).unwrap();
        }
        let clusters = match beside {
            true => index.clusters_with(&other, KeyRule::new()).unwrap(),
            false => index.clusters(KeyRule::new()).unwrap(),
        };
        let least = clusters.least_memory().unwrap();
        assert!(clusters.clone().with_memory(least - 1).find(&Keeper::Smallest).is_err());
        assert!(clusters.with_memory(least).find(&Keeper::Smallest).is_ok());
        least
    };
    let (plain, sketched) = (KeyFormat::default(), KeyFormat::default().with_sketch(8, 1));
    // 100 words of bits, and a number for each eight of these, in each run.
    for (loads, beside) in [(1, false), (2, false), (2, true)] {
        assert_eq!(least(sketched, loads, beside) - least(plain, loads, beside), 904 * loads);
    }
}
