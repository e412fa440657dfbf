//! Filters that are saved beside their segments are those that a program would make. A damaged file of them changes no
//! answer; one that was forged is found by verifying.

use crate::decoder::decode;
use crate::hooked::{Hooked, Op};
use crate::support::*;
use fpstore::admin::verify;
use fpstore::env::{Env, FileSystem};
use fpstore::plan::Design;
use fpstore::{ErrorKind, Filters, Fingerprint, Options, Parameters, ReadMode, Record, Records, Store, U256};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use xxhash_rust::xxh64::xxh64;

/// Bytes of filters: built, saved and refused.
fn of<F: Fingerprint>(store: &Store<F>) -> [u64; 3] {
    let filters = store.filter_statistics();
    [filters.built_bytes, filters.saved_bytes, filters.refused_bytes]
}

/// A store with saved filters, and the options of programs with filters.
fn saved(values: &[u64], parts: u8, segments: usize) -> (Fixture, Options) {
    let fixture = Fixture::new(ReadMode::Mmap);
    let parameters = Parameters::new(3).with_design(Design::Tables { parts });
    let store = fixture.load(&parameters, &numbered(values), segments);
    assert!(store.save_filters().unwrap() > 0);
    let options = fixture.options.clone().with_filters(Filters::AtOpen);
    (fixture, options)
}

fn queries(values: &[u64]) -> Vec<u64> {
    let mut random = Random(61);
    values.iter().step_by(values.len() / 40).map(|&value| random.flip(value, 2)).collect()
}

/// Values of which a quarter of the bits are ones.
fn skewed(count: usize) -> Vec<u64> {
    uniform(count, 62).iter().zip(uniform(count, 63)).map(|(one, other)| one & other).collect()
}

const FIRST: &str = "store/00000001.filters";

#[test]
fn saved_filters_are_read_in_place_of_made_ones() {
    // Lines; Bloom filters; Bloom filters because lines would be too uneven.
    let skewed = skewed(60_000);
    for (values, parts) in [(uniform(60_000, 62), 3), (uniform(60_000, 62), 2), (skewed, 3), (real(), 2)] {
        let (fixture, options) = saved(&values, parts, 2);
        fixture.env.remove(Path::new(FIRST)).unwrap();
        let made = <Store>::open_read_only(&fixture.path, &options).unwrap();
        let [built, of_second, refused] = of(&made);
        assert!(refused == 0 && of_second > 0 && 3 * of_second < 2 * built, "{built} {of_second}");
        drop(made);
        let writer = <Store>::open(&fixture.path, &options).unwrap();
        let written = writer.save_filters().unwrap();
        assert!(written > built - of_second && written < built - of_second + 200, "{written}");
        assert_eq!((writer.save_filters().unwrap(), of(&writer)), (0, [built, built, 0]));
        drop(writer);
        for mode in MODES {
            let store = <Store>::open_read_only(&fixture.path, &options.clone().with_read_mode(mode)).unwrap();
            assert_eq!(of(&store), [built, built, 0]);
            compare(&store, &numbered(&values), &queries(&values), 0..=4, "saved filters");
        }
        let report = verify(&fixture.path, &options).unwrap();
        assert!(report.damages.is_empty() && report.files >= 5, "{report:?}");
    }
}

#[test]
fn the_specification_makes_the_same_filters() {
    fn check<F: Fingerprint>(values: &[F], parameters: &Parameters) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let records: Vec<Record<F>> = numbered(values);
        let (store, _) =
            Store::create_loaded(&path, parameters, &Options::new(), Records::WithIds(records.clone())).unwrap();
        assert!(store.save_filters().unwrap() > 0);
        drop(store);
        let Some(decoded) = decode(&path) else { return };
        assert_eq!((decoded.code, decoded.records.lines().count()), (0, records.len()), "{}", decoded.messages);
        // What it makes of other keys is another filter.
        let file = path.join("00000001.filters");
        let mut bytes = std::fs::read(&file).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let decoded = decode(&path).unwrap();
        assert!(decoded.code == 1 && decoded.messages.contains("hash"), "{}", decoded.messages);
    }
    check(&uniform(6_000, 64), &Parameters::new(3));
    check(&uniform(6_000, 64), &Parameters::new(3).with_design(Design::Tables { parts: 4 }));
    check(&skewed(6_000), &Parameters::new(3).with_design(Design::Tables { parts: 4 }));
    check(&families(60, 100, 66), &Parameters::new(7).with_design(Design::Tables { parts: 2 }));
    check(&wide::<U256>(6_000, 67), &Parameters::new(15).with_width(256));
}

