use super::*;
use crate::env::{Env, Failing, FileSystem, Memory};
use crate::error::{ErrorKind, Result};
use crate::fingerprint::U256;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

pub(crate) const DIRECTORY: &str = "d";

pub(crate) fn memory() -> Arc<dyn Env> {
    let memory = Memory::default();
    memory.create_dir(Path::new(DIRECTORY)).unwrap();
    Arc::new(memory)
}

pub(super) fn workspace(env: Arc<dyn Env>, directory: impl AsRef<Path>) -> Workspace {
    let (executor, directory) = (Arc::default(), directory.as_ref().to_owned());
    Workspace { env, executor, directory, memory: 0 }
}

fn sort<T: Item>(items: &[T], memory_: u64, extend: bool) -> Sorted<T> {
    let mut sorter = Sorter::new(&workspace(memory(), DIRECTORY), memory_);
    if extend {
        items.chunks(37).for_each(|items| sorter.extend(items).unwrap());
    } else {
        items.iter().for_each(|&item| sorter.push(item).unwrap());
    }
    let peak = sorter.peak();
    assert!(peak <= memory_.max(1000), "a sorter took {peak} of {memory_} bytes");
    sorter.finish().unwrap()
}

/// The chunks joined, after a look at each.
fn joined<T: Item + std::fmt::Debug>(sorted: &Sorted<T>, memory: u64) -> (Vec<T>, usize) {
    let (mut all, mut count) = (Vec::new(), 0);
    for chunk in sorted.chunks(memory) {
        let chunk = chunk.unwrap();
        assert!(!chunk.is_empty());
        all.extend_from_slice(&chunk);
        count += 1;
    }
    (all, count)
}

fn agrees<T: Item + std::fmt::Debug>(items: &[T], memory: u64, chunk_memory: u64, extend: bool) -> (usize, usize) {
    let mut expected = items.to_vec();
    expected.sort_unstable();
    expected.dedup();
    let sorted = sort(items, memory, extend);
    let (all, chunks) = joined(&sorted, chunk_memory);
    assert_eq!(all, expected);
    let (runs, block, peak) = match &sorted {
        Sorted::Runs(runs) => (runs.runs.len(), runs.together, runs.peak.most()),
        Sorted::Memory(_) => (0, 0, 0),
    };
    let most = chunk_memory.max((3 * runs * block * size_of::<T>()) as u64);
    assert!(peak <= most, "chunks took {peak} of {most} bytes, {runs} runs of blocks of {block} items");
    // Once more, and with another memory at the same time.
    let mut other = sorted.chunks(memory / 2);
    let first: Vec<T> = other.next().into_iter().flat_map(|chunk| chunk.unwrap().to_vec()).collect();
    assert_eq!(joined(&sorted, chunk_memory), (all, chunks));
    let rest = other.flat_map(|chunk| chunk.unwrap().to_vec());
    assert_eq!(first.into_iter().chain(rest).collect::<Vec<_>>(), expected);
    (runs, chunks)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn as_sorted_in_memory(
        items in prop::collection::vec(any::<(u64, u64)>(), 0..6000),
        mask in prop::sample::select(vec![u64::MAX, 0xff, 3, 0, 0xff << 56]),
        id_mask in prop::sample::select(vec![u64::MAX, 0xfff, 1, 0]),
        memory in 1000u64..20_000,
        chunk_memory in 0u64..20_000,
        extend: bool,
    ) {
        let items: Vec<_> = items.into_iter().map(|(a, b)| (a & mask, b & id_mask)).collect();
        agrees(&items, memory, chunk_memory, extend);
        let numbers: Vec<u64> = items.iter().map(|item| item.0 ^ item.1).collect();
        agrees(&numbers, memory, chunk_memory, extend);
        let entry = |&(fingerprint, id)| NumberedRecord { fingerprint, id };
        agrees(&items.iter().map(entry).collect::<Vec<_>>(), memory, chunk_memory, extend);
        let wide = |&(word, id): &(u64, u64)| NumberedRecord { fingerprint: u128::from(word) << 32 | 7, id };
        agrees(&items.iter().map(wide).collect::<Vec<_>>(), memory, chunk_memory, extend);
        let wide = |&(word, id): &(u64, u64)| NumberedRecord { fingerprint: U256([word, 0, word, id]), id };
        agrees(&items.iter().map(wide).collect::<Vec<_>>(), memory, chunk_memory, extend);
    }
}

pub(crate) fn scattered(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17))
}

#[test]
fn equal_items_are_kept_if_that_is_wanted() {
    let items: Vec<u64> = scattered(20_000).map(|item| item % 3_000 / 40 * 40).chain(vec![7; 50_000]).collect();
    let mut expected = items.clone();
    expected.sort_unstable();
    for memory_ in [4_000, 200_000, 10_000_000] {
        let mut sorter = Sorter::keeping_equal(&workspace(memory(), DIRECTORY), memory_);
        items.chunks(37).for_each(|items| sorter.extend(items).unwrap());
        let sorted = sorter.finish().unwrap();
        assert_eq!(sorted.in_memory().is_some(), memory_ > 1_000_000);
        assert!(joined(&sorted, memory_).0 == expected, "{memory_}");
    }
}

