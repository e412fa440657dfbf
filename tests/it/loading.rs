//! Bulk loads: a store is a set of records, numbers are never reused, loads are all or nothing.

use crate::support::*;
use fpstore::bulk::RecordSorter;
use fpstore::{Durability, ErrorKind, Id, IdAssignment, IdKind, IdRef, Parameters, ReadMode, Record, Records, Store};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn loading_again_changes_nothing() {
    let fixture = Fixture::new(ReadMode::Mmap);
    let records = numbered(&real()[..20_000]);
    let store = fixture.load(&Parameters::new(3), &records, 2);
    let before = fixture.files();
    let report = store.bulk_load(Records::WithIds(records)).unwrap();
    assert_eq!((report.records, report.already_present, report.added(), report.segment_bytes), (20_000, 20_000, 0, 0));
    assert_eq!(fixture.files(), before);
}

#[test]
fn own_numbers_begin_at_zero_go_on_and_survive_reopening() {
    let fixture = Fixture::new(ReadMode::Mmap);
    let store = <Store>::create(&fixture.path, &Parameters::new(3), &fixture.options).unwrap();
    assert_eq!(store.id_assignment(), IdAssignment::Undecided);
    store.bulk_load(Records::Numbered(vec![9, 8, 9])).unwrap();
    drop(store);
    let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.bulk_load(Records::Numbered(vec![9])).unwrap().added(), 1);
    let ids = |f| store.query(f, 0).unwrap().iter().map(|found| found.id.number().unwrap()).collect::<Vec<_>>();
    assert_eq!((ids(9), ids(8)), (vec![0, 2, 3], vec![1]));
}

