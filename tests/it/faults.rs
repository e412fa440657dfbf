//! Each operation on files fails in turn, alone or with all later ones, optionally followed by a power failure. A load
//! fails or succeeds, and the store has the state before or after it. Acknowledged writes survive the power failure.

use crate::points::{SHARE, every, is_long};
use crate::support::*;
use fpstore::env::{Env, Failing};
use fpstore::{
    Design, ErrorKind, Fingerprint, Maintenance, Options, Parameters, ReadMode, Record, Records, Store, U256,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn records_in(store: &Store) -> BTreeSet<Record> {
    store.records().map(Result::unwrap).collect()
}

/// One point of a sweep.
#[derive(Clone, Copy, Debug)]
struct Fault {
    /// Number of the operation that fails.
    #[expect(dead_code, reason = "for messages, by way of Debug")]
    operation: u64,
    /// Whether all later operations fail too.
    lasting: bool,
    /// Whether all unsynced data is lost afterwards.
    crash: bool,
}

/// Runs `work` with every fault, or with one of `share` in a short run; then calls `check` with whether it succeeded.
fn sweep(
    share: u64,
    prepare: impl Fn(&Fixture),
    work: impl Fn(&Fixture, &Options) -> fpstore::Result<()>,
    check: impl Fn(&Fixture, bool, Fault),
) {
    let prepared = Fixture::new(ReadMode::Pread);
    prepare(&prepared);
    for (lasting, crash) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut faults = 0;
        for operation in every(share, 0..) {
            let fixture = prepared.copy();
            let fails = operation..if lasting { u64::MAX } else { operation + 1 };
            let failing = Failing::new(Arc::new(fixture.env.clone()), fails);
            let options = Options::new()
                .with_read_mode(ReadMode::Pread)
                .with_maintenance(Maintenance::Manual)
                .with_env(Arc::new(failing.clone()));
            let result = work(&fixture, &options);
            if let Err(error) = &result {
                faults += 1;
                assert!(error.path().is_some(), "an error that names no file: {error}");
            }
            let reached = failing.operations() > operation;
            assert!(reached || result.is_ok());
            if crash {
                fixture.env.crash();
            }
            check(&fixture, result.is_ok(), Fault { operation, lasting, crash });
            if !reached {
                break;
            }
        }
        let share = if is_long() { 1 } else { share };
        assert!(faults * share > 8, "only {faults} faults were tried, one of {share}");
    }
}

/// The names in the store's directory, if there is one.
fn names(fixture: &Fixture) -> Vec<String> {
    fixture.env.list(&fixture.path).unwrap_or_default()
}

#[test]
fn creation() {
    let records = numbered(&real()[..1000]);
    let load = || Records::WithIds(records.clone());
    sweep(
        1,
        |_| {},
        |fixture, options| <Store>::create_loaded(&fixture.path, &Parameters::new(3), options, load()).map(|_| ()),
        |fixture, done, fault| {
            match <Store>::open(&fixture.path, &fixture.options) {
                Ok(store) => assert_eq!(records_in(&store).len(), 1000, "{fault:?}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::NotFound, "{fault:?}: {error}");
                    assert!(!done, "{fault:?}");
                    if !fault.lasting && !fault.crash {
                        assert!(names(fixture).is_empty(), "{fault:?}: {:?} is left", names(fixture));
                    }
                    let store = <Store>::create_loaded(&fixture.path, &Parameters::new(3), &fixture.options, load());
                    assert_eq!(records_in(&store.unwrap().0).len(), 1000, "{fault:?}");
                }
            }
            let mut left = names(fixture);
            left.sort();
            assert!(left == ["00000001.segment", "LOCK", "MANIFEST"] || left.iter().any(|name| name == "creating.tmp"));
            drop(<Store>::open(&fixture.path, &fixture.options).unwrap());
            assert!(!names(fixture).iter().any(|name| name.ends_with(".tmp")), "{fault:?}");
        },
    );
}

#[test]
fn saving_filters() {
    let records = numbered(&uniform(9000, 81));
    let name = "00000001.filters";
    sweep(
        1,
        |fixture| drop(fixture.load(&Parameters::new(3), &records, 1)),
        |fixture, options| <Store>::open(&fixture.path, options)?.save_filters().map(|_| ()),
        |fixture, done, fault| {
            // A file that is there is whole.
            let is_there = fixture.env.bytes(&fixture.path.join(name)).is_some();
            assert!(is_there || !done, "{fault:?}");
            let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
            assert_eq!(store.verify().unwrap().damages, []);
            assert_eq!(records_in(&store).len(), 9000, "{fault:?}");
            assert!(!names(fixture).iter().any(|name| name.ends_with(".tmp")), "{fault:?}");
            assert!(is_there || store.save_filters().unwrap() > 0, "{fault:?}");
        },
    );
}

