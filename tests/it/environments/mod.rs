//! Logs, names and syncs are the same in all environments; operations of a failing one fail.

mod memory;

use fpstore::env::{Env, Failing, FileSystem, Memory, ReadMode};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Runs a test on disk, in memory, and behind faults that never occur.
fn everywhere(test: impl Fn(&dyn Env, &Path)) {
    let directory = tempfile::tempdir().unwrap();
    test(&FileSystem, directory.path());
    let memory = Memory::default();
    memory.create_dir(Path::new("d")).unwrap();
    test(&memory, Path::new("d"));
    let memory = Memory::default();
    memory.create_dir(Path::new("d")).unwrap();
    test(&Failing::new(Arc::new(memory), 0..0), Path::new("d"));
}

fn read(env: &dyn Env, path: &Path) -> Vec<u8> {
    let file = env.open(path, ReadMode::Pread).unwrap();
    file.read(0, usize::try_from(file.length()).unwrap(), &mut Vec::new()).unwrap().to_vec()
}

fn kind<T>(result: io::Result<T>) -> Option<io::ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn a_log_is_written_anywhere_and_never_shrinks() {
    everywhere(|env, directory| {
        let path = directory.join("log");
        let log = env.create_log(&path).unwrap();
        assert_eq!(read(env, &path), b"");
        log.allocate(0).unwrap();
        log.write_at(6, b"gh").unwrap();
        log.write_at(0, b"abc").unwrap();
        assert_eq!(read(env, &path), b"abc\0\0\0gh");
        log.write_at(2, b"CD").unwrap();
        log.write_at(20, b"").unwrap();
        assert_eq!(read(env, &path), b"abCD\0\0gh");
        log.allocate(4).unwrap();
        assert_eq!(read(env, &path), b"abCD\0\0gh");
        log.allocate(11).unwrap();
        assert_eq!(read(env, &path), b"abCD\0\0gh\0\0\0");
        log.sync_data().unwrap();
        log.write_at(9, b"jkl").unwrap();
        log.sync_all().unwrap();
        assert_eq!(read(env, &path), b"abCD\0\0gh\0jkl");
        assert!(log.write_at(u64::MAX, b"x").is_err());
        assert!(log.allocate(u64::MAX).is_err());
        assert_eq!(read(env, &path), b"abCD\0\0gh\0jkl");
        drop(env.create_log(&path).unwrap());
        assert_eq!(read(env, &path), b"");
        assert_eq!(kind(env.create_log(&directory.join("missing").join("log"))), Some(io::ErrorKind::NotFound));
    });
}

#[test]
fn a_log_grows_while_others_sync_it() {
    everywhere(|env, directory| {
        let path = directory.join("log");
        let log = env.create_log(&path).unwrap();
        std::thread::scope(|threads| {
            threads.spawn(|| (0..100).for_each(|at| log.write_at(2 * at, b"a").unwrap()));
            threads.spawn(|| (0..100).for_each(|at| log.write_at(2 * at + 1, b"b").unwrap()));
            threads.spawn(|| (0..100).for_each(|at| log.allocate(at).unwrap()));
            threads.spawn(|| (0..3).for_each(|_| log.sync_data().unwrap()));
        });
        assert_eq!(read(env, &path), b"ab".repeat(100));
    });
}

#[test]
fn a_log_stays_open_when_its_name_changes() {
    everywhere(|env, directory| {
        let [one, two] = ["one", "two"].map(|name| directory.join(name));
        let log = env.create_log(&one).unwrap();
        log.write_at(0, b"abc").unwrap();
        env.rename(&one, &two).unwrap();
        log.write_at(1, b"B").unwrap();
        assert_eq!(read(env, &two), b"aBc");
        env.create(&one).unwrap().write_all(b"other").unwrap();
        env.rename(&one, &two).unwrap();
        log.write_at(0, b"abc").unwrap();
        log.sync_all().unwrap();
        assert_eq!(read(env, &two), b"other");
        assert_eq!(env.list(directory).unwrap(), ["two"]);
    });
}

#[test]
fn hard_links_are_names_of_one_file() {
    everywhere(|env, directory| {
        let [one, two, three] = ["one", "two", "three"].map(|name| directory.join(name));
        assert_eq!(kind(env.hard_link(&one, &two)), Some(io::ErrorKind::NotFound));
        let log = env.create_log(&one).unwrap();
        env.hard_link(&one, &two).unwrap();
        log.write_at(0, b"abc").unwrap();
        assert_eq!(read(env, &two), b"abc");
        drop(env.create(&three).unwrap());
        assert_eq!(kind(env.hard_link(&one, &three)), Some(io::ErrorKind::AlreadyExists));
        assert_eq!(kind(env.hard_link(&one, &two)), Some(io::ErrorKind::AlreadyExists));
        assert_eq!(kind(env.hard_link(&one, directory)), Some(io::ErrorKind::AlreadyExists));
        assert_eq!(kind(env.hard_link(&one, &directory.join("missing").join("x"))), Some(io::ErrorKind::NotFound));
        assert_eq!(read(env, &three), b"");
        if cfg!(unix) {
            env.rename(&one, &two).unwrap();
            assert_eq!(env.list(directory).unwrap().len(), 3);
        }
        env.rename(&two, &three).unwrap();
        env.remove(&one).unwrap();
        log.write_at(3, b"d").unwrap();
        assert_eq!(read(env, &three), b"abcd");
        // Emptied by any of its names.
        env.hard_link(&three, &one).unwrap();
        env.create(&one).unwrap().write_all(b"x").unwrap();
        assert_eq!(read(env, &three), b"x");
    });
}

/// Does each operation with logs and returns how many succeeded.
fn everything_with_logs(env: &dyn Env) -> usize {
    let [one, two] = ["d/one", "d/two"].map(Path::new);
    let mut done = Vec::new();
    let log = env.create_log(one);
    done.push(log.is_ok());
    if let Ok(log) = log {
        done.extend([log.allocate(7).is_ok(), log.write_at(2, b"abcde").is_ok()]);
        done.extend([log.sync_data().is_ok(), log.sync_all().is_ok()]);
    }
    done.push(env.hard_link(one, two).is_ok());
    done.into_iter().filter(|&done| done).count()
}

#[test]
fn every_operation_with_logs_may_fail() {
    // The two files after a failure of each operation.
    let expected: [[Option<&[u8]>; 2]; 7] = [
        [None, None],
        [Some(b"\0\0abcde"); 2],
        [Some(b"\0\0ab\0\0\0"); 2],
        [Some(b"\0\0abcde"); 2],
        [Some(b"\0\0abcde"); 2],
        [Some(b"\0\0abcde"), None],
        [Some(b"\0\0abcde"); 2],
    ];
    for (expected, operation) in expected.into_iter().zip(0..) {
        let memory = Memory::default();
        memory.create_dir(Path::new("d")).unwrap();
        let failing = Failing::new(Arc::new(memory.clone()), operation..operation + 1);
        let done = everything_with_logs(&failing);
        let [one, two] = ["d/one", "d/two"].map(|name| memory.bytes(Path::new(name)));
        assert_eq!([one.as_deref(), two.as_deref()], expected, "operation {operation}");
        match operation {
            // Without the log there is nothing to sync or to link.
            0 => assert_eq!((done, failing.operations()), (0, 2)),
            6 => assert_eq!((done, failing.operations()), (6, 6)),
            _ => assert_eq!((done, failing.operations()), (5, 6), "operation {operation}"),
        }
    }
}
