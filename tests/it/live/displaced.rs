//! A store whose directory is moved away while it is open, and replaced by another store.

use crate::hooked::{Hooked, Op};
use crate::support::*;
use fpstore::admin::verify;
use fpstore::env::{Env, FileSystem};
use fpstore::{Durability, ErrorKind, IdKind, Maintenance, Options, Parameters, Record, Records, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// All files of a directory, except its lock.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| !path.ends_with("LOCK")).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// A store of other records, with as many files of the same names as possible.
fn make_other(path: &Path) {
    let options = Options::new().with_maintenance(Maintenance::Manual);
    let store = Store::<u64>::create(path, &Parameters::new(3), &options).unwrap();
    for number in 0..4 {
        let records = (0..250).map(|n| Record::new(Random(n + 1000 * number).next(), n)).collect();
        store.bulk_load(Records::WithIds(records)).unwrap();
        store.insert(number, number, Durability::SyncAll).unwrap();
    }
}

/// Writes of every kind, until one fails; returns the number of acknowledged records.
fn work(path: &Path, options: &Options) -> (Store, u64, Option<fpstore::Error>) {
    let store = Store::<u64>::open(path, options).unwrap();
    let mut acknowledged = 0;
    for round in 0..3u64 {
        for n in 0..200 {
            let id = round * 1000 + n;
            if let Err(error) = store.insert(Random(id).next(), id, Durability::Buffered) {
                return (store, acknowledged, Some(error));
            }
            acknowledged += 1;
        }
        let loaded: Vec<_> =
            (500..600).map(|n| round * 1000 + n).map(|id| Record::new(Random(id).next(), id)).collect();
        if let Err(error) = store.bulk_load(Records::WithIds(loaded)) {
            return (store, acknowledged, Some(error));
        }
        acknowledged += 100;
        if let Err(error) = store.flush().and_then(|()| store.compact()) {
            return (store, acknowledged, Some(error));
        }
    }
    (store, acknowledged, None)
}

#[test]
fn a_store_put_in_the_place_of_an_open_one_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let other = directory.path().join("other");
    make_other(&other);
    let expected: BTreeMap<_, _> =
        files(&other).into_iter().map(|(path, bytes)| (path.file_name().unwrap().to_owned(), bytes)).collect();
    let mut noticed = 0;
    for maintenance in [Maintenance::Foreground, Maintenance::Background] {
        for point in (0..).step_by(11) {
            let (path, aside) = (directory.path().join("store"), directory.path().join("aside"));
            let count = Arc::new(AtomicU64::new(0));
            let hook = {
                let (count, path, aside, other) = (Arc::clone(&count), path.clone(), aside.clone(), other.clone());
                move |op: Op, at: &Path| {
                    let changes = matches!(op, Op::Create | Op::CreateLog | Op::Rename | Op::Remove);
                    if changes && at.starts_with(&path) && count.fetch_add(1, Ordering::SeqCst) == point {
                        fs::rename(&path, &aside).unwrap();
                        fs::rename(&other, &path).unwrap();
                    }
                    Ok(())
                }
            };
            let plain = Options::new().with_maintenance(Maintenance::Manual);
            drop(Store::<u64>::create(&path, &Parameters::new(3), &plain).unwrap());
            let env = Hooked::behind(Arc::new(FileSystem), hook);
            let options = plain.clone().with_env(env).with_maintenance(maintenance).with_memtable_memory(0);
            let (store, acknowledged, error) = work(&path, &options);
            if let Some(error) = &error {
                assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::Poisoned | ErrorKind::NotFound), "{error}");
            }
            let health = store.health();
            drop(store);
            let moved = aside.exists();
            if moved {
                // The operation in progress may have changed the other store; no later one did.
                let found: BTreeMap<_, _> = files(&path)
                    .into_iter()
                    .map(|(path, bytes)| (path.file_name().unwrap().to_owned(), bytes))
                    .collect();
                let changed = expected.iter().filter(|(name, bytes)| found.get(*name) != Some(*bytes)).count();
                assert!(changed <= 1, "{changed} files at {point}");
                noticed += u64::from(health.poisoned.is_some_and(|cause| cause.contains("moved or removed")));
                fs::remove_dir_all(&path).unwrap();
                make_other(&other);
                let store = Store::<u64>::open(&aside, &plain).unwrap();
                assert!(store.records().count() as u64 >= acknowledged, "{acknowledged} at {point}");
                drop(store);
                assert!(verify(&aside, &plain).unwrap().damages.is_empty());
                fs::remove_dir_all(&aside).unwrap();
            } else {
                assert!(error.is_none(), "{error:?}");
                fs::remove_dir_all(&path).unwrap();
                break;
            }
        }
    }
    assert!(noticed > 8, "{noticed}");
}