#[test]
fn a_second_load() {
    let (old, new) = (numbered(&real()[..400]), numbered(&real()[200..800]));
    let before: BTreeSet<Record> = old.iter().cloned().collect();
    let after: BTreeSet<Record> = before.iter().chain(&new).cloned().collect();
    sweep(
        1,
        |fixture| drop(fixture.load(&Parameters::new(3), &old, 1)),
        |fixture, options| {
            let store = <Store>::open(&fixture.path, options)?;
            store.bulk_load(Records::WithIds(new.clone())).map(|_| ())
        },
        |fixture, done, fault| {
            let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
            let found = records_in(&store);
            assert!(found == after || (found == before && !done), "{fault:?}");
            let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
            let expected = if found == after { 2 } else { 1 };
            assert_eq!(names(fixture).len(), expected + 2, "{fault:?}: {:?}", names(fixture));
            store.bulk_load(Records::WithIds(new.clone())).unwrap();
            assert_eq!(records_in(&store), after, "{fault:?}");
            assert!(store.verify().unwrap().damages.is_empty());
        },
    );
}

#[test]
fn a_load_that_makes_one_segment() {
    let (old, new) = (numbered(&real()[..400]), numbered(&real()[200..800]));
    let after: BTreeSet<Record> = old.iter().chain(&new).cloned().collect();
    for loads in 0..3 {
        let before: BTreeSet<Record> = if loads == 0 { BTreeSet::new() } else { old.iter().cloned().collect() };
        let load = if loads == 0 { after.iter().cloned().collect() } else { new.clone() };
        sweep(
            SHARE,
            |fixture| {
                let records: Vec<Record> = before.iter().cloned().collect();
                drop(fixture.load(&Parameters::new(3), &records, loads));
            },
            |fixture, options| {
                let store = <Store>::open(&fixture.path, options)?;
                store.bulk_load_compact(Records::WithIds(load.clone())).map(|_| ())
            },
            |fixture, done, fault| {
                let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
                let found = records_in(&store);
                assert!(found == after || (found == before && !done), "{fault:?}");
                let segments = if found == after { 1 } else { loads };
                assert_eq!(names(fixture).len(), segments + 2, "{fault:?}: {:?}", names(fixture));
                store.bulk_load_compact(Records::WithIds(load.clone())).unwrap();
                assert_eq!(records_in(&store), after, "{fault:?}");
                assert_eq!(names(fixture).len(), 3, "{fault:?}: {:?}", names(fixture));
                assert!(store.verify().unwrap().damages.is_empty());
            },
        );
    }
}

/// Runs of records, fingerprints and keys, and sections that wait for their place: all in temporary files, whose
/// operations fail too.
#[test]
fn a_load_that_does_not_fit_its_memory() {
    let (old, new) = (numbered(&wide::<U256>(400, 71)), numbered(&wide::<U256>(12_000, 72)));
    let parameters = Parameters::new(7).with_width(256).with_design(Design::Tables { parts: 8 });
    let mut after = [old.clone(), new.clone()].concat();
    after.sort_unstable();
    let mut before = old.clone();
    before.sort_unstable();
    let (mut done, mut faults) = (false, 0);
    // The numbers of failing operations, out of some two thousand.
    let prepared = Fixture::new(ReadMode::Pread);
    drop(prepared.load_wide(&parameters, &old, 1));
    for operation in (0..).step_by(23) {
        let fixture = prepared.copy();
        let failing = Failing::new(Arc::new(fixture.env.clone()), operation..operation + 1);
        let options = fixture.options.clone().with_env(Arc::new(failing.clone())).with_load_memory(0);
        let loaded = Store::<U256>::open(&fixture.path, &options)
            .and_then(|store| store.bulk_load(Records::WithIds(new.clone())));
        faults += usize::from(loaded.is_err());
        fixture.env.crash();
        let store = Store::<U256>::open(&fixture.path, &fixture.options).unwrap();
        let found: Vec<Record<U256>> = store.records().map(Result::unwrap).collect();
        assert!(found == after || (found == before && loaded.is_err()), "operation {operation}");
        assert!(names(&fixture).len() <= 4, "operation {operation}: {:?}", names(&fixture));
        if failing.operations() <= operation {
            assert!(store.verify().unwrap().damages.is_empty());
            let queries = new.iter().step_by(1201).map(|record| record.fingerprint.flipped(5));
            queries.for_each(|query| assert_eq!(store.query(query, 7).unwrap(), expected(&after, query, 7)));
            done = operation > 500;
            break;
        }
    }
    assert!(done && faults > 20, "{faults} faults");
}

