//! Creating, opening, locking: the life cycle of a store's directory.

use crate::support::*;
use fpstore::admin::verify;
use fpstore::env::{Env, FileSystem};
use fpstore::{ErrorKind, IdAssignment, Options, Parameters, ReadMode, Records, Store};
use std::fs;

#[test]
fn create_open_and_reopen_on_the_real_file_system() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/store");
    let records = numbered(&real()[..5000]);
    for mode in MODES {
        let options = Options::new().with_read_mode(mode);
        let path = path.join(format!("{mode:?}"));
        let (store, report) =
            <Store>::create_loaded(&path, &Parameters::new(3), &options, Records::WithIds(records.clone())).unwrap();
        assert_eq!(report.added(), 5000);
        drop(store);
        let store = <Store>::open_read_only(&path, &options).unwrap();
        assert_eq!((store.id_assignment(), store.statistics().records), (IdAssignment::Explicit, 5000));
        compare(&store, &records, &[records[7].fingerprint, 0], 0..=4, "reopened");
        let report = store.verify().unwrap();
        assert!(report.damages.is_empty());
        let on_disk: u64 = fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_name() != "LOCK")
            .map(|entry| entry.metadata().unwrap().len())
            .sum();
        assert_eq!((report.files, report.bytes), (2, on_disk));
        assert_eq!(store.statistics().file_bytes, on_disk);
    }
}

#[test]
fn creating_over_something_is_refused_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (path, options) = (directory.path().join("store"), Options::new());
    drop(<Store>::create(&path, &Parameters::new(3), &options).unwrap());
    assert_eq!(<Store>::create(&path, &Parameters::new(3), &options).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let other = directory.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.txt"), "words").unwrap();
    let error = <Store>::create(&other, &Parameters::new(3), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("thesis.txt"), "{error}");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
}

#[test]
fn a_missing_store_is_not_found_and_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new();
    for path in [directory.path().join("none"), directory.path().to_owned()] {
        let read_only = <Store>::open_read_only(&path, &options).unwrap_err();
        assert_eq!(read_only.kind(), ErrorKind::NotFound, "{read_only}");
        assert_eq!(<Store>::open(&path, &options).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(verify(&path, &options).unwrap_err().kind(), ErrorKind::NotFound);
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn one_writer_at_a_time_any_number_of_readers() {
    let directory = tempfile::tempdir().unwrap();
    let (path, options) = (directory.path().join("store"), Options::new());
    let writer = <Store>::create(&path, &Parameters::new(3), &options).unwrap();
    let error = <Store>::open(&path, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    writer.bulk_load(Records::Numbered(vec![1, 2, 3])).unwrap();
    let reader = <Store>::open_read_only(&path, &options).unwrap();
    assert_eq!(reader.query(1, 0).unwrap().len(), 1);
    assert_eq!(reader.bulk_load(Records::Numbered(vec![4])).unwrap_err().kind(), ErrorKind::ReadOnly);
    drop(writer);
    <Store>::open(&path, &options).unwrap();
}

#[test]
fn leftovers_of_interrupted_work_are_no_store_and_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let (path, options) = (directory.path().join("store"), Options::new());
    fs::create_dir(&path).unwrap();
    for name in ["00000001.segment", "creating.tmp", "MANIFEST.tmp", "LOCK"] {
        fs::write(path.join(name), "unfinished").unwrap();
    }
    assert_eq!(<Store>::open(&path, &options).unwrap_err().kind(), ErrorKind::NotFound);
    // Without the mark of a creation, a segment may be a user's data: it stays.
    fs::remove_file(path.join("creating.tmp")).unwrap();
    assert_eq!(<Store>::create(&path, &Parameters::new(3), &options).unwrap_err().kind(), ErrorKind::AlreadyExists);
    fs::write(path.join("creating.tmp"), "").unwrap();
    let store = <Store>::create(&path, &Parameters::new(3), &options).unwrap();
    store.bulk_load(Records::Numbered(vec![5])).unwrap();
    drop(store);
    fs::write(path.join("00000009.segment"), "an orphan").unwrap();
    fs::write(path.join("00000002.segment.tmp"), "unfinished").unwrap();
    // Foreign files, with any names.
    fs::write(path.join("backup.segment"), "precious").unwrap();
    fs::write(path.join("notes.tmp"), "precious").unwrap();
    drop(<Store>::open_read_only(&path, &options).unwrap());
    assert_eq!(FileSystem.list(&path).unwrap().len(), 7, "a reader removes nothing");
    drop(<Store>::open(&path, &options).unwrap());
    let mut names = FileSystem.list(&path).unwrap();
    names.sort();
    assert_eq!(names, ["00000001.segment", "LOCK", "MANIFEST", "backup.segment", "notes.tmp"]);
}

#[test]
fn impossible_parameters_are_refused_before_anything_is_made() {
    let fixture = Fixture::new(ReadMode::Mmap);
    for parameters in [
        Parameters::new(65),
        Parameters::new(3).with_block_size(100),
        Parameters::new(3).with_design("tables-99".parse().unwrap()),
    ] {
        let error = <Store>::create(&fixture.path, &parameters, &fixture.options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(fixture.env.list(&fixture.path).is_err());
    }
}
