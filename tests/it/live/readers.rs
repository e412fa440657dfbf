//! Many readers and one writer, with constant compactions: every answer matches the state at one moment, and no files
//! remain.
//!
//! `FPSTORE_SECONDS=N` runs for N seconds.

use super::model::Model;
use crate::points::number;
use crate::support::*;
use fpstore::{Durability, Id, IdKind, Options, Parameters, Record, Store};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const READERS: u64 = 20;
/// Seconds of a run by default.
const SECONDS: u64 = 6;
/// Number of remembered states: more than the writer makes during most queries, and far below the bound on memory.
const REMEMBERED: usize = 512;

/// Past states of the store, oldest first, and the number of the first one.
struct History {
    first: u64,
    models: VecDeque<Arc<Model<u64>>>,
}

impl History {
    fn latest(&self) -> (u64, Arc<Model<u64>>) {
        (self.first + self.models.len() as u64 - 1, Arc::clone(&self.models[self.models.len() - 1]))
    }
}

struct Shared {
    store: Store,
    history: Mutex<History>,
    /// The state of the current write, or of the last one.
    writing: AtomicU64,
    stop: AtomicBool,
    answers: AtomicU64,
    pool: Vec<u64>,
}

fn options() -> Options {
    Options::new().with_memtable_memory(60_000)
}

fn write(shared: &Shared) {
    let mut random = Random(1);
    while !shared.stop.load(Ordering::Relaxed) {
        let (fingerprint, id) =
            (shared.pool[random.below(shared.pool.len() as u64) as usize], Id::Number(random.below(20)));
        let (number, model) = shared.history.lock().unwrap().latest();
        let mut model = (*model).clone();
        let mut history = None;
        let mut begin = || {
            shared.writing.store(number + 1, Ordering::SeqCst);
            // Takes snapshots only of known states.
            history = Some(shared.history.lock().unwrap());
        };
        if random.below(5) < 2 {
            model.remove(fingerprint, &id);
            begin();
            shared.store.remove(fingerprint, &id, Durability::Buffered).unwrap();
        } else {
            model.insert(fingerprint, &id);
            begin();
            shared.store.insert(fingerprint, &id, Durability::Buffered).unwrap();
        }
        let mut history = history.unwrap();
        history.models.push_back(Arc::new(model));
        if history.models.len() > REMEMBERED {
            history.models.pop_front();
            history.first += 1;
        }
    }
}

fn read(shared: &Shared, reader: u64) {
    let mut random = Random(reader);
    let mut searcher = shared.store.searcher();
    while !shared.stop.load(Ordering::Relaxed) {
        let base = shared.pool[random.below(shared.pool.len() as u64) as usize];
        let query = random.flip(base, reader as u32 % 3);
        let k = random.below(5) as u32;
        if random.below(20) == 0 {
            let (snapshot, (_, model)) = {
                let history = shared.history.lock().unwrap();
                (shared.store.snapshot(), history.latest())
            };
            for _ in 0..3 {
                assert_eq!(snapshot.searcher().query(query, k).unwrap(), model.near(query, k));
                std::thread::yield_now();
            }
            let records: Vec<Record> = snapshot.records().map(Result::unwrap).collect();
            assert_eq!(records, model.records());
            continue;
        }
        // An answer matches some state between the last one finished before the query and the last one begun since.
        let (before, _) = shared.history.lock().unwrap().latest();
        let found = searcher.query(query, k).unwrap();
        let after = shared.writing.load(Ordering::SeqCst);
        let history = shared.history.lock().unwrap();
        if before < history.first {
            continue;
        }
        let range =
            (before - history.first) as usize..=((after - history.first) as usize).min(history.models.len() - 1);
        let models: Vec<_> = history.models.range(range).cloned().collect();
        drop(history);
        assert!(
            models.iter().any(|model| model.near(query, k) == found),
            "no state from {before} to {after} answers so"
        );
        shared.answers.fetch_add(1, Ordering::Relaxed);
    }
}

/// Memory of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Files in a directory that this process has open, removed ones included.
fn open_files(directory: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return 0 };
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let open = links.filter(|target| target.starts_with(directory)).count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    open + maps.lines().filter(|line| line.contains(directory.to_str().unwrap())).count()
}

/// The test measures the memory of its process, so it runs in one of its own.
#[test]
fn twenty_readers_see_states_that_were() {
    const CHILD: &str = "FPSTORE_TEST_OF_READERS";
    if std::env::var_os(CHILD).is_some() {
        return twenty_readers();
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "live::readers::twenty_readers_see_states_that_were", "--nocapture"]).env(CHILD, "1");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
}

fn twenty_readers() {
    let seconds =
        std::env::var("FPSTORE_SECONDS").map_or_else(|_| number(SECONDS).max(2), |value| value.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = <Store>::create(&path, &Parameters::new(3), &options()).unwrap();
    let models = VecDeque::from([Arc::new(Model::new(IdKind::Number))]);
    let shared = Shared {
        store,
        history: Mutex::new(History { first: 0, models }),
        writing: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        answers: AtomicU64::new(0),
        pool: families(12, 4, 31),
    };
    let started = Instant::now();
    let mut early = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| write(&shared));
        (0..READERS).for_each(|reader| {
            let shared = &shared;
            scope.spawn(move || read(shared, reader));
        });
        while started.elapsed() < Duration::from_secs(seconds) {
            std::thread::sleep(Duration::from_millis(50));
            if started.elapsed() > Duration::from_secs(seconds) / 3 && early == 0 {
                early = resident();
            }
        }
        shared.stop.store(true, Ordering::Relaxed);
    });
    assert!(shared.answers.load(Ordering::Relaxed) > 100 * seconds);
    assert!(resident() < early + (64 << 10), "{early} KiB became {}", resident());
    shared.store.flush().unwrap();
    shared.store.wait_for_maintenance().unwrap();
    let statistics = shared.store.statistics();
    assert!(statistics.written.compacted > 0 && statistics.written.new > 0, "nothing was flushed or merged");
    // Only files that the manifest names exist, and are open.
    let named = {
        let manifest = fpstore::inspect::manifest(&path, &Options::new()).unwrap();
        manifest.runs.iter().map(|run| run.segments.len()).sum::<usize>()
    };
    let names: Vec<String> =
        std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| name.ends_with(".segment")).count(), named, "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{names:?}");
    drop(shared);
    assert_eq!(open_files(&path), 0);
    drop(<Store>::open(&path, &options()).unwrap());
}