#[test]
fn a_store_whose_load_failed_answers_as_before_and_takes_the_next_load_or_says_why_not() {
    let (old, new) = (numbered(&real()[..400]), numbered(&real()[200..800]));
    let poisoned = std::cell::Cell::new(0);
    sweep(
        1,
        |fixture| drop(fixture.load(&Parameters::new(3), &old, 1)),
        |fixture, options| {
            let store = <Store>::open(&fixture.path, options)?;
            let loaded = store.bulk_load(Records::WithIds(new.clone()));
            if let Err(error) = loaded {
                assert_eq!(store.statistics().records, 400);
                return match store.bulk_load(Records::WithIds(new.clone())) {
                    Ok(report) => {
                        assert_eq!(report.added(), 600);
                        Ok(())
                    }
                    // The store is poisoned only if the new manifest may exist already.
                    Err(again) if again.kind() == ErrorKind::Poisoned => {
                        poisoned.set(poisoned.get() + 1);
                        Err(again)
                    }
                    Err(_) => Err(error),
                };
            }
            Ok(())
        },
        |fixture, done, fault| {
            let found = records_in(&<Store>::open_read_only(&fixture.path, &fixture.options).unwrap()).len();
            assert!(found == 1000 || (found == 400 && !done), "{fault:?}: {found} {done}");
        },
    );
    assert!(poisoned.get() > 0);
}

#[test]
fn opening_for_writing_makes_a_manifest_durable_whose_writer_could_not() {
    // The writer's last sync fails, so its load fails although the new manifest exists. The next writer finds the
    // records and reports them as present, so it must have made them durable.
    let new = numbered(&real()[..500]);
    let parameters = Parameters::new(3);
    for operation in every(3, 0..200) {
        let fixture = Fixture::new(ReadMode::Pread);
        drop(<Store>::create(&fixture.path, &parameters, &fixture.options).unwrap());
        let failing = Failing::new(Arc::new(fixture.env.clone()), operation..operation + 1);
        let options = Options::new().with_maintenance(Maintenance::Manual).with_env(Arc::new(failing));
        let _ = <Store>::open(&fixture.path, &options).and_then(|store| store.bulk_load(Records::WithIds(new.clone())));
        let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
        store.bulk_load(Records::WithIds(new.clone())).unwrap();
        drop(store);
        fixture.env.crash();
        let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
        assert_eq!(records_in(&store).len(), 500, "operation {operation}");
    }
}

#[test]
fn a_query_over_a_failing_disk_is_an_error_or_right() {
    let records = numbered(&real()[..1000]);
    let query = records[5].fingerprint;
    sweep(
        1,
        |fixture| drop(fixture.load(&Parameters::new(3), &records, 1)),
        |fixture, options| {
            let found = <Store>::open_read_only(&fixture.path, options)?.query(query, 3)?;
            assert_eq!(found, expected(&records, query, 3));
            Ok(())
        },
        |_, _, _| {},
    );
}

#[test]
fn a_load_reads_no_more_of_the_store_once_reading_has_failed() {
    let fixture = Fixture::new(ReadMode::Pread);
    let records = numbered(&uniform(3000, 91));
    drop(fixture.load(&Parameters::new(3), &records, 1));
    let failing = Failing::new(Arc::new(fixture.env.clone()), 0..0);
    let options = Options::new()
        .with_read_mode(ReadMode::Pread)
        .with_page_cache(0)
        .with_maintenance(Maintenance::Manual)
        .with_env(Arc::new(failing.clone()));
    let store = <Store>::open(&fixture.path, &options).unwrap();
    let opened = failing.operations();
    store.bulk_load(Records::WithIds(records.clone())).unwrap();
    // This load took many operations. On a disk that fails from the third one on, a load stops at the first failure.
    assert!(failing.operations() - opened > 20);
    drop(store);
    let failing = Failing::new(Arc::new(fixture.env.clone()), opened + 2..u64::MAX);
    let options = options.with_env(Arc::new(failing.clone()));
    let store = <Store>::open(&fixture.path, &options).unwrap();
    assert_eq!(store.bulk_load(Records::WithIds(records)).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(failing.operations(), opened + 3);
}
