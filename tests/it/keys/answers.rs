//! Answers of every kind of index.

use super::model::*;
use crate::support::*;
use fpstore::clusters::Keeper;
use fpstore::keys::{KeyPair, KeyQuery, KeyRule, KeySnapshot, KeySorter};
use fpstore::{Id, IdKind, KeyFormat, KeyIndex, Progress};
use std::ops::ControlFlow;

#[test]
fn loads_removals_replacements_and_merges_answer_as_comparing_all() {
    let formats = [
        KeyFormat::default(),
        KeyFormat::default().with_sketch(64, 1),
        KeyFormat::default().with_key_bits(64).with_sketch(224, 2),
        KeyFormat::default().with_key_bits(20).with_sketch(12, 4),
        KeyFormat::default().with_key_bits(7),
    ];
    for (number, format) in formats.into_iter().enumerate() {
        for ids in [IdKind::Number, IdKind::Text] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("store");
            let what = |step: &str| format!("{step} of {format:?} with {ids}");
            let index = KeyIndex::create(&path, &parameters(format, ids), &options()).unwrap();
            let mut model = Model::new(format);
            let seed = number as u64;
            let batches: Vec<_> =
                (0..3).map(|batch| records(400, 1 + 6 * batch, format, ids, 10 * seed + batch as u64)).collect();
            for batch in &batches {
                let report = index.load(sorted(&path, &options(), format, batch)).unwrap();
                assert_eq!((report.added, report.already_present), (400, 0));
                model.add(batch);
                model.check(&index, 40, &what("a load"));
            }
            // Known ids stay as they are, and are replaced.
            let mut again = records(300, 5, format, ids, 77);
            for (record, known) in again.iter_mut().zip(&batches[1]).step_by(3) {
                record.id = known.id.clone();
            }
            let report = index.load(sorted(&path, &options(), format, &again[..150])).unwrap();
            assert_eq!((report.added, report.already_present, report.replaced), (100, 50, 0));
            model.add(&again[..150]);
            model.check(&index, 40, &what("a load of known ids"));
            let report = index.replace(sorted(&path, &options(), format, &again)).unwrap();
            assert_eq!((report.added, report.already_present, report.replaced), (300, 0, 200));
            model.replace(&again);
            model.check(&index, 40, &what("a replacement"));
            let gone: Vec<Id> = model.records.keys().step_by(4).cloned().collect();
            assert_eq!(remove(&index, &gone), gone.len() as u64);
            gone.iter().for_each(|id| _ = model.records.remove(id));
            model.check(&index, 40, &what("a removal"));
            let before = index.snapshot();
            assert!(index.compact().unwrap());
            assert_eq!(index.statistics().runs, 1);
            model.check(&index, 40, &what("a merge"));
            let record = model.records.values().next().unwrap();
            let found = before.searcher().query(&record.keys, &record.sketch, &KeyQuery::new()).unwrap();
            assert_eq!(found, model.query(&record.keys, &record.sketch, &Wanted::all()), "a snapshot keeps its state");
            drop(before);
            index.close().unwrap();
            let index = KeyIndex::open_read_only(&path, &options()).unwrap();
            model.check(&index, 100, &what("opening"));
            assert!(fpstore::admin::verify(&path, &options()).unwrap().damages.is_empty());
            let copy = directory.path().join("copy");
            index.backup(&copy, fpstore::admin::BackupMode::Copy).unwrap();
            model.check(&KeyIndex::open(&copy, &options()).unwrap(), 40, &what("a backup"));
        }
    }
}

