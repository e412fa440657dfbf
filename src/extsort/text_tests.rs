use super::*;
use crate::error::Result;
use crate::extsort::tests::{DIRECTORY, memory, scattered, sweep, workspace};
use crate::fingerprint::{Fingerprint, U256};
use proptest::prelude::*;

type Record<F> = (F, String);

fn sort<F: Fingerprint>(records: &[Record<F>], memory_: u64) -> SortedTexts<F> {
    let mut sorter = TextSorter::new(&workspace(memory(), DIRECTORY), memory_);
    records.iter().for_each(|(fingerprint, text)| sorter.push(*fingerprint, text.as_bytes()).unwrap());
    assert!(sorter.peak() <= memory_, "a sorter took {} of {memory_} bytes", sorter.peak());
    sorter.finish().unwrap()
}

fn joined<F: Fingerprint>(sorted: &SortedTexts<F>, memory: u64) -> (Vec<Record<F>>, usize) {
    let (mut all, mut count) = (Vec::new(), 0);
    for chunk in sorted.chunks(memory) {
        let chunk = chunk.unwrap();
        assert!(!chunk.entries.is_empty());
        all.extend(chunk.records().map(|(fingerprint, text)| (fingerprint, String::from_utf8(text.to_vec()).unwrap())));
        count += 1;
    }
    (all, count)
}

fn agrees<F: Fingerprint>(records: &[Record<F>], memory: u64, chunk_memory: u64) -> (usize, usize) {
    let mut expected = records.to_vec();
    expected.sort_unstable();
    expected.dedup();
    let sorted = sort(records, memory);
    let mut other = sorted.chunks(memory);
    let first = other.next();
    let (all, chunks) = joined(&sorted, chunk_memory);
    let (runs, peak) = match &sorted {
        SortedTexts::Runs(runs) => (runs.runs.len(), runs.peak.most()),
        SortedTexts::Memory(_) => (0, 0),
    };
    assert_eq!(sorted.in_memory().is_some(), runs == 0);
    assert!(all == expected);
    // A record of each run, and one of each chunk, may take more than its share of such a memory.
    let longest = records.iter().map(|record| record.1.len() as u64).max().unwrap_or(0) + 64;
    let share = memory.min(chunk_memory) / 4 / (runs as u64).max(1);
    let most = memory.max(chunk_memory) + runs as u64 * longest.saturating_sub(share) + 2 * longest;
    assert!(peak <= most, "chunks took {peak} of {most}");
    assert_eq!(joined(&sorted, chunk_memory).1, chunks);
    let count: usize = first.into_iter().chain(other).map(|chunk| chunk.unwrap().entries.len()).sum();
    assert_eq!(count, expected.len());
    (runs, chunks)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn as_sorted_in_memory(
        records in prop::collection::vec((any::<u64>(), "[ab]{0,3}|.{0,40}"), 0..2000),
        mask in prop::sample::select(vec![u64::MAX, 0xff, 3, 0, 0xff << 56]),
        memory in 1000u64..40_000,
        chunk_memory in 0u64..20_000,
    ) {
        let records: Vec<_> = records.into_iter().map(|(number, text)| (number & mask, text)).collect();
        agrees(&records, memory, chunk_memory);
        let wide: Vec<_> = records.iter().map(|(n, text)| (u128::from(*n) << 32 | 7, text.clone())).collect();
        agrees(&wide, memory, chunk_memory);
        let wide: Vec<_> = records.iter().map(|(n, text)| (U256([7, *n, 0, 0]), text.clone())).collect();
        agrees(&wide, memory, chunk_memory);
    }
}

fn texts(count: u64, shape: impl Fn(u64) -> (u64, String)) -> Vec<Record<u64>> {
    scattered(count).map(shape).collect()
}

#[test]
fn dozens_of_runs_and_chunks() {
    let records = texts(30_000, |i| (i, format!("https://example.org/{}", i % 1000)));
    let (runs, chunks) = agrees(&records, 60_000, 60_000);
    assert!(runs > 20 && chunks > 20, "{runs} runs, {chunks} chunks");
    let (runs, chunks) = agrees(&records, 10_000_000, 60_000);
    assert!(runs == 0 && chunks > 20, "{runs} runs, {chunks} chunks");
}

#[test]
fn skew_does_not_break_the_bound() {
    agrees(&texts(20_000, |i| (7, i.to_string())), 50_000, 30_000);
    agrees(&texts(20_000, |i| (i % 3, (i % 50).to_string())), 50_000, 30_000);
    agrees(&texts(20_000, |_| (7, "same".into())), 50_000, 30_000);
    // Many of one fingerprint at once, and no texts to speak of.
    agrees(&texts(200_000, |i| (7, (i % 100_000).to_string())), 20_000_000, 1_000_000);
    agrees(&texts(20_000, |i| (i, String::new())), 50_000, 30_000);
}

#[test]
fn a_record_may_be_larger_than_the_memory() {
    let mut records = texts(100, |i| (i, "x".repeat(5_000 + i as usize % 100)));
    records.extend(texts(2_000, |i| (i, (i % 10).to_string())));
    let mut sorter = TextSorter::new(&workspace(memory(), DIRECTORY), 2_000);
    records.iter().for_each(|(fingerprint, text)| sorter.push(*fingerprint, text.as_bytes()).unwrap());
    let sorted = sorter.finish().unwrap();
    records.sort_unstable();
    records.dedup();
    assert!(joined(&sorted, 2_000).0 == records);
    assert!(joined(&sorted, 0).0 == records);
}

#[test]
fn every_failure_is_reported() {
    sweep(|env| {
        let mut sorter = TextSorter::new(&workspace(env, DIRECTORY), 4_000);
        for item in scattered(1_000) {
            if let Err(error) = sorter.push(item, b"some text") {
                sorter.finish().expect_err("finished after an error");
                return Err(error);
            }
        }
        let sorted = sorter.finish()?;
        let mut chunks = sorted.chunks(9_000);
        let failed = chunks.find_map(Result::err);
        assert!(chunks.next().is_none());
        failed.map_or(Ok(()), Err)
    });
}
