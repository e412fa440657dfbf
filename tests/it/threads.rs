//! The threads of a store: as many as its options say, all named, none of them the caller's.

use crate::hooked::{EIO, Hooked, Op};
use crate::support::*;
use fpstore::bulk::RecordSorter;
use fpstore::clusters::Keeper;
use fpstore::plan::{Goal, Workload};
use fpstore::{
    BatchStrategy, Durability, ErrorKind, Filters, IdKind, Maintenance, Options, Parameters, QueryTables, Record,
    Records, Store,
};
use std::collections::BTreeSet;
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Marks the process whose threads the test examines.
const CHILD: &str = "FPSTORE_TEST_OF_THREADS";

/// The names of the threads of this process.
#[cfg(target_os = "linux")]
fn names() -> BTreeSet<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path().join("comm"));
    // A thread may end during the listing.
    tasks.filter_map(|comm| std::fs::read_to_string(comm).ok()).map(|name| name.trim().to_owned()).collect()
}

/// Runs every parallel operation of a store, and returns the names of the threads that existed meanwhile.
#[cfg(target_os = "linux")]
fn everything(path: &std::path::Path, threads: usize) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let values = families(2000, 20, 3);
    let options = Options::new().with_threads(threads).with_load_memory(1 << 20).with_memtable_memory(1 << 20);
    let mut sorter = RecordSorter::<u64>::new(path, &options);
    values.iter().zip(0..).for_each(|(&value, id)| sorter.push(value, fpstore::IdRef::Number(id)).unwrap());
    let sorted = sorter.finish().unwrap();
    let workload = Workload { fingerprints: 10_000, width: 64, distance: 3, block_size: 256, filter: true };
    sorted.skew().recommend(Goal::Balanced, &workload).unwrap();
    let (store, _) = Store::create_loaded(path, &Parameters::new(3).with_id_index(true), &options, sorted).unwrap();
    store.wait_for_filters();
    for n in 0..50_000 {
        store.insert(Random(n).next(), 1_000_000 + n, Durability::Buffered).unwrap();
    }
    seen.append(&mut names());
    store.bulk_load(Records::WithIds(vec![Record::new(1, 7_000_000)])).unwrap();
    store.compact().unwrap();
    drop(store.searcher().query_batch(&values, 3, BatchStrategy::Always).unwrap());
    drop(store.searcher().query_batch(&values[..600], 3, BatchStrategy::Never).unwrap());
    assert!(store.pairs(3).unwrap().sorted().distinct().unwrap().count() > 0);
    assert!(store.pairs(3).unwrap().records().unwrap().count() > 0);
    store.clusters(3).unwrap().find(&Keeper::Smallest).unwrap().report(3).unwrap();
    QueryTables::new(&values, 3, &options).unwrap();
    seen.append(&mut names());
    store.close().unwrap();
    seen
}

#[cfg(target_os = "linux")]
#[test]
fn all_threads_are_named_and_as_many_as_were_asked_for() {
    if let Ok(path) = std::env::var(CHILD) {
        println!("threads: {:?}", everything(path.as_ref(), 3));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "threads::all_threads_are_named_and_as_many_as_were_asked_for", "--nocapture"]);
    let output = child.env(CHILD, directory.path().join("store")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find_map(|line| line.split_once("threads: ")).unwrap_or_else(|| panic!("{text}")).1;
    let names: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    // The others belong to the test itself. The system keeps fifteen characters of a name.
    let program = std::env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let of_test = |name: &str| program.starts_with(name) || name.starts_with("threads::");
    let others: Vec<_> = names.iter().filter(|name| !name.starts_with("fpstore") && !of_test(name)).collect();
    assert!(others.is_empty(), "{names:?}");
    let crew = |name: &&&str| name.starts_with("fpstore work");
    assert_eq!(names.iter().filter(crew).count(), 3, "{names:?}");
    for wanted in ["fpstore flush", "fpstore merge"] {
        assert!(names.contains(&wanted), "{names:?}");
    }
}

#[test]
fn a_function_of_the_caller_may_use_the_store_that_calls_it() {
    let values = families(1000, 20, 3);
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new().with_threads(2).with_maintenance(Maintenance::Foreground).with_filters(Filters::Off);
    let (path, loaded) = (directory.path().join("store"), Records::WithIds(numbered(&values)));
    let (store, _) = Store::<u64>::create_loaded(path, &Parameters::new(3), &options, loaded).unwrap();
    // On the thread that takes results, and on the threads that produce them, all of which wait for it.
    let mut next = 1_000_000;
    for pair in store.pairs(3).unwrap().distinct().unwrap().take(200) {
        next += 1;
        store.insert(pair.unwrap().a, next, Durability::Buffered).unwrap();
        if next % 50 == 0 {
            store.flush().unwrap();
            store.searcher().query_batch(&values[..2000], 3, BatchStrategy::Always).unwrap();
        }
    }
    let make = |first: usize, answers: Vec<Option<Vec<fpstore::Match>>>| {
        let id = 2_000_000 + first as u64;
        store.bulk_load(Records::WithIds(vec![Record::new(id, id)])).unwrap();
        store.compact().unwrap();
        answers.len()
    };
    let mut answered = 0;
    let take = |some| {
        answered += some;
        store.flush()
    };
    assert!(store.searcher().visit_batch(&values[..5000], 3, u64::MAX / 4, make, take).unwrap());
    assert_eq!(answered, 5000);
    store.close().unwrap();
}

#[test]
fn closing_tells_what_dropping_cannot() {
    let fixture = Fixture::new(fpstore::ReadMode::Pread);
    let parameters = Parameters::new(3).with_ids(IdKind::Number);
    let store = Store::<u64>::create(&fixture.path, &parameters, &fixture.options).unwrap();
    store.insert(1, 1, Durability::Buffered).unwrap();
    store.close().unwrap();
    // Buffered writes are durable now.
    fixture.env.crash();
    let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.get(1).unwrap(), [fpstore::Id::Number(1)]);
    drop(store);
    let reader = Store::<u64>::open_read_only(&fixture.path, &fixture.options).unwrap();
    reader.close().unwrap();
    // The caller gets the error of a failed sync.
    let fails = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&fails);
    let env = Hooked::behind(Arc::new(fixture.env.clone()), move |op, _| match op {
        Op::Sync if told.load(Ordering::SeqCst) => Err(io::Error::from_raw_os_error(EIO)),
        _ => Ok(()),
    });
    let store = Store::<u64>::open(&fixture.path, &fixture.options.clone().with_env(env)).unwrap();
    store.insert(2, 2, Durability::Buffered).unwrap();
    fails.store(true, Ordering::SeqCst);
    let error = store.close().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::Poisoned), "{error}");
}
