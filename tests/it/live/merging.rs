//! A merge that is interrupted, however that comes, is gone on with by the next who opens the store, and makes the same.

use crate::support::*;
use fpstore::env::{Env, Failing, Memory};
use fpstore::{
    Design, Durability, Fingerprint, Id, IdKind, Maintenance, Parameters, ReadMode, Record, Store, U256, verify,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const MERGE: &str = "store/MERGE";
const PART: &str = "store/merging.tmp";

/// A closed store of four runs, the later ones with removals, and its records.
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

/// The bytes of all segments, one behind the other.
fn segments(env: &Memory) -> Vec<u8> {
    let mut names = env.list(Path::new("store")).unwrap();
    names.retain(|name| name.ends_with(".segment"));
    names.sort();
    names.iter().flat_map(|name| env.bytes(&Path::new("store").join(name)).unwrap()).collect()
}

/// How many tables are written of a merge that is not finished.
fn tables_written(env: &Memory) -> u32 {
    let tables = env.bytes(Path::new(MERGE)).and_then(|bytes| bytes[12..16].first_chunk().copied());
    tables.map_or(0, u32::from_le_bytes)
}

/// Merges what is there, and checks what comes of it; how many operations on files that takes.
fn merged<F: Fingerprint>(fixture: &Fixture, env: &Memory, expected: &(Vec<u8>, Vec<Record<F>>), label: &str) -> u64 {
    let counting = Failing::new(Arc::new(env.clone()), 0..0);
    let store = open::<F>(fixture, &counting).unwrap();
    store.compact().unwrap();
    let operations = counting.operations();
    assert_eq!(store.records().collect::<Result<Vec<_>, _>>().unwrap(), expected.1, "{label}");
    drop(store);
    assert!(segments(env) == expected.0, "{label}: another segment");
    assert!(env.bytes(Path::new(MERGE)).is_none() && env.bytes(Path::new(PART)).is_none(), "{label}: not tidied up");
    let report = verify(&fixture.path, &fixture.options.clone().with_env(Arc::new(env.clone()))).unwrap();
    assert!(report.damages.is_empty(), "{label}: {:?}", report.damages);
    operations
}

/// What an uninterrupted merge makes, and how many operations it takes.
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
    let tables = parameters.design().table_count() as u32;
    // For each number of tables that were written before, the least operations that were left.
    let mut left = BTreeMap::new();
    for at in 0..all {
        for powerless in [false, true] {
            let env = fixture.env.deep_copy();
            let dying = Failing::new(Arc::new(env.clone()), at..u64::MAX);
            let ended = open::<F>(&fixture, &dying).and_then(|store| store.compact());
            if powerless {
                env.crash();
            }
            let written = tables_written(&env);
            let label = format!("{parameters:?}: killed at {at} of {all}, power failure {powerless}");
            let operations = merged(&fixture, &env, &expected, &label);
            if ended.is_err() {
                let least = left.entry(written).or_insert(u64::MAX);
                *least = operations.min(*least);
            }
        }
    }
    assert_eq!(left.keys().copied().collect::<Vec<_>>(), (0..=tables).collect::<Vec<_>>());
    let least: Vec<u64> = (1..=tables).map(|written| left[&written]).collect();
    assert!(least.is_sorted_by(|more, less| more > less), "what was written is written again: {least:?}");
}

#[test]
fn a_merge_goes_on_wherever_it_was_killed() {
    let designed = |parts| Parameters::new(3).with_design(Design::Tables { parts });
    let fingerprints = families(150, 3, 5);
    killed_everywhere::<u64>(&designed(4), &fingerprints);
    killed_everywhere::<u64>(&designed(4).with_ids(IdKind::Text), &fingerprints);
    killed_everywhere::<u64>(&designed(4).with_ids(IdKind::None), &fingerprints);
    killed_everywhere::<U256>(&designed(4).with_width(256), &wide(300, 6));
    // The id index is made behind all tables.
    killed_everywhere::<u64>(&designed(4).with_id_index(true), &fingerprints);
}

/// A store whose merge was killed when so many tables were written.
fn interrupted(fixture: &Fixture, all: u64, tables: u32) -> Memory {
    let left_at = |at: u64| {
        let env = fixture.env.deep_copy();
        let dying = Failing::new(Arc::new(env.clone()), at..u64::MAX);
        let _ = open::<u64>(fixture, &dying).and_then(|store| store.compact());
        env.deep_copy()
    };
    (0..all).map(left_at).find(|env| tables_written(env) == tables).unwrap()
}

