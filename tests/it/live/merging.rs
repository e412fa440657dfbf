//! A merge interrupted at any operation leaves the store unchanged; the next merge makes the same segment.

use crate::points::every;
use crate::support::*;
use fpstore::admin::verify;
use fpstore::env::{Env, Failing, Memory};
use fpstore::{Design, Durability, Fingerprint, Id, IdKind, Maintenance, Parameters, ReadMode, Record, Store, U256};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A closed store of four runs, the later ones with tombstones, and its records.
fn runs<F: Fingerprint>(parameters: &Parameters, fingerprints: &[F]) -> (Fixture, Vec<Record<F>>) {
    let fixture = Fixture::new(ReadMode::Pread);
    let store = Store::create(&fixture.path, parameters, &fixture.options).unwrap();
    let id = |number: usize| match parameters.ids() {
        IdKind::Text => Id::Text(format!("page {number}").into()),
        IdKind::None => Id::Count(1),
        _ => Id::Number(number as u64),
    };
    let records: Vec<_> = fingerprints.iter().enumerate().map(|(number, &one)| (one, id(number))).collect();
    for (number, part) in records.chunks(records.len().div_ceil(4)).enumerate() {
        store.insert_many(part.iter().map(|(one, id)| (*one, id)), Durability::Buffered).unwrap();
        for (one, id) in records.iter().skip(number).step_by(7).take(part.len() * number / 8) {
            store.remove(*one, id, Durability::Buffered).unwrap();
        }
        store.flush().unwrap();
    }
    let records = store.records().collect::<Result<_, _>>().unwrap();
    (fixture, records)
}

fn open<F: Fingerprint>(fixture: &Fixture, env: &Failing) -> fpstore::Result<Store<F>> {
    Store::open(&fixture.path, &fixture.options.clone().with_env(Arc::new(env.clone())))
}

/// The concatenated bytes of all segments.
fn segments(env: &Memory) -> Vec<u8> {
    let mut names = env.list(Path::new("store")).unwrap();
    names.retain(|name| name.ends_with(".segment"));
    names.sort();
    names.iter().flat_map(|name| env.bytes(&Path::new("store").join(name)).unwrap()).collect()
}

/// Merges the runs, and checks the result.
fn merged<F: Fingerprint>(fixture: &Fixture, env: &Memory, expected: &(Vec<u8>, Vec<Record<F>>), label: &str) {
    let store = open::<F>(fixture, &Failing::new(Arc::new(env.clone()), 0..0)).unwrap();
    store.compact().unwrap();
    assert_eq!(store.records().collect::<Result<Vec<_>, _>>().unwrap(), expected.1, "{label}");
    drop(store);
    assert!(segments(env) == expected.0, "{label}: another segment");
    let names = env.list(Path::new("store")).unwrap();
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{label}: leftovers: {names:?}");
    let report = verify(&fixture.path, &fixture.options.clone().with_env(Arc::new(env.clone()))).unwrap();
    assert!(report.damages.is_empty(), "{label}: {:?}", report.damages);
}

/// The result of an uninterrupted merge, and its number of operations.
fn uninterrupted<F: Fingerprint>(fixture: &Fixture, records: &[Record<F>]) -> ((Vec<u8>, Vec<Record<F>>), u64) {
    let env = fixture.env.deep_copy();
    let counting = Failing::new(Arc::new(env.clone()), 0..0);
    let store = open::<F>(fixture, &counting).unwrap();
    store.compact().unwrap();
    drop(store);
    ((segments(&env), records.to_vec()), counting.operations())
}

fn killed_everywhere<F: Fingerprint>(parameters: &Parameters, fingerprints: &[F]) {
    let (fixture, records) = runs(parameters, fingerprints);
    let (expected, all) = uninterrupted(&fixture, &records);
    let mut interrupted = 0;
    let mut tried = 0;
    // The share is odd, so that a short run takes both kinds, of other operations.
    for (at, powerless) in every(23, (0..all).flat_map(|at| [(at, false), (at, true)])) {
        tried += 1;
        let env = fixture.env.deep_copy();
        let dying = Failing::new(Arc::new(env.clone()), at..u64::MAX);
        let ended = open::<F>(&fixture, &dying).and_then(|store| store.compact());
        if powerless {
            env.crash();
        }
        let label = format!("{parameters:?}: killed at {at} of {all}, power failure {powerless}");
        merged(&fixture, &env, &expected, &label);
        interrupted += u64::from(ended.is_err());
    }
    assert!(2 * interrupted > tried, "{interrupted} of {tried}");
}

#[test]
fn a_merge_may_be_killed_anywhere() {
    let designed = |parts| Parameters::new(3).with_design(Design::Tables { parts });
    let fingerprints = families(150, 3, 5);
    killed_everywhere::<u64>(&designed(4), &fingerprints);
    killed_everywhere::<u64>(&designed(4).with_ids(IdKind::Text), &fingerprints);
    killed_everywhere::<u64>(&designed(4).with_ids(IdKind::None), &fingerprints);
    killed_everywhere::<U256>(&designed(4).with_width(256), &wide(300, 6));
    // The id index follows all tables.
    killed_everywhere::<u64>(&designed(4).with_id_index(true), &fingerprints);
}

#[test]
fn closing_a_store_stops_its_merge_and_the_next_one_merges() {
    let fixture = Fixture::new(ReadMode::Pread);
    let parameters = Parameters::new(3).with_design(Design::Tables { parts: 4 });
    let store = Store::create(&fixture.path, &parameters, &fixture.options).unwrap();
    let fingerprints = uniform(400_000, 9);
    for part in numbered(&fingerprints).chunks(100_000) {
        store.insert_many(part.iter().map(|record| (record.fingerprint, &record.id)), Durability::Buffered).unwrap();
        store.flush().unwrap();
    }
    drop(store);
    for _ in 0..20 {
        let env = fixture.env.deep_copy();
        let options = fixture.options.clone().with_env(Arc::new(env.clone()));
        let live = || Store::<u64>::open(&fixture.path, &options.clone().with_maintenance(Maintenance::Background));
        let writes = || env.list(&fixture.path).unwrap().iter().any(|name| name.ends_with(".tmp"));
        let store = live().unwrap();
        while !writes() && store.statistics().runs > 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
        store.close().unwrap();
        assert!(!writes(), "a temporary file is left");
        let store = Store::<u64>::open(&fixture.path, &options).unwrap();
        if store.statistics().runs == 1 {
            // The merge was faster.
            continue;
        }
        drop(store);
        let store = live().unwrap();
        store.wait_for_maintenance().unwrap();
        assert_eq!((store.statistics().runs, store.records().count()), (1, fingerprints.len()));
        return;
    }
    panic!("no merge was interrupted");
}