#[test]
fn damage_is_reported_and_costs_no_answer() {
    let values = uniform(20_000, 68);
    let (fixture, options) = saved(&values, 2, 1);
    let bytes = fixture.env.bytes(Path::new(FIRST)).unwrap();
    let [built, ..] = of(&<Store>::open_read_only(&fixture.path, &options).unwrap());
    let checked = |bytes: Vec<u8>, readable: u64, what: &str| {
        fixture.env.set_bytes(Path::new(FIRST), bytes);
        let store = <Store>::open_read_only(&fixture.path, &options).unwrap();
        assert_eq!(of(&store), [built, readable, 0], "{what}");
        compare(&store, &numbered(&values), &queries(&values)[..5], 0..=3, what);
        let report = store.verify().unwrap();
        let [damage] = &report.damages[..] else { panic!("{what}: {report:?}") };
        assert!(damage.path == Path::new(FIRST) && damage.to_string().contains("remove the file"), "{damage}");
    };
    let head = 22 + 21 * 2;
    for at in (0..head).step_by(3).chain([head, head + 1000, bytes.len() / 2 + head, bytes.len() - 1]) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        // The filters of both tables are equally large; one of them may be sound.
        let readable = if at < head { 0 } else { built / 2 };
        checked(damaged, readable, &format!("byte {at}"));
    }
    for length in [0, 17, 18, head, bytes.len() - 1] {
        checked(bytes[..length].to_vec(), 0, &format!("{length} bytes"));
    }
    // A writer saves them anew.
    let store = <Store>::open(&fixture.path, &options).unwrap();
    assert_eq!(store.save_filters().unwrap(), bytes.len() as u64);
    assert_eq!(fixture.env.bytes(Path::new(FIRST)).unwrap(), bytes);
}

#[test]
fn a_forged_filter_is_found_by_verifying() {
    let (fixture, options) = saved(&uniform(20_000, 77), 2, 1);
    let bytes = fixture.env.bytes(Path::new(FIRST)).unwrap();
    let (head, table) = (22 + 21 * 2, (bytes.len() - 22 - 21 * 2) / 2);
    // The words of the second filter without a key, under sums that hold.
    let mut forged = bytes.clone();
    forged[head + table..].fill(0);
    let hash = xxh64(&forged[head + table..], 0).to_le_bytes();
    forged[18 + 21 + 13..18 + 21 + 21].copy_from_slice(&hash);
    let sum = crc32fast::hash(&forged[..head - 4]).to_le_bytes();
    forged[head - 4..head].copy_from_slice(&sum);
    fixture.env.set_bytes(Path::new(FIRST), forged);
    let damages = verify(&fixture.path, &options).unwrap().damages;
    let [damage] = &damages[..] else { panic!("{damages:?}") };
    assert!(damage.message.contains("a key does not pass the filter of table 1"), "{damage}");
    assert_eq!(damage.offset, Some((head + table) as u64));
}