#[test]
fn real_and_adversarial_keys() {
    let format = KeyFormat::default().with_sketch(32, 1);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let sketch = vec![7; format.sketch_bytes()];
    let record = |number: u64, keys: Vec<u64>| KeyRecord { id: Id::from(number), keys, sketch: sketch.clone() };
    // Real fingerprints that lie close together, one key in all records, records without keys, many keys in one.
    let real = real();
    let mut all: Vec<KeyRecord> = (0..3000)
        .map(|number| record(number, real[number as usize % 700..][..3].iter().copied().chain([1 << 63]).collect()))
        .collect();
    all.extend((3000..3010).map(|number| record(number, Vec::new())));
    all.push(record(3010, (0..50_000).map(|key| key << 20).collect()));
    all.push(record(3011, vec![0, u64::MAX, u64::MAX - 1, 1 << 16, (1 << 16) - 1]));
    let (index, report) = KeyIndex::create_loaded(
        &path,
        &parameters(format, IdKind::Number),
        &options(),
        sorted(&path, &options(), format, &all),
    )
    .unwrap();
    assert_eq!(report.added, 3012);
    let mut model = Model::new(format);
    model.add(&all);
    model.check(&index, 60, "adversarial keys");
    let everywhere = index.query(&[1 << 63], &[], &KeyQuery::new()).unwrap();
    assert_eq!(everywhere.len(), 3000);
    for keys in [vec![], vec![u64::MAX], vec![0], all[3010].keys.clone(), vec![1 << 63; 9]] {
        let found = index.query(&keys, &sketch, &KeyQuery::new().with_min_jaccard(0.5)).unwrap();
        let wanted = Wanted { min_jaccard: 0.5, ..Wanted::all() };
        assert_eq!(found, model.query(&keys, &sketch, &wanted));
    }
}

#[test]
fn the_index_numbers_records_without_ids() {
    let format = KeyFormat::default();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let index = KeyIndex::create(&path, &parameters(format, IdKind::Number), &options()).unwrap();
    for round in 0..3u64 {
        let mut sorter = KeySorter::new(&path, &options(), format);
        (0..100).for_each(|number| sorter.push(NO_ID, &[(round * 100 + number) << 40, 5 << 60], &[]).unwrap());
        assert_eq!(index.load(sorter.finish().unwrap()).unwrap().added, 100);
    }
    assert_eq!(remove(&index, &[Id::from(7), Id::from(250)]), 2);
    let found = index.query(&[123 << 40], &[], &KeyQuery::new()).unwrap();
    assert_eq!(found.iter().map(|found| found.id.number().unwrap()).collect::<Vec<_>>(), [123]);
    assert_eq!(index.query(&[5 << 60], &[], &KeyQuery::new()).unwrap().len(), 298);
    let records = records(3, 2, format, IdKind::Number, 1);
    assert!(index.load(sorted(&path, &options(), format, &records)).is_err(), "ids of its own are refused");
}

