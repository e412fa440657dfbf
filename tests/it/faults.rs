//! Each operation on files fails in turn: the load fails or succeeds, and the store is as before or as after.

use crate::support::*;
use fpstore::env::{Env, Failing};
use fpstore::{Options, Parameters, ReadMode, Record, Records, Store};
use std::collections::BTreeSet;
use std::sync::Arc;

fn records_in(store: &Store) -> BTreeSet<Record> {
    store.records().map(Result::unwrap).collect()
}

/// Runs `work` with the n-th operation failing for every n, and afterwards `check` with whether it succeeded.
fn sweep(
    prepare: impl Fn(&Fixture),
    work: impl Fn(&Fixture, &Options) -> fpstore::Result<()>,
    check: impl Fn(&Fixture, bool, u64),
) {
    let mut faults = 0;
    for fails in 0.. {
        let fixture = Fixture::new(ReadMode::Pread);
        prepare(&fixture);
        let failing = Failing::new(Arc::new(fixture.env.clone()), fails);
        let options = Options::new().with_read_mode(ReadMode::Pread).with_env(Arc::new(failing.clone()));
        let result = work(&fixture, &options);
        check(&fixture, result.is_ok(), fails);
        if let Err(error) = &result {
            faults += 1;
            assert!(error.path().is_some(), "an error that names no file: {error}");
        }
        if failing.operations() <= fails {
            assert!(result.is_ok());
            break;
        }
    }
    assert!(faults > 8, "only {faults} faults were tried");
}

#[test]
fn creation() {
    let records = numbered(&real()[..3000]);
    let load = || Records::WithIds(records.clone());
    sweep(
        |_| {},
        |fixture, options| Store::create_loaded(&fixture.path, &Parameters::new(3), options, load()).map(|_| ()),
        |fixture, done, fails| {
            match Store::open(&fixture.path, &fixture.options) {
                Ok(store) => assert_eq!(records_in(&store).len(), 3000, "operation {fails}"),
                Err(_) => {
                    assert!(!done, "operation {fails}");
                    let store = Store::create_loaded(&fixture.path, &Parameters::new(3), &fixture.options, load());
                    assert_eq!(records_in(&store.unwrap().0).len(), 3000, "operation {fails}");
                }
            }
            assert!(fixture.env.list(&fixture.path).unwrap().iter().all(|name| !name.ends_with(".tmp")) || done);
        },
    );
}

#[test]
fn a_second_load() {
    let (old, new) = (numbered(&real()[..2000]), numbered(&real()[1000..4000]));
    let before: BTreeSet<Record> = old.iter().copied().collect();
    let after: BTreeSet<Record> = before.iter().chain(&new).copied().collect();
    sweep(
        |fixture| drop(fixture.load(&Parameters::new(3), &old, 1)),
        |fixture, options| {
            let mut store = Store::open(&fixture.path, options)?;
            let loaded = store.bulk_load(Records::WithIds(new.clone()));
            if loaded.is_err() {
                // The store that failed still answers, from the state before; every read fails here from now on.
                assert_eq!(store.statistics().records, 2000);
            }
            loaded.map(|_| ())
        },
        |fixture, done, fails| {
            let store = Store::open_read_only(&fixture.path, &fixture.options).unwrap();
            let found = records_in(&store);
            assert!(found == after || (found == before && !done), "operation {fails}");
            let mut store = Store::open(&fixture.path, &fixture.options).unwrap();
            assert!(fixture.env.list(&fixture.path).unwrap().iter().all(|name| !name.ends_with(".tmp")));
            store.bulk_load(Records::WithIds(new.clone())).unwrap();
            assert_eq!(records_in(&store), after, "operation {fails}");
            assert!(store.verify().unwrap().damages.is_empty());
        },
    );
}

#[test]
fn a_query_over_a_failing_disk_is_an_error_or_right() {
    let records = numbered(&real()[..3000]);
    let query = records[5].fingerprint;
    sweep(
        |fixture| drop(fixture.load(&Parameters::new(3), &records, 1)),
        |fixture, options| {
            let found = Store::open_read_only(&fixture.path, options)?.query(query, 3)?;
            assert_eq!(found, expected(&records, query, 3));
            Ok(())
        },
        |_, _, _| {},
    );
}