#[test]
fn dozens_of_runs_and_chunks() {
    let items: Vec<NumberedRecord<u64>> =
        scattered(100_000).map(|fingerprint| NumberedRecord { fingerprint, id: fingerprint % 7 }).collect();
    let (runs, chunks) = agrees(&items, 40_000, 50_000, false);
    assert!(runs > 50 && chunks > 50, "{runs} runs, {chunks} chunks");
    let (runs, chunks) = agrees(&items, 200_000, 1_000_000, true);
    assert!(runs > 10 && chunks > 3, "{runs} runs, {chunks} chunks");
    // All in memory.
    assert_eq!(agrees(&items, 10_000_000, 0, true), (0, 1));
}

#[test]
fn skew_does_not_break_the_bound() {
    let shapes: [fn(u64) -> NumberedRecord<u64>; 3] = [
        |i| NumberedRecord { fingerprint: 7, id: i },
        |i| NumberedRecord { fingerprint: i % 3, id: i % 9_000 },
        |_| NumberedRecord { fingerprint: 7, id: 7 },
    ];
    for shape in shapes {
        let items: Vec<_> = scattered(20_000).map(shape).collect();
        for chunk_memory in [300, 10_000] {
            agrees(&items, 10_000, chunk_memory, false);
        }
    }
}

#[test]
fn several_threads_read_at_once() {
    let items: Vec<u64> = scattered(50_000).collect();
    let sorted = sort(&items, 30_000, false);
    let mut expected = items;
    expected.sort_unstable();
    std::thread::scope(|scope| {
        for memory in [5_000, 50_000, 200_000] {
            let (sorted, expected) = (&sorted, &expected);
            scope.spawn(move || assert!(joined(sorted, memory).0 == *expected));
        }
    });
    // All of rayon's threads wait for chunks at once.
    rayon::scope(|scope| {
        (0..20).for_each(|_| scope.spawn(|_| assert!(joined(&sorted, 50_000).0 == expected)));
    });
    // One that is dropped early.
    assert!(sorted.chunks(5_000).nth(3).is_some());
}

#[test]
fn on_the_real_file_system() {
    let directory = tempfile::tempdir().unwrap();
    let mut sorter = Sorter::new(&workspace(Arc::new(FileSystem), directory.path()), 30_000);
    scattered(20_000).for_each(|item| sorter.push(item).unwrap());
    let sorted = sorter.finish().unwrap();
    assert!(sorted.in_memory().is_none());
    let mut expected: Vec<u64> = scattered(20_000).collect();
    expected.sort_unstable();
    assert_eq!(joined(&sorted, 9_000).0, expected);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn of_nothing_there_are_no_chunks() {
    let sorted = sort::<u64>(&[], 0, true);
    assert!(sorted.in_memory().is_some() && sorted.chunks(0).next().is_none());
}

/// Makes each operation of `work` fail in turn, alone or with all that follow.
pub(crate) fn sweep(work: impl Fn(Arc<dyn Env>) -> Result<()>) {
    for lasting in [false, true] {
        let mut faults = 0;
        for operation in 0.. {
            let failing = Failing::new(memory(), operation..if lasting { u64::MAX } else { operation + 1 });
            let result = work(Arc::new(failing.clone()));
            if failing.operations() <= operation {
                result.unwrap();
                break;
            }
            let error = result.expect_err("an operation failed unnoticed");
            assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some(Path::new(DIRECTORY))));
            assert!(error.to_string().contains("temporary files on a larger device"), "{error}");
            faults += 1;
        }
        assert!(faults > 20, "only {faults} faults were tried");
    }
}

#[test]
fn every_failure_is_reported() {
    sweep(|env| {
        let mut sorter = Sorter::new(&workspace(env, DIRECTORY), 4_000);
        for item in scattered(1_500) {
            if let Err(error) = sorter.push(item) {
                sorter.extend(&[0; 1000]).expect_err("went on after an error");
                sorter.finish().expect_err("finished after an error");
                return Err(error);
            }
        }
        let sorted = sorter.finish()?;
        let mut chunks = sorted.chunks(3_000);
        let failed = chunks.find_map(Result::err);
        assert!(chunks.next().is_none());
        failed.map_or(Ok(()), Err)
    });
}

/// The memory decides on the length of the pieces, which need not be a multiple of an entry.
#[test]
fn pieces_of_a_spool_are_whole_entries() {
    let directory = tempfile::tempdir().unwrap();
    let memory = (1 << 24) + 64 * 1000 + 7;
    let workspace = Workspace { memory, ..workspace(Arc::new(FileSystem), directory.path()) };
    let mut spool = Spool::within(&workspace);
    let entries = 300_000_u64;
    for number in 0..entries {
        let mut bytes = [number, !number, 7].map(u64::to_le_bytes).as_flattened().to_vec();
        spool.append(&mut bytes).unwrap();
    }
    let mut next = 0;
    spool
        .visit(24, |piece| {
            assert!(piece.len().is_multiple_of(24));
            for entry in piece.as_chunks::<24>().0 {
                let words: Vec<u64> = entry.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
                assert_eq!(words, [next, !next, 7]);
                next += 1;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(next, entries);
}