#[test]
fn what_does_not_hold_is_made_anew() {
    let parameters = Parameters::new(3).with_design(Design::Tables { parts: 4 });
    let (fixture, records) = runs::<u64>(&parameters, &families(150, 3, 5));
    let (expected, all) = uninterrupted(&fixture, &records);
    let left = interrupted(&fixture, all, 2);
    for name in [MERGE, PART] {
        let (path, bytes) = (Path::new(name), left.bytes(Path::new(name)).unwrap());
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 100) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x20;
            for changed in [flipped, bytes[..at].to_vec()] {
                let env = left.deep_copy();
                env.set_bytes(path, changed);
                merged(&fixture, &env, &expected, &format!("{name} changed at {at}"));
            }
        }
        let env = left.deep_copy();
        env.remove(path).unwrap();
        merged(&fixture, &env, &expected, &format!("{name} removed"));
    }
    // Of other files by these names nothing is taken.
    let env = left.deep_copy();
    env.set_bytes(Path::new(MERGE), b"a list of things to merge".to_vec());
    merged(&fixture, &env, &expected, "another file");
}

#[test]
fn a_merge_of_what_is_not_there_any_more_is_forgotten() {
    let parameters = Parameters::new(3).with_design(Design::Tables { parts: 4 });
    let (fixture, mut records) = runs::<u64>(&parameters, &families(150, 3, 5));
    let (_, all) = uninterrupted(&fixture, &records);
    let env = interrupted(&fixture, all, 2);
    let options = fixture.options.clone().with_env(Arc::new(env.clone()));
    // One more run: now all are other ones.
    let store = Store::<u64>::open(&fixture.path, &options).unwrap();
    assert_eq!(tables_written(&env), 2);
    store.insert(7, 7_000_000, Durability::Buffered).unwrap();
    records.push(Record::new(7, 7_000_000));
    records.sort();
    store.flush().unwrap();
    assert_eq!(tables_written(&env), 2);
    store.compact().unwrap();
    assert_eq!(tables_written(&env), 0);
    assert_eq!(store.records().collect::<Result<Vec<_>, _>>().unwrap(), records);
    // A store that has no such runs: what is found there is removed when it is opened.
    drop(store);
    let left = interrupted(&fixture, all, 2);
    [MERGE, PART].map(Path::new).iter().for_each(|path| env.set_bytes(path, left.bytes(path).unwrap()));
    drop(Store::<u64>::open(&fixture.path, &options).unwrap());
    assert!(env.bytes(Path::new(MERGE)).is_none() && env.bytes(Path::new(PART)).is_none());
}

#[test]
fn a_store_that_is_closed_while_it_merges_goes_on_when_it_is_opened() {
    let parameters = Parameters::new(3).with_design(Design::Tables { parts: 4 });
    let fixture = Fixture::new(ReadMode::Pread);
    let store = Store::create(&fixture.path, &parameters, &fixture.options).unwrap();
    let fingerprints = uniform(400_000, 9);
    for part in numbered(&fingerprints).chunks(100_000) {
        store.insert_many(part.iter().map(|record| (record.fingerprint, &record.id)), Durability::Buffered).unwrap();
        store.flush().unwrap();
    }
    drop(store);
    for _ in 0..20 {
        let env = fixture.env.deep_copy();
        let shared: Arc<dyn Env> = Arc::new(env.clone());
        let options = fixture.options.clone().with_env(shared).with_maintenance(Maintenance::Background);
        let live = || Store::<u64>::open(&fixture.path, &options).unwrap();
        let store = live();
        while tables_written(&env) == 0 && store.statistics().runs > 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(store);
        if tables_written(&env) == 0 {
            // It was faster.
            continue;
        }
        let store = live();
        store.wait_for_maintenance().unwrap();
        assert_eq!((store.statistics().runs, store.records().count()), (1, fingerprints.len()));
        drop(store);
        assert!(env.bytes(Path::new(MERGE)).is_none() && env.bytes(Path::new(PART)).is_none());
        return;
    }
    panic!("it was never closed while it merged");
}
