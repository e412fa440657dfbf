//! Clusters of a key index that continue earlier labels or evidence, with the records of another index or without:
//! those of comparing all records, and those of one index that has them all.

use super::model::*;
use super::pairs::{Wanted, components, labels, labels_of, nearness, pairs_of, stars};
use super::reports::nearnesses;
use crate::clusters_from::{Labels, gone_on, shuffle, updated};
use crate::linkage::{evidence, kept_of};
use crate::support::Random;
use fpstore::clusters::{Clusters, Keeper, Label, Linkage, Nearness, Removed};
use fpstore::keys::{KeyRule, KeySorter};
use fpstore::{ErrorKind, Id, IdKind, IdRef, KeyFormat, KeyIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const RULES: [(u64, f64, Option<u64>); 6] =
    [(1, 0.0, None), (2, 0.0, None), (1, 0.5, None), (1, 0.0, Some(3)), (2, 0.2, Some(5)), (1, 0.0, Some(40))];

fn rules(format: KeyFormat) -> impl Iterator<Item = Wanted> {
    RULES.into_iter().map(move |(min_shared, min_jaccard, most)| {
        let min_jaccard = if format.sketch_bits() > 0 { min_jaccard } else { 0.0 };
        Wanted { min_shared, min_jaccard, most }
    })
}

/// An index with runs of these records, in a directory of its own.
fn load(path: &Path, format: KeyFormat, ids: IdKind, runs: &[&[KeyRecord]]) -> KeyIndex {
    let index = KeyIndex::create(path, &parameters(format, ids), &options()).unwrap();
    for run in runs {
        index.load(sorted(path, &options(), format, run)).unwrap();
    }
    index
}

/// Records in families, some with a key that many have: it grows with every collection.
fn crowd(format: KeyFormat, ids: IdKind, seed: u64) -> Vec<KeyRecord> {
    let (mut all, mut random) = (records(110, 5, format, ids, seed), Random(seed));
    // Neighbours of records of other collections.
    let others = records(110, 5, format, ids, (seed + 2) % 3);
    for (record, other) in all.iter_mut().zip(&others) {
        if random.below(6) == 0 {
            record.keys.extend(&other.keys[..3]);
            record.sketch.clone_from(&other.sketch);
        }
        if random.below(9) == 0 {
            record.keys.push((1 + random.below(3)) << 60);
        }
    }
    all
}

fn ids_of(records: &[KeyRecord], step: usize) -> Vec<Id> {
    records.iter().step_by(step).map(|record| record.id.clone()).collect()
}

fn given(index: &KeyIndex, wanted: Wanted) -> Labels<u64> {
    crate::clusters_from::labels(&index.clusters(wanted.rule()).unwrap().find(&Keeper::Smallest).unwrap())
}

fn by_id(labels: Labels<u64>) -> BTreeMap<Id, Id> {
    let id = |label| if let Label::Id(id) = label { id } else { panic!("{label:?}") };
    labels.into_iter().map(|(record, label)| (id(record), id(label))).collect()
}

/// What happens between the labels and the search that continues them.
#[derive(Clone, Copy, Debug)]
struct Since {
    /// One in so many records is removed.
    removed: Option<usize>,
    /// One in so many records has other keys.
    replaced: Option<usize>,
    /// Records are loaded without a label.
    loaded: bool,
    merged: bool,
}

#[test]
fn labels_go_on_as_comparing_all() {
    let nothing = Since { removed: None, replaced: None, loaded: false, merged: false };
    let cases = [
        nothing,
        Since { loaded: true, ..nothing },
        Since { removed: Some(7), ..nothing },
        Since { removed: Some(40), loaded: true, merged: true, ..nothing },
        Since { replaced: Some(9), ..nothing },
    ];
    for (format, ids) in [
        (KeyFormat::default(), IdKind::Number),
        (KeyFormat::default().with_sketch(64, 1), IdKind::Text),
        (KeyFormat::default().with_key_bits(10), IdKind::Text),
    ] {
        for (since, number) in cases.into_iter().zip(0..) {
            let directory = tempfile::tempdir().unwrap();
            let parts: Vec<Vec<KeyRecord>> = (0..3).map(|seed| crowd(format, ids, seed)).collect();
            let (first, rest) = parts[0].split_at(60);
            let index = load(&directory.path().join("store"), format, ids, &[first, rest]);
            let before: Vec<Labels<u64>> = rules(format).map(|wanted| given(&index, wanted)).collect();
            let mut model = Model::new(format);
            model.add(&parts[0]);
            let mut new = parts[2].clone();
            if since.loaded {
                index.load(sorted(index.path(), &options(), format, &parts[1])).unwrap();
                model.add(&parts[1]);
            }
            if let Some(step) = since.removed {
                let gone = ids_of(&parts[0], step);
                remove(&index, &gone);
                model.remove(&gone);
            }
            if let Some(step) = since.replaced {
                let mut others: Vec<KeyRecord> = parts[0].iter().step_by(step).cloned().collect();
                others.iter_mut().zip(&parts[1]).for_each(|(one, other)| one.keys.clone_from(&other.keys));
                index.replace(sorted(index.path(), &options(), format, &others)).unwrap();
                model.replace(&others);
                new.extend(others);
            }
            if since.merged {
                index.compact().unwrap();
            }
            // Some of the new ones are stored already, also with other keys.
            new.extend(parts[0][20..25].iter().map(|one| KeyRecord { keys: vec![1, 2, 3], ..one.clone() }));
            let (some, others) = new.split_at(50);
            let beside = load(&directory.path().join("new"), format, ids, &[some, others]);
            let gone = ids_of(&parts[2], 11);
            remove(&beside, &gone);
            let new: Vec<KeyRecord> = new.into_iter().filter(|one| !gone.contains(&one.id)).collect();
            let mut with_new = model.clone();
            with_new.add(&new);
            let together = load(&directory.path().join("all"), format, ids, &[]);
            let all: Vec<KeyRecord> = with_new.records.values().cloned().collect();
            together.load(sorted(together.path(), &options(), format, &all)).unwrap();
            for (wanted, mut before) in rules(format).zip(before) {
                let what = format!("{format:?} {since:?} {wanted:?}");
                let expected = components(&with_new, &pairs_of(&with_new, wanted).0);
                assert_eq!(labels(&together, wanted, Linkage::Single), expected, "{what}");
                let clusters = index.clusters_with(&beside, wanted.rule()).unwrap();
                assert_eq!(labels_of(&clusters, Linkage::Single), expected, "{what}");
                let of_all = stars(&with_new, &pairs_of(&with_new, wanted).0);
                assert_eq!(labels_of(&clusters, Linkage::Star), of_all, "{what}");
                let complete = labels(&together, wanted, Linkage::Complete);
                assert_eq!(labels_of(&clusters, Linkage::Complete), complete, "{what}");
                if number % 2 == 1 {
                    shuffle(&mut before, &mut Random(number));
                }
                for memory in [1 << 30, clusters.least_memory().unwrap()] {
                    let clusters = clusters.clone().with_memory(memory);
                    let clustering = gone_on(&clusters, &before);
                    let found = crate::clusters_from::labels(&clustering);
                    assert_eq!(updated(&clusters, &before).0, found, "{what}");
                    assert_eq!(by_id(found), expected, "{what}");
                    let sized = clusters.with_sizes();
                    assert_eq!(by_id(crate::clusters_from::labels(&gone_on(&sized, &before))), expected, "{what}");
                    let reported = sized.with_keepers();
                    let least = reported.least_memory().unwrap();
                    let report = gone_on(&reported.with_memory(memory.max(least)), &before).report(0).unwrap();
                    let removed = expected.iter().filter(|(id, keeper)| id != keeper);
                    assert_eq!(report.removed, nearnesses(&with_new, wanted, removed), "{what}");
                    let of_all = together.clusters(wanted.rule()).unwrap().with_sizes().with_keepers();
                    assert_eq!(report, of_all.find(&Keeper::Smallest).unwrap().report(0).unwrap(), "{what}");
                }
                // The records of the index alone; replaced ones have to be named.
                if since.replaced.is_none() {
                    let clusters = index.clusters(wanted.rule()).unwrap();
                    let expected = components(&model, &pairs_of(&model, wanted).0);
                    assert_eq!(by_id(updated(&clusters, &before).0), expected, "{what}");
                }
            }
        }
    }
}

/// The evidence with the smallest ids first, by definition.
fn evidence_of(model: &Model, wanted: Wanted, keepers: &BTreeMap<Id, Id>) -> BTreeMap<Id, (Id, Id, Nearness)> {
    let mut found = BTreeMap::new();
    for (id, keeper) in keepers.iter().filter(|(id, keeper)| id != keeper) {
        let cluster = keepers.iter().filter(|(_, other)| *other == keeper).map(|(id, _)| id).min().unwrap();
        found.insert(id.clone(), (keeper.clone(), cluster.clone(), nearness(model, wanted, id, keeper)));
    }
    found
}

fn removals_of(removed: Vec<Removed>) -> BTreeMap<Id, (Id, Id, Nearness)> {
    let id = |label: Label| if let Label::Id(id) = label { id } else { panic!("{label:?}") };
    removed.into_iter().map(|one| (one.record.id, (id(one.keeper), id(one.cluster), one.nearness))).collect()
}

fn continued(
    clusters: &Clusters,
    given: &BTreeMap<Id, (Id, Id, Nearness)>,
) -> fpstore::Result<fpstore::clusters::Clustering> {
    let clusters = clusters.clone().with_linkage(Linkage::Star).with_removals();
    let mut removals = clusters.removals()?;
    for ((id, (keeper, _, nearness)), line) in given.iter().zip(1..) {
        removals.push(&Label::Id(id.clone()), &Label::Id(keeper.clone()), *nearness, line)?;
    }
    clusters.find_from_removals(removals, &Keeper::Smallest)
}

/// Keys that made pairs before these records came, and make none with them.
fn lost_keys(model: &Model, new: &BTreeSet<Id>, wanted: Wanted) -> u64 {
    let mut counts: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (id, keys) in model.keys() {
        for key in keys {
            let (old, all) = counts.entry(*key).or_default();
            *old += u64::from(!new.contains(id));
            *all += 1;
        }
    }
    let most = wanted.most.unwrap_or(u64::MAX);
    counts.values().filter(|(old, all)| (2..=most).contains(old) && *all > most).count() as u64
}

#[test]
fn evidence_goes_on_as_comparing_all() {
    for (format, ids) in [
        (KeyFormat::default(), IdKind::Number),
        (KeyFormat::default().with_sketch(64, 1), IdKind::Text),
        (KeyFormat::default().with_key_bits(10), IdKind::Number),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let parts: Vec<Vec<KeyRecord>> = (0..3).map(|seed| crowd(format, ids, seed)).collect();
        let index = load(&directory.path().join("store"), format, ids, &[]);
        let mut model = Model::new(format);
        let mut before: Vec<BTreeMap<Id, (Id, Id, Nearness)>> = rules(format).map(|_| BTreeMap::new()).collect();
        for (part, round) in parts.iter().zip(0..) {
            let path = directory.path().join(format!("new {round}"));
            // Some are stored already; these stay what they are.
            let again = parts[0].iter().take(if round > 0 { 9 } else { 0 }).cloned();
            let new: Vec<KeyRecord> = again.chain(part.iter().cloned()).collect();
            let beside = load(&path, format, ids, &[&new]);
            model.add(&new);
            for (wanted, given) in rules(format).zip(&mut before) {
                let what = format!("{format:?} {wanted:?} round {round}");
                let clusters = index.clusters_with(&beside, wanted.rule()).unwrap();
                let keepers = stars(&model, &pairs_of(&model, wanted).0);
                let expected = evidence_of(&model, wanted, &keepers);
                let clustering = continued(&clusters.clone().with_sizes(), given).unwrap();
                let (kept, left) = kept_of(&clustering);
                // Ids grow, so nothing else than keys that no longer count makes a difference.
                assert_eq!(clustering.overruled(), 0, "{what}");
                assert_eq!(
                    clustering.lost_keys(),
                    lost_keys(&model, &ids_of(part, 1).into_iter().collect(), wanted),
                    "{what}"
                );
                let found = removals_of(evidence(&clustering));
                let report = clustering.report(0).unwrap();
                let removed = found.iter().map(|(id, (keeper, ..))| (id, keeper));
                assert_eq!(report.removed, nearnesses(&model, wanted, removed), "{what}");
                assert_eq!((report.removed.far, report.chains), (left.far, None), "{what}");
                let numbers = (model.records.len(), kept.len());
                assert_eq!((report.records as usize, report.clusters as usize), numbers, "{what}");
                if clustering.lost_keys() == 0 {
                    assert!(found == expected, "{what}: {found:?}, {expected:?}");
                    assert_eq!(left.far, 0, "{what}");
                    let expected: BTreeSet<Label> = keepers.values().map(|id| Label::Id(id.clone())).collect();
                    assert_eq!(kept.into_iter().collect::<BTreeSet<_>>(), expected, "{what}");
                    let least = clusters.clone().with_linkage(Linkage::Star).with_removals().least_memory().unwrap();
                    let clustering = continued(&clusters.with_memory(least), given).unwrap();
                    assert!(removals_of(evidence(&clustering)) == found, "{what}");
                } else {
                    // Removed records stay removed, and none disappears.
                    assert!(given.iter().all(|(id, (keeper, ..))| found[id].0 == *keeper), "{what}");
                    assert_eq!(kept.len() + found.len(), model.records.len(), "{what}");
                    let is_far = |nearness: &Nearness| {
                        matches!(nearness, Nearness::Keys { shared, jaccard }
                        if *shared < wanted.min_shared || jaccard.is_some_and(|one| one < wanted.min_jaccard))
                    };
                    let far = found.values().filter(|(_, _, nearness)| is_far(nearness)).count();
                    assert_eq!((left.records, left.far), (found.len() as u64, far as u64), "{what}");
                }
                *given = expected;
            }
            index.load(sorted(index.path(), &options(), format, part)).unwrap();
        }
    }
}

/// Records with a key of their own each, and others that all have.
fn alike(path: &Path, numbers: std::ops::Range<u64>, common: &[u64]) -> KeyIndex {
    let format = KeyFormat::default();
    let mut sorter = KeySorter::new(path, &options(), format);
    for number in numbers {
        let keys: Vec<u64> = common.iter().copied().chain([number << 20]).collect();
        sorter.push(IdRef::Number(number), &keys, &[]).unwrap();
    }
    let parameters = parameters(format, IdKind::Number);
    KeyIndex::create_loaded(path, &parameters, &options(), sorter.finish().unwrap()).unwrap().0
}

#[test]
fn giant_keys_cost_their_records_only() {
    let directory = tempfile::tempdir().unwrap();
    // Making the forty-five billion pairs of the old ones, or those with twenty thousand new ones, would not end.
    let common: Vec<u64> = (1..=14).map(|key| key << 56).collect();
    let index = alike(&directory.path().join("store"), 0..300_000, &common);
    let new = alike(&directory.path().join("new"), 299_990..320_000, &common);
    let all_in_one = |found: &Clusters, given: &Labels<u64>| {
        let found = crate::clusters_from::labels(&gone_on(found, given));
        assert_eq!(found.len(), 320_000);
        assert!(found.iter().all(|(_, label)| *label == Label::Id(Id::Number(0))));
    };
    let labels: Labels<u64> =
        (0..300_000).map(|number| (Label::Id(Id::Number(number)), Label::Id(Id::Number(0)))).collect();
    all_in_one(&index.clusters_with(&new, KeyRule::new()).unwrap(), &labels);
    let nearness = Nearness::Keys { shared: 14, jaccard: None };
    let removed: BTreeMap<Id, (Id, Id, Nearness)> =
        (1..300_000).map(|number| (Id::Number(number), (Id::Number(0), Id::Number(0), nearness))).collect();
    for rule in [KeyRule::new(), KeyRule::new().with_min_shared(14)] {
        let clustering = continued(&index.clusters_with(&new, rule).unwrap(), &removed).unwrap();
        assert_eq!((clustering.searched(), clustering.labelled()), (20_000, 299_999));
        let (kept, left) = kept_of(&clustering);
        assert_eq!((kept, left.records, left.far), (vec![Label::Id(Id::Number(0))], 319_999, 0));
        assert!(evidence(&clustering).iter().all(|one| one.nearness == nearness));
    }
}

#[test]
fn other_indexes_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let index = alike(&path("store"), 0..20, &[1 << 60]);
    let refused = |other: &KeyIndex, part: &str| {
        let error = index.clusters_with(other, KeyRule::new()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        error.kind()
    };
    let format = KeyFormat::default();
    let narrow = load(&path("narrow"), format.with_key_bits(12), IdKind::Number, &[]);
    assert_eq!(refused(&narrow, "other widths of keys"), ErrorKind::InvalidInput);
    assert_eq!(
        refused(&load(&path("texts"), format, IdKind::Text, &[]), "the ids of the new"),
        ErrorKind::InvalidInput
    );
    let mut sorter = KeySorter::new(&path("numbered"), &options(), format);
    sorter.push(NO_ID, &[1], &[]).unwrap();
    let numbered = load(&path("numbered"), format, IdKind::Number, &[]);
    numbered.load(sorter.finish().unwrap()).unwrap();
    assert_eq!(refused(&numbered, "numbers its records itself"), ErrorKind::Unsupported);
    // An empty one adds nothing.
    let empty = load(&path("empty"), format, IdKind::Number, &[]);
    assert_eq!(labels_of(&index.clusters_with(&empty, KeyRule::new()).unwrap(), Linkage::Single).len(), 20);
    assert_eq!(labels_of(&empty.clusters_with(&index, KeyRule::new()).unwrap(), Linkage::Star).len(), 20);
    let mut complete = index.clusters(KeyRule::new()).unwrap().with_linkage(Linkage::Complete).with_removals();
    assert_eq!(complete.removals().unwrap_err().kind(), ErrorKind::Unsupported);
    complete = complete.with_linkage(Linkage::Star);
    // Evidence of another index: the two share no key.
    let lonely = alike(&path("lonely"), 0..2, &[]);
    let clusters = lonely.clusters(KeyRule::new()).unwrap();
    let nearness = Nearness::Keys { shared: 3, jaccard: None };
    let given = [(Id::Number(1), (Id::Number(0), Id::Number(0), nearness))].into_iter().collect();
    let error = continued(&clusters, &given).unwrap_err();
    assert!(error.to_string().contains("1 is removed by a record that is not near it"), "{error}");
    assert!(complete.removals().is_ok());
}
