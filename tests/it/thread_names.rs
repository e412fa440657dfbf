//! The names and the number of a store's threads, as Linux tells them. Other systems have no `/proc` to ask.

use crate::support::*;
use fpstore::bulk::RecordSorter;
use fpstore::clusters::Keeper;
use fpstore::plan::{Goal, Workload};
use fpstore::{BatchStrategy, Durability, Error, Options, Parameters, QueryTables, Record, Records, Store, inspect};
use std::process::Command;

/// Set for the process whose threads are looked at.
const CHILD: &str = "FPSTORE_TEST_OF_THREADS";

/// The names of the threads of this process.
fn names() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path().join("comm"));
    // One may end while the others are read.
    tasks.filter_map(|comm| std::fs::read_to_string(comm).ok()).map(|name| name.trim().to_owned()).collect()
}

/// Everything that a store does in parallel, and the names of the threads that were there at some moments.
fn everything(path: &std::path::Path, threads: usize) -> Vec<Vec<String>> {
    let values = families(2000, 20, 3);
    let options = Options::new().with_threads(threads).with_load_memory(1 << 20).with_memtable_memory(1 << 20);
    let mut sorter = RecordSorter::<u64>::new(path, &options.clone().with_load_memory(1 << 30));
    values.iter().for_each(|&value| sorter.push(value, fpstore::IdRef::None).unwrap());
    let in_memory = sorter.finish().unwrap();
    assert!(in_memory.fingerprints() > 0 && in_memory.skew().fingerprints() > 0);
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
    let mut seen = vec![names()];
    store.bulk_load(Records::WithIds(vec![Record::new(1, 7_000_000)])).unwrap();
    store.compact().unwrap();
    drop(store.searcher().query_batch(&values, 3, BatchStrategy::Always).unwrap());
    drop(store.searcher().query_batch(&values[..600], 3, BatchStrategy::Never).unwrap());
    let made = store.searcher().visit_batch(&values, 3, 1 << 30, |_, answers| answers.len(), |_| Ok::<(), Error>(()));
    assert!(made.unwrap());
    let segments = inspect::open(path, &options).unwrap();
    inspect::what_if(&segments, &[Parameters::new(3)], 1000).unwrap();
    drop(segments);
    seen.push(names());
    assert!(store.pairs(3).unwrap().sorted().distinct().unwrap().count() > 0);
    assert!(store.pairs(3).unwrap().records().unwrap().count() > 0);
    store.clusters(3).unwrap().find(&Keeper::Smallest).unwrap().report(3).unwrap();
    QueryTables::new(&values, 3, &options).unwrap();
    seen.push(names());
    store.close().unwrap();
    seen
}

#[test]
fn all_threads_are_named_and_as_many_as_were_asked_for() {
    if let Ok(path) = std::env::var(CHILD) {
        everything(path.as_ref(), 3).iter().for_each(|names| println!("threads: {names:?}"));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "thread_names::all_threads_are_named_and_as_many_as_were_asked_for", "--nocapture"]);
    let output = child.env(CHILD, directory.path().join("store")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let moments: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once("threads: ")?.1)).collect();
    assert_eq!(moments.len(), 3, "{text}");
    for moment in &moments {
        let names: Vec<&str> = moment.split('"').skip(1).step_by(2).collect();
        // The main thread and that of the test. A thread without a name has that of the one which started it.
        let others = names.iter().filter(|name| !name.starts_with("fpstore")).count();
        assert!(others <= 2, "{names:?}");
        assert_eq!(names.iter().filter(|name| name.starts_with("fpstore work")).count(), 3, "{names:?}");
    }
    for wanted in ["fpstore flush", "fpstore compact"] {
        assert!(moments.iter().any(|moment| moment.contains(wanted)), "{text}");
    }
}
