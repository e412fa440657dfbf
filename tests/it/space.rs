//! Operations detect a device with clearly too little space before they write anything, and accept any other.

use crate::hooked::{Hooked, Op};
use crate::support::*;
use fpstore::bulk::RecordSorter;
use fpstore::env::Failing;
use fpstore::{Error, ErrorKind, IdKind, IdRef, Options, Parameters, ReadMode, Records, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The fixture's options, on a device with `bytes` free bytes.
fn with_free_bytes(fixture: &Fixture, bytes: u64) -> Options {
    let env = Failing::new(Arc::new(fixture.env.clone()), 0..0).with_free_bytes(bytes);
    fixture.options.clone().with_env(Arc::new(env))
}

fn no_space(error: &Error, free: u64) {
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.path().is_some() && error.to_string().contains(&format!("{free} are free")), "{error}");
}

#[test]
fn a_load_needs_room_for_what_is_new() {
    let fixture = Fixture::new(ReadMode::Pread);
    let records = numbered(&uniform(20_000, 5));
    let (old, all) = (records[..19_990].to_vec(), records.clone());
    drop(fixture.load(&Parameters::new(3), &old, 2));
    let (before, tight) = (fixture.files(), with_free_bytes(&fixture, 20_000));
    // Of these, ten are new; of those, all.
    let other = numbered(&uniform(20_000, 6));
    let store = <Store>::open(&fixture.path, &tight).unwrap();
    no_space(&store.bulk_load(Records::WithIds(other.clone())).unwrap_err(), 20_000);
    assert_eq!(fixture.files(), before);
    assert_eq!(store.bulk_load(Records::WithIds(all)).unwrap().added(), 10);
    drop(store);
    let store = <Store>::open(&fixture.path, &with_free_bytes(&fixture, 10 << 20)).unwrap();
    assert_eq!(store.bulk_load(Records::WithIds(other)).unwrap().added(), 20_000);
}

/// Holds too for records beyond the memory, whose fingerprints are not counted.
#[test]
fn many_records_of_few_fingerprints_need_little_room() {
    let fixture = Fixture::new(ReadMode::Pread);
    let options = with_free_bytes(&fixture, 50_000).with_load_memory(0);
    let parameters = Parameters::new(3).with_ids(IdKind::None);
    let fingerprints = (0..100_000).map(|n: u64| (n % 500).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let store = <Store>::create(&fixture.path, &parameters, &options).unwrap();
    assert_eq!(store.bulk_load(Records::Numbered(fingerprints)).unwrap().fingerprints, 500);
    no_space(&store.bulk_load(Records::Numbered(uniform(100_000, 8))).unwrap_err(), 50_000);
}

#[test]
fn texts_need_room_too() {
    let parameters = Parameters::new(3).with_ids(IdKind::Text);
    for (length, fits) in [(10, true), (4000, false)] {
        let fixture = Fixture::new(ReadMode::Pread);
        let store = <Store>::create(&fixture.path, &parameters, &with_free_bytes(&fixture, 200_000)).unwrap();
        let records = (0..1000).map(|n| fpstore::Record::new(n << 40, &*format!("{n:0length$}"))).collect();
        match store.bulk_load(Records::WithIds(records)) {
            Ok(_) => assert!(fits, "{length}"),
            Err(error) => {
                assert!(!fits, "{length}");
                no_space(&error, 200_000);
            }
        }
    }
}

#[test]
fn merging_needs_room_and_removing_hardly_any() {
    let fixture = Fixture::new(ReadMode::Pread);
    let records = numbered(&uniform(20_000, 7));
    drop(fixture.load(&Parameters::new(3), &records, 2));
    let (before, tight) = (fixture.files(), with_free_bytes(&fixture, 1000));
    let store = <Store>::open(&fixture.path, &tight).unwrap();
    no_space(&store.compact().unwrap_err(), 1000);
    no_space(&store.bulk_load_compact(Records::WithIds(numbered(&[1, 2]))).unwrap_err(), 1000);
    assert_eq!(fixture.files(), before);
    // A caller may remove records to free space: the removal first takes some, then a merge frees it.
    assert_eq!(store.bulk_remove(Records::WithIds(records[5..].to_vec())).unwrap().left, 5);
    assert!(store.compact().unwrap());
    assert_eq!((store.records().count(), store.statistics().segments), (5, 1));
}

#[test]
fn temporary_files_need_room_where_they_are_needed() {
    let fixture = Fixture::new(ReadMode::Pread);
    let options = with_free_bytes(&fixture, 1 << 20).with_load_memory(1 << 20);
    let mut sorter = RecordSorter::<u64>::new(&fixture.path, &options);
    sorter.check_space(1000).unwrap();
    no_space(&sorter.check_space(1_000_000).unwrap_err(), 1 << 20);
    sorter.push(1, IdRef::Number(1)).unwrap();
}

#[test]
fn a_load_without_a_limit_takes_half_of_the_memory_there_is() {
    for (available, spills) in [(1 << 20, true), (1 << 30, false)] {
        let fixture = Fixture::new(ReadMode::Pread);
        let inner = Failing::new(Arc::new(fixture.env.clone()), 0..0).with_available_memory(available);
        let scratch = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&scratch);
        let env = Hooked::behind(Arc::new(inner), move |op, _| {
            counter.fetch_add(u64::from(op == Op::Scratch), Ordering::Relaxed);
            Ok(())
        });
        let options = fixture.options.clone().with_env(env);
        let store = <Store>::create(&fixture.path, &Parameters::new(3), &options).unwrap();
        let report = store.bulk_load(Records::WithIds(numbered(&uniform(200_000, 9)))).unwrap();
        assert_eq!(report.added(), 200_000);
        assert_eq!(scratch.load(Ordering::Relaxed) > 0, spills, "{available} bytes");
    }
}