#[test]
fn of_two_threads_that_save_one_waits() {
    let fixture = Fixture::new(ReadMode::Mmap);
    drop(fixture.load(&Parameters::new(3), &numbered(&uniform(30_000, 78)), 1));
    // Slow enough that the other thread would write to the same temporary file.
    let slow = |op, path: &Path| {
        if matches!(op, Op::Create | Op::Rename) && path.to_string_lossy().contains(".filters") {
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    };
    let env = Hooked::behind(Arc::new(fixture.env.clone()), slow);
    let store = <Store>::open(&fixture.path, &fixture.options.clone().with_env(env)).unwrap();
    let written: u64 = thread::scope(|threads| {
        let saving = [(); 2].map(|()| threads.spawn(|| store.save_filters().unwrap()));
        saving.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(written, fixture.env.bytes(Path::new(FIRST)).unwrap().len() as u64, "written once");
    assert_eq!(store.verify().unwrap().damages, []);
}

#[test]
fn filters_of_another_segment_are_not_used() {
    let (values, other) = (uniform(20_000, 69), uniform(20_000, 70));
    let ((fixture, options), (others, _)) = (saved(&values, 2, 1), saved(&other, 2, 1));
    fixture.env.set_bytes(Path::new(FIRST), others.env.bytes(Path::new(FIRST)).unwrap());
    let store = <Store>::open_read_only(&fixture.path, &options).unwrap();
    assert_eq!(of(&store)[1], 0);
    compare(&store, &numbered(&values), &queries(&values), 0..=3, "filters of another segment");
    assert!(store.verify().unwrap().damages[0].message.contains("another segment"));
}

#[test]
fn they_go_with_their_segment() {
    let values = uniform(30_000, 71);
    let (fixture, options) = saved(&values, 2, 3);
    let names = || {
        let mut names = fixture.env.list(&fixture.path).unwrap();
        names.retain(|name| name.ends_with(".filters"));
        names.sort_unstable();
        names
    };
    assert_eq!(names(), ["00000001.filters", "00000002.filters", "00000003.filters"]);
    let store = <Store>::open(&fixture.path, &options).unwrap();
    assert!(store.compact().unwrap());
    drop(store);
    assert!(names().is_empty(), "{:?}", names());
    // What a writer left that died in between.
    let left = ["00000001.filters", "00000009.filters.tmp", "7.filters", "notes.filters"];
    left.iter().for_each(|name| fixture.env.set_bytes(&fixture.path.join(name), vec![1, 2, 3]));
    drop(<Store>::open(&fixture.path, &options).unwrap());
    assert_eq!(names(), ["7.filters", "notes.filters"], "other files stay");
    assert!(fixture.env.bytes(&fixture.path.join("00000009.filters.tmp")).is_none());
}

#[test]
fn a_program_with_less_memory_makes_smaller_ones_and_does_not_replace_larger_ones() {
    let values = uniform(30_000, 72);
    let (fixture, options) = saved(&values, 2, 1);
    let bytes = fixture.env.bytes(Path::new(FIRST)).unwrap();
    let [built, ..] = of(&<Store>::open_read_only(&fixture.path, &options).unwrap());
    let store = <Store>::open(&fixture.path, &options.clone().with_filter_memory(built / 2)).unwrap();
    let [smaller, read, refused] = of(&store);
    assert!(read == 0 && smaller <= built / 2 && smaller + refused == built);
    assert_eq!(store.save_filters().unwrap(), 0);
    assert_eq!(fixture.env.bytes(Path::new(FIRST)).unwrap(), bytes);
}

#[test]
fn readers_write_none() {
    let fixture = Fixture::new(ReadMode::Mmap);
    drop(fixture.load(&Parameters::new(3), &numbered(&uniform(30_000, 73)), 1));
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.save_filters().unwrap_err().kind(), ErrorKind::ReadOnly);
    assert!(fixture.env.bytes(Path::new(FIRST)).is_none());
}

#[test]
fn a_table_that_cannot_be_read_is_an_error() {
    let fixture = Fixture::new(ReadMode::Mmap);
    drop(fixture.load(&Parameters::new(3), &numbered(&uniform(30_000, 75)), 1));
    fixture.damage(40_000);
    let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
    let error = store.save_filters().unwrap_err();
    assert!(error.kind() == ErrorKind::Damaged && error.path().is_some() && error.offset().is_some(), "{error}");
    assert!(fixture.env.bytes(Path::new(FIRST)).is_none());
}

#[test]
fn a_store_without_large_tables_has_nothing_to_save() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let options = Options::new().with_env(Arc::new(FileSystem));
    let records = Records::Numbered(uniform(1000, 74));
    let (store, _) = Store::<u64>::create_loaded(&path, &Parameters::new(3), &options, records).unwrap();
    assert_eq!(store.save_filters().unwrap(), 0);
    assert!(!path.join("00000001.filters").exists());
}
