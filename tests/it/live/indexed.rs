//! An id index added later, and finding, removing and replacing by id with it and without.

use super::model::Model;
use crate::points::every;
use crate::support::*;
use fpstore::admin::{add_id_index, verify};
use fpstore::bulk::{IdSorter, SortedIds};
use fpstore::env::{Env, Failing};
use fpstore::{
    Durability, ErrorKind, Fingerprint, Id, IdKind, IdRef, Options, Parameters, ReadMode, Record, Records, Result,
    Store, U256, parameters_of,
};
use rayon::prelude::*;
use std::sync::Arc;

fn id(kind: IdKind, number: u64) -> Id {
    if kind == IdKind::Text { Id::Text(format!("/page/{number}").into()) } else { Id::Number(number) }
}

/// Records, several of them with one id, in several runs and logs, some of them removed.
fn filled<F: Fingerprint>(kind: IdKind, with_index: bool) -> (Fixture, Parameters, Model<F>) {
    let fixture = Fixture::new(ReadMode::Pread);
    let parameters = Parameters::new(3).with_width(F::WIDTH).with_ids(kind).with_id_index(with_index);
    let mut model = Model::new(kind);
    let records: Vec<Record<F>> =
        wide(400, 3).into_iter().zip(0..).map(|(one, number)| Record::new(one, id(kind, number % 150))).collect();
    records.iter().for_each(|record| model.insert(record.fingerprint, &record.id));
    let store = fixture.load_wide(&parameters, &records[..390], 3);
    for record in &records[390..] {
        store.insert(record.fingerprint, &record.id, Durability::SyncData).unwrap();
    }
    for record in records.iter().step_by(50) {
        assert!(store.remove(record.fingerprint, &record.id, Durability::SyncData).unwrap());
        model.remove(record.fingerprint, &record.id);
    }
    (fixture, parameters, model)
}

fn sorted(options: &Options, ids: &[Id]) -> SortedIds {
    let mut sorter = IdSorter::new(std::path::Path::new("store"), options);
    ids.iter().for_each(|id| sorter.push(id.into()).unwrap());
    sorter.finish().unwrap()
}

fn records<F: Fingerprint>(store: &Store<F>) -> Vec<Record<F>> {
    store.records().map(Result::unwrap).collect()
}

/// The index finds the same as a scan, wherever adding it is interrupted; the records never change.
fn added<F: Fingerprint>(kind: IdKind, step: usize) {
    let (fixture, parameters, model) = filled::<F>(kind, false);
    let counting = Failing::new(Arc::new(fixture.env.deep_copy()), 0..0);
    let shared: Arc<dyn Env> = Arc::new(counting.clone());
    assert!(add_id_index(&fixture.path, &fixture.options.clone().with_env(shared)).unwrap());
    let all = counting.operations();
    every(5, (0..=all).step_by(step)).collect::<Vec<_>>().into_par_iter().for_each(|at| {
        for (lasting, crash) in [(true, true), (true, false), (false, false)] {
            let memory = fixture.env.deep_copy();
            let fails = at..if lasting { u64::MAX } else { at + 1 };
            let shared: Arc<dyn Env> = Arc::new(Failing::new(Arc::new(memory.clone()), fails));
            let done = add_id_index(&fixture.path, &fixture.options.clone().with_env(shared));
            if crash {
                let mut random = Random(at);
                memory.crash_keeping(|| random.below(2) == 0);
            }
            let options = fixture.options.clone().with_env(Arc::new(memory.clone()));
            let now = parameters_of(&fixture.path, &options).unwrap();
            assert_eq!(now.clone().with_id_index(false), parameters, "operation {at}");
            assert!(now.id_index() || done.is_err(), "operation {at}: {done:?}");
            let store = Store::<F>::open(&fixture.path, &options).unwrap();
            assert_eq!(records(&store), model.records(), "operation {at}");
            assert_eq!(store.statistics().records, model.count(), "operation {at}");
            drop(store);
            assert_eq!(add_id_index(&fixture.path, &options).unwrap(), !now.id_index(), "operation {at}");
            assert!(verify(&fixture.path, &options).unwrap().damages.is_empty(), "operation {at}");
            let store = Store::<F>::open(&fixture.path, &options).unwrap();
            for id in (0..151).map(|number| id(kind, number)) {
                assert_eq!(store.get_id(&id).unwrap(), model.fingerprints_of(&id), "operation {at}");
            }
        }
    });
}

#[test]
fn an_index_is_added_whole_or_not_at_all() {
    added::<u64>(IdKind::Number, 1);
    added::<u64>(IdKind::Text, 3);
    added::<U256>(IdKind::Text, 7);
}