#[test]
fn a_flush_into_another_stores_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [path, aside, other] = ["store", "aside", "other"].map(|name| directory.path().join(name));
    let options = Options::new().with_maintenance(Maintenance::Manual);
    make_other(&other);
    let store = Store::<u64>::create(&path, &Parameters::new(3), &options).unwrap();
    store.insert(7, 7, Durability::SyncAll).unwrap();
    fs::rename(&path, &aside).unwrap();
    fs::rename(&other, &path).unwrap();
    let before = files(&path);
    let error = store.flush().unwrap_err();
    assert!(
        error.to_string().contains("moved or removed") && error.to_string().contains("open it where it is"),
        "{error}"
    );
    assert!(store.health().poisoned.is_some());
    assert_eq!(store.insert(8, 8, Durability::Buffered).unwrap_err().kind(), ErrorKind::Poisoned);
    assert_eq!(store.query(7, 0).unwrap().len(), 1, "it goes on answering");
    drop(store);
    assert!(files(&path) == before);
    assert_eq!(Store::<u64>::open(&aside, &options).unwrap().records().count(), 1);
}

#[test]
fn a_relative_path_means_the_same_store_whatever_the_current_directory_becomes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new()).unwrap();
    assert_eq!(store.path(), path);
    drop(store);
    // The current directory is global to the process, so this test only checks the handling of a relative path.
    let relative = Path::new("a store that is not there");
    let error = Store::<u64>::open(relative, &Options::new()).unwrap_err();
    assert_eq!(error.path(), Some(&*std::path::absolute(relative).unwrap()));
    let error = Store::<u64>::open_read_only(relative, &Options::new()).unwrap_err();
    assert_eq!(error.path(), Some(&*std::path::absolute(relative).unwrap()));
}

#[test]
fn a_reader_does_not_follow_a_path_to_a_store_of_another_kind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let options = Options::new().with_maintenance(Maintenance::Manual);
    let first = Parameters::new(3);
    let kinds = [
        first.clone().with_width(128),
        first.clone().with_ids(IdKind::Text),
        first.clone().with_ids(IdKind::None),
        first.clone().with_id_index(true),
        first.clone().with_hasher(Some("another")),
    ];
    for kind in kinds {
        let store = Store::<u64>::create(&path, &first, &options).unwrap();
        store.insert(7, 7, Durability::SyncAll).unwrap();
        drop(store);
        let reader = Store::<u64>::open_read_only(&path, &options).unwrap();
        fs::remove_dir_all(&path).unwrap();
        match kind.width() {
            128 => drop(Store::<u128>::create(&path, &kind, &options).unwrap()),
            _ => drop(Store::<u64>::create(&path, &kind, &options).unwrap()),
        }
        let error = reader.refresh().unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidInput && error.to_string().contains("open it anew"), "{error}");
        assert_eq!(reader.get(7).unwrap().len(), 1, "the state of before");
        fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn an_environment_without_directories_that_move_is_asked_for_absolute_paths_too() {
    let memory: Arc<dyn Env> = Arc::new(fpstore::env::Memory::default());
    let options = Options::new().with_env(memory);
    let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
    assert_eq!(store.path(), Path::new("store"));
}

#[test]
fn a_backup_links_nothing_into_a_directory_put_in_the_place_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let (copy, aside) = (directory.path().join("copy"), directory.path().join("aside"));
    let env = {
        let (copy, aside) = (copy.clone(), aside.clone());
        Hooked::behind(Arc::new(FileSystem), move |op, at| {
            if op == Op::Link && at.starts_with(&copy) && !aside.exists() {
                fs::rename(&copy, &aside).unwrap();
                fs::create_dir(&copy).unwrap();
            }
            Ok(())
        })
    };
    let store = directory.path().join("store");
    make_other(&store);
    let options = Options::new().with_env(env).with_maintenance(Maintenance::Manual);
    let store = Store::<u64>::open(&store, &options).unwrap();
    store.backup(&copy, fpstore::admin::BackupMode::Link).unwrap_err();
    // The operation in progress may have changed the other directory; no later one did.
    assert!(files(&copy).len() <= 1, "{:?}", files(&copy).keys());
}