#[test]
fn wrong_use_is_refused() {
    let format = KeyFormat::default().with_sketch(64, 1);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let index = KeyIndex::create(&path, &parameters(format, IdKind::Text), &options()).unwrap();
    let message = |result: fpstore::Result<()>| result.unwrap_err().to_string();
    // A document without features has neither keys nor a sketch, and no answer.
    assert!(index.query(&[], &[], &KeyQuery::new().with_min_jaccard(0.5)).unwrap().is_empty());
    let without = index.query(&[1], &[], &KeyQuery::new().with_min_jaccard(0.5));
    assert!(message(without.map(drop)).contains("without sketches"));
    let mut sorter = KeySorter::new(&path, &options(), format);
    assert!(message(sorter.push(fpstore::IdRef::Text("a"), &[1], &[0; 7])).contains("a sketch of 7 bytes"));
    sorter.push(fpstore::IdRef::Text("a"), &[1], &[0; 8]).unwrap();
    assert!(message(sorter.push(fpstore::IdRef::Number(7), &[1], &[0; 8])).contains("different kinds"));
    let other = KeySorter::new(&path, &options(), KeyFormat::default()).finish().unwrap();
    assert!(message(index.load(other).map(drop)).contains("another format"));
    let numbers =
        sorted(&path, &options(), format, &[KeyRecord { id: Id::from(1), keys: vec![1], sketch: vec![0; 8] }]);
    assert!(message(index.load(numbers).map(drop)).contains("has text ids"));
    let query = |sketch: &[u8], how: KeyQuery| index.query(&[1], sketch, &how).map(drop);
    assert!(message(query(&[0; 3], KeyQuery::new())).contains("a sketch of 3 bytes"));
    assert!(message(query(&[], KeyQuery::new().with_min_jaccard(0.5))).contains("without sketches"));
    assert!(message(query(&[0; 8], KeyQuery::new().with_min_jaccard(f64::NAN))).contains("NaN is not possible"));
    drop(index);
    // Four bits of the second byte are samples.
    let short = parameters(format.with_sketch(12, 4), IdKind::Number);
    let index = KeyIndex::create(directory.path().join("short"), &short, &options()).unwrap();
    let query = |sketch: &[u8]| index.query(&[1], sketch, &KeyQuery::new()).map(drop);
    assert!(message(query(&[0xFF, 0x1F])).contains("bits after its last sample"));
    query(&[0xFF, 0x0F]).unwrap();
    drop(index);
    let open = <fpstore::Store>::open(&path, &options()).map(drop);
    assert!(message(open).contains("the store is of keys, not of fingerprints"));
    let fingerprints = directory.path().join("fingerprints");
    drop(<fpstore::Store>::create(&fingerprints, &fpstore::Parameters::new(3), &options()).unwrap());
    assert!(message(KeyIndex::open(&fingerprints, &options()).map(drop)).contains("not of keys"));
    for wrong in
        [format.with_key_bits(0), format.with_key_bits(65), format.with_sketch(64, 3), format.with_sketch(9, 2)]
    {
        let created = KeyIndex::create(directory.path().join("x"), &parameters(wrong, IdKind::Number), &options());
        assert_eq!(created.unwrap_err().kind(), fpstore::ErrorKind::InvalidInput, "{wrong:?}");
    }
    let counted = KeyIndex::create(directory.path().join("x"), &parameters(format, IdKind::None), &options());
    assert!(message(counted.map(drop)).contains("a key index has ids"));
}

#[test]
fn a_snapshot_answers_everything_from_its_state() {
    let format = KeyFormat::default();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let index = KeyIndex::create(&path, &parameters(format, IdKind::Number), &options()).unwrap();
    let all = records(300, 5, format, IdKind::Number, 3);
    index.load(sorted(&path, &options(), format, &all[..200])).unwrap();
    // What both of them answer: records, pairs, pairs with the index itself, and the sizes of the clusters.
    let answers = |snapshot: &KeySnapshot| {
        let (mut ids, mut pairs, mut between) = (Vec::new(), Vec::new(), 0);
        let visit = |id: &Id, keys: &[u64], _: &[u8]| {
            ids.push((id.clone(), keys.to_vec()));
            true
        };
        snapshot.visit_records(&Progress::default(), visit).unwrap();
        let push = |pair: KeyPair| {
            pairs.push((pair.a, pair.b, pair.shared));
            Ok(ControlFlow::Continue(()))
        };
        snapshot.pairs(KeyRule::new()).unwrap().visit(push).unwrap();
        let count = |_: KeyPair| {
            between += 1;
            Ok(ControlFlow::Continue(()))
        };
        snapshot.pairs_with(snapshot, KeyRule::new()).unwrap().visit(count).unwrap();
        let clusters = snapshot.clusters(KeyRule::new()).unwrap().find(&Keeper::Smallest).unwrap();
        (ids, pairs, between, clusters.report(0).unwrap().clusters, snapshot.statistics().records)
    };
    let snapshot = index.snapshot();
    let before = answers(&snapshot);
    assert_eq!((before.0.len(), before.4), (200, 200));
    let keyed = before.0.iter().filter(|(_, keys)| !keys.is_empty()).count();
    assert!(!before.1.is_empty());
    assert_eq!(before.2, 2 * before.1.len() + keyed, "each record meets itself, and each pair comes twice");
    index.load(sorted(&path, &options(), format, &all[200..])).unwrap();
    assert_eq!(remove(&index, &[all[0].id.clone()]), 1);
    assert!(index.compact().unwrap());
    assert!(answers(&snapshot) == before, "the snapshot has changed");
    let after = answers(&index.snapshot());
    assert_eq!((after.0.len(), after.4), (299, 299));
    assert!(index.verify().unwrap().damages.is_empty());
}