#[test]
fn an_empty_store_gets_an_index_too() {
    let fixture = Fixture::new(ReadMode::Pread);
    drop(Store::<u64>::create(&fixture.path, &Parameters::new(3), &fixture.options).unwrap());
    assert!(add_id_index(&fixture.path, &fixture.options).unwrap());
    let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
    store.insert(7, 1, Durability::SyncAll).unwrap();
    assert_eq!(store.get_id(1).unwrap(), [7]);
    store.compact().unwrap();
    assert_eq!(store.get_id(1).unwrap(), [7]);
}

#[test]
fn a_reader_from_before_is_told_to_open_the_store_anew() {
    let (fixture, _, model) = filled::<u64>(IdKind::Number, false);
    let reader = Store::<u64>::open_read_only(&fixture.path, &fixture.options).unwrap();
    assert!(add_id_index(&fixture.path, &fixture.options).unwrap());
    assert_eq!(reader.refresh().unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(records(&reader), model.records());
}

#[test]
fn few_ids_and_many_with_an_index_and_without() {
    for (kind, with_index, few) in [IdKind::Number, IdKind::Text]
        .into_iter()
        .flat_map(|kind| [(true, true), (true, false), (false, true)].map(|(with_index, few)| (kind, with_index, few)))
    {
        let (fixture, _, mut model) = filled::<u64>(kind, with_index);
        let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
        // Ids that are repeated in the input, ids that do not exist, and ids with three records each.
        let numbers = if few { vec![7, 7, 900, 8, 901] } else { (60..160).chain([60, 900]).collect() };
        let ids: Vec<Id> = numbers.iter().map(|&number| id(kind, number)).collect();
        let removed: u64 = ids.iter().map(|id| model.remove_id(id, None)).sum();
        let report = store.bulk_remove_ids(&sorted(&fixture.options, &ids)).unwrap();
        let unknown = if few { 2 } else { 12 };
        assert_eq!((report.removed, report.unknown, report.left), (removed, unknown, model.count()), "{kind}");
        assert!(removed > 5 && report.unknown_ids.is_sorted() && report.unknown_ids.contains(&id(kind, 900)) == few);
        assert_eq!(records(&store), model.records());

        let new = |number: u64| Record::new(number << 40, id(kind, number));
        let mut given: Vec<Record> = (1..if few { 4 } else { 60 }).map(new).collect();
        given.push(Record::new(7 << 40, id(kind, 2)));
        given.extend(model.records().into_iter().filter(|record| record.id == id(kind, 3)));
        let removed = model.replace(&given);
        let report = store.bulk_replace(Records::WithIds(given)).unwrap();
        assert!(removed > 5 && report.loaded.already_present > 0, "{report:?}");
        assert_eq!(report.removed, removed);
        assert_eq!((records(&store), store.statistics().records), (model.records(), model.count()));
        store.compact().unwrap();
        assert_eq!((records(&store), store.statistics().records), (model.records(), model.count()));
    }
}

#[test]
fn what_has_no_ids_of_documents_is_refused() {
    let refused = |error: fpstore::Error, part: &str| {
        assert!(error.kind() == ErrorKind::InvalidInput && error.to_string().contains(part), "{error}");
    };
    let fixture = Fixture::new(ReadMode::Pread);
    let numbered = Records::Numbered(vec![1_u64, 2, 3]);
    let load = |parameters: &Parameters| {
        Store::create_loaded(&fixture.path, parameters, &fixture.options, numbered.clone()).unwrap().0
    };
    let store = load(&Parameters::new(3));
    refused(store.bulk_replace(Records::WithIds(vec![Record::new(1, 1)])).unwrap_err(), "numbers its records itself");
    // A caller gets the numbers from answers, so it removes records by them.
    let ids = sorted(&fixture.options, &[Id::Number(1), Id::Number(9)]);
    assert_eq!(store.bulk_remove_ids(&ids).unwrap().removed, 1);
    refused(store.bulk_remove_ids(&sorted(&fixture.options, &[Id::from("a")])).unwrap_err(), "ids of another kind");
    drop(store);
    let fixture = Fixture::new(ReadMode::Pread);
    let counted = Parameters::new(3).with_ids(IdKind::None);
    let store = Store::create_loaded(&fixture.path, &counted, &fixture.options, numbered).unwrap().0;
    refused(store.bulk_replace(Records::WithIds(vec![Record::new(1, 1)])).unwrap_err(), "has no ids");
    refused(store.bulk_remove_ids(&ids).unwrap_err(), "has no ids");
    drop(store);
    refused(add_id_index(&fixture.path, &fixture.options).unwrap_err(), "has no ids");
    let mut sorter = IdSorter::new(&fixture.path, &fixture.options);
    refused(sorter.push(IdRef::None).unwrap_err(), "an id is missing");
    refused(sorter.push(IdRef::Text("")).unwrap_err(), "");
}
