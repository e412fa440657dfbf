//! A process that writes with four threads is killed at any moment, on the real file system: no acknowledged write is
//! lost, batches are whole or absent, and the store is sound.
//!
//! `FPSTORE_KILLS=N` kills it N times.

use crate::points::number;
use crate::support::Random;
use fpstore::{Durability, Filters, Options, Parameters, Record, Store, WriteBatch};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const THREADS: u64 = 4;
/// Kills of a run by default.
const KILLS: u64 = 200;
/// Kills after which the test creates another store.
const KILLS_OF_A_STORE: u64 = 25;
/// The name of this test, for starting this program as the process to kill; it writes to the store in [`STORE`].
const TEST: &str = "live::killed::nothing_acknowledged_is_lost_however_often_the_process_is_killed";
/// The store of the writing process, and the next write of each thread.
const STORE: &str = "FPSTORE_KILLED_STORE";
const NEXT: &str = "FPSTORE_KILLED_NEXT";

fn options() -> Options {
    // Memtables small enough for constant turnover of logs, segments and merges.
    Options::new().with_filters(Filters::Off).with_memtable_memory(20_000)
}

/// The records of write `number` of a thread.
fn records(thread: u64, number: u64) -> [Record; 3] {
    [0, 1, 2].map(|part| {
        let id = thread << 40 | number << 8 | part;
        Record::new(Random(id).next(), id)
    })
}

/// Whether a write removes two records of the last but one write instead of adding three.
fn removes(number: u64) -> bool {
    number % 5 == 4
}

/// The records after a thread's first writes.
fn left_by(thread: u64, writes: u64) -> BTreeSet<Record> {
    let mut left = BTreeSet::new();
    for number in 0..writes {
        if removes(number) {
            let [first, second, _] = records(thread, number - 2);
            left.remove(&first);
            left.remove(&second);
        } else {
            left.extend(records(thread, number));
        }
    }
    left
}

fn write(store: &Store, thread: u64, number: u64) {
    let mut batch = WriteBatch::new();
    if removes(number) {
        records(thread, number - 2)[..2].iter().for_each(|record| batch.remove(record.fingerprint, &record.id));
    } else {
        records(thread, number).iter().for_each(|record| batch.insert(record.fingerprint, &record.id));
    }
    let levels = [Durability::Buffered, Durability::SyncData, Durability::Buffered, Durability::SyncAll];
    store.write(&batch, levels[(number + thread) as usize % 4]).unwrap();
}

/// The main function of the killed process.
fn write_until_killed(path: &str) {
    let next: Vec<u64> = std::env::var(NEXT).unwrap().split(',').map(|number| number.parse().unwrap()).collect();
    let store = <Store>::open(path, &options()).unwrap();
    std::thread::scope(|scope| {
        for (thread, next) in (0..THREADS).zip(next) {
            let store = &store;
            scope.spawn(move || {
                for number in next.. {
                    write(store, thread, number);
                    // One call, which the pipe accepts whole.
                    let _ = std::io::stdout().write_all(format!("done {thread} {number}\n").as_bytes());
                }
            });
        }
    });
}

/// Runs a writing process until it is killed; returns the acknowledged writes.
fn write_and_kill(path: &Path, next: &[u64], after: Duration) -> Vec<u64> {
    let told: Vec<String> = next.iter().map(u64::to_string).collect();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(STORE, path)
        .env(NEXT, told.join(","))
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut done = next.to_vec();
    let mut take = |line: &str| {
        // The test harness writes to the same pipe.
        let Some(line) = line.split("done ").nth(1) else { return false };
        let (thread, number) = line.split_once(' ').unwrap();
        let number: u64 = number.parse().unwrap();
        let thread: usize = thread.parse().unwrap();
        assert_eq!(done[thread], number, "writes of a thread come in order");
        done[thread] = number + 1;
        true
    };
    while !take(&lines.next().expect("the writer ended").unwrap()) {}
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    // The kill may have cut the last line.
    rest.iter()
        .filter(|line| line.split("done ").nth(1).is_none_or(|told| told.contains(' ')))
        .for_each(|line| _ = take(line));
    done
}

/// The number of existing writes of each thread: the acknowledged ones, and perhaps the one in progress.
fn check(path: &Path, done: &[u64]) -> Vec<u64> {
    let read_only = <Store>::open_read_only(path, &options()).unwrap();
    let read: BTreeSet<Record> = read_only.records().map(Result::unwrap).collect();
    drop(read_only);
    let store = <Store>::open(path, &options()).unwrap();
    let found: BTreeSet<Record> = store.records().map(Result::unwrap).collect();
    assert!(read == found, "a reader sees something else");
    let mut next = Vec::new();
    let mut all = BTreeSet::new();
    for (thread, &done) in (0..THREADS).zip(done) {
        let own: BTreeSet<Record> =
            found.iter().filter(|record| record.id.number().unwrap() >> 40 == thread).cloned().collect();
        let there = (done..=done + 1).find(|&writes| left_by(thread, writes) == own);
        next.push(
            there.unwrap_or_else(|| panic!("thread {thread}: {done} writes were acknowledged, and are not there")),
        );
        all.extend(own);
    }
    assert!(found == all, "records that no thread has written");
    let damages = store.verify().unwrap().damages;
    assert!(damages.is_empty(), "{damages:?}");
    next
}

#[test]
fn nothing_acknowledged_is_lost_however_often_the_process_is_killed() {
    if let Ok(path) = std::env::var(STORE) {
        return write_until_killed(&path);
    }
    let kills = std::env::var("FPSTORE_KILLS").map_or_else(|_| number(KILLS), |value| value.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(std::process::id().into());
    let mut written = 0;
    for store in 0..kills.div_ceil(KILLS_OF_A_STORE) {
        let path = directory.path().join(store.to_string());
        drop(<Store>::create(&path, &Parameters::new(3), &options()).unwrap());
        let mut next = vec![0; THREADS as usize];
        for _ in 0..KILLS_OF_A_STORE.min(kills - store * KILLS_OF_A_STORE) {
            let done = write_and_kill(&path, &next, Duration::from_micros(random.below(60_000)));
            next = check(&path, &done);
        }
        written += next.iter().sum::<u64>();
        std::fs::remove_dir_all(&path).unwrap();
    }
    assert!(written > kills * THREADS, "hardly anything was written before each kill");
}