#[test]
fn an_id_assignment_given_at_creation_holds_from_the_first_record_on() {
    for (assignment, refused, taken) in
        [(IdAssignment::Auto, IdRef::Number(7), IdRef::None), (IdAssignment::Explicit, IdRef::None, IdRef::Number(7))]
    {
        let fixture = Fixture::new(ReadMode::Mmap);
        let parameters = Parameters::new(3).with_id_assignment(assignment);
        let store = <Store>::create(&fixture.path, &parameters, &fixture.options).unwrap();
        for _ in 0..2 {
            assert_eq!(store.id_assignment(), assignment);
            let error = store.insert(1, refused, Durability::SyncData).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        }
        drop(store);
        let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
        assert_eq!(store.id_assignment(), assignment);
        assert_eq!(store.insert(1, refused, Durability::SyncData).unwrap_err().kind(), ErrorKind::InvalidInput);
        let loaded = if assignment == IdAssignment::Auto {
            store.bulk_load(Records::WithIds(vec![Record::new(2, 7)]))
        } else {
            store.bulk_load(Records::Numbered(vec![2]))
        };
        assert_eq!(loaded.unwrap_err().kind(), ErrorKind::InvalidInput);
        store.insert(1, taken, Durability::SyncData).unwrap();
        assert_eq!(store.records().count(), 1);
        // The parameters that persist are those of a store without the call.
        assert_eq!(store.parameters(), &Parameters::new(3));
    }
    let parameters = Parameters::new(3).with_ids(IdKind::Text).with_id_assignment(IdAssignment::Explicit);
    let fixture = Fixture::new(ReadMode::Mmap);
    let error = <Store>::create(&fixture.path, &parameters, &fixture.options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(!fixture.path.exists());
}

#[test]
fn own_and_given_ids_do_not_mix() {
    for (first, second) in [
        (Records::Numbered(vec![1]), Records::WithIds(vec![Record::new(2, 7)])),
        (Records::WithIds(vec![Record::new(2, 7)]), Records::Numbered(vec![1])),
    ] {
        let fixture = Fixture::new(ReadMode::Mmap);
        let store = <Store>::create(&fixture.path, &Parameters::new(3), &fixture.options).unwrap();
        // An empty load does not decide the numbering.
        store.bulk_load(Records::Numbered(vec![])).unwrap();
        store.bulk_load(first).unwrap();
        let before = fixture.files();
        assert_eq!(store.bulk_load(second).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(fixture.files(), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_loads_make_the_union_of_their_records(
        loads in prop::collection::vec(prop::collection::vec((0u64..60, 0u64..6, any::<bool>()), 0..150), 0..6),
        reopen: bool,
    ) {
        let fixture = Fixture::new(ReadMode::Pread);
        let parameters = Parameters::new(3).with_block_size(128);
        let mut store = <Store>::create(&fixture.path, &parameters, &fixture.options).unwrap();
        let mut model = BTreeSet::new();
        for load in loads {
            let records: Vec<Record> = load
                .iter()
                .map(|&(fingerprint, id, far)| Record::new(if far { fingerprint << 58 } else { fingerprint }, id))
                .collect();
            let before = model.len();
            model.extend(records.iter().cloned());
            let report = store.bulk_load(Records::WithIds(records)).unwrap();
            prop_assert_eq!(report.added() as usize, model.len() - before);
            if reopen {
                drop(store);
                store = <Store>::open(&fixture.path, &fixture.options).unwrap();
            }
        }
        prop_assert!(store.records().map(Result::unwrap).eq(model.iter().cloned()));
        let records: Vec<Record> = model.into_iter().collect();
        for query in [0, 31, 5 << 58] {
            prop_assert_eq!(store.query(query, 2).unwrap(), expected(&records, query, 2));
        }
        prop_assert!(store.verify().unwrap().damages.is_empty());
    }
}

/// Fingerprints alone, one of them a hundred thousand times, in memory and beyond it: added, taken away, and refused by
/// a store that numbers its records.
#[test]
fn counted_fingerprints_are_counted() {
    let mut all = real()[..20_000].to_vec();
    all.extend([uniform(60_000, 3), uniform(30_000, 3), vec![7; 100_000]].concat());
    let mut counts = BTreeMap::new();
    all.iter().for_each(|&fingerprint| *counts.entry(fingerprint).or_insert(0_u64) += 1);
    for memory in [0, 64 << 20] {
        let fixture = Fixture::new(ReadMode::Mmap);
        let options = fixture.options.clone().with_load_memory(memory);
        let sorted = |fingerprints: &[u64]| {
            let mut sorter = RecordSorter::<u64>::new(&fixture.path, &options).counted();
            fingerprints.iter().for_each(|&fingerprint| sorter.push(fingerprint, IdRef::None).unwrap());
            sorter.finish().unwrap()
        };
        let parameters = Parameters::new(3).with_ids(IdKind::None);
        let (store, report) = Store::create_loaded(&fixture.path, &parameters, &options, sorted(&all)).unwrap();
        assert_eq!((report.added(), report.fingerprints), (all.len() as u64, counts.len() as u64), "{memory}");
        let check = |less: u64| {
            for (&fingerprint, &count) in &counts {
                let found = store.query(fingerprint, 0).unwrap();
                let left = count.saturating_sub(if count > 1 { less } else { 0 });
                assert_eq!(found.first().map(|found| found.id.clone()), Some(Id::Count(left)), "{fingerprint:x}");
            }
        };
        check(0);
        let twice: Vec<u64> = counts.iter().filter(|&(_, &count)| count > 1).map(|(&one, _)| one).collect();
        assert!(twice.len() > 20_000);
        assert_eq!(store.bulk_remove(sorted(&twice)).unwrap().removed, twice.len() as u64);
        check(1);
        store.bulk_load(sorted(&twice)).unwrap();
        check(0);
        let other = Fixture::new(ReadMode::Mmap);
        let numbers = <Store>::create(&other.path, &Parameters::new(3), &other.options).unwrap();
        let error = numbers.bulk_load(sorted(&all)).unwrap_err();
        assert!(error.to_string().contains("numbers its records"), "{error}");
    }
}
