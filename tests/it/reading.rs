//! The time of page checks: every time with positioned reads without a cache, at the first access in a memory map.

use crate::support::*;
use fpstore::{ErrorKind, Filters, Options, Parameters, ReadMode, Record, Records, Store, inspect};
use std::fs;
use std::path::{Path, PathBuf};

/// Sorted records with wide ids, so that there are many pages of ids too.
fn sample(count: usize) -> Vec<Record> {
    let mut random = Random(61);
    let mut fingerprints = uniform(count, 62);
    fingerprints.sort_unstable();
    fingerprints.into_iter().map(|fingerprint| Record::new(fingerprint, random.next())).collect()
}

/// Makes a store on disk and returns its only segment's path.
fn make(path: &Path, records: &[Record], options: &Options) -> PathBuf {
    drop(<Store>::create_loaded(path, &Parameters::new(3), options, Records::WithIds(records.to_vec())).unwrap());
    path.join("00000001.segment")
}

/// The offset of a section in the file, and its number of pages.
fn section(segment: &Path, name: &str) -> (usize, usize) {
    let view = inspect::open(segment, &Options::new()).unwrap().remove(0);
    let section = view.sections().into_iter().find(|section| section.name == name).unwrap();
    (section.offset as usize, section.length.div_ceil(4096) as usize)
}

#[test]
fn positioned_reads_without_a_cache_check_every_page_every_time() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new().with_read_mode(ReadMode::Pread).with_page_cache(0);
    let records = sample(20_000);
    let segment = make(&directory.path().join("store"), &records, &options);
    let store = <Store>::open_read_only(directory.path().join("store"), &options).unwrap();
    let bytes = fs::read(&segment).unwrap();
    let mut searcher = store.searcher();
    let query = records[records.len() / 2].fingerprint;
    let expected = expected(&records, query, 3);
    assert_eq!(searcher.query(query, 3).unwrap(), expected);
    for name in ["table 0 data", "table 1 data", "ids"] {
        let (start, pages) = section(&segment, name);
        // One of the pages is among those that the query has read and found sound.
        let mut noticed = 0;
        for page in 0..pages {
            let mut changed = bytes.clone();
            changed[start + page * 4096 + 1000.min((bytes.len() - start) / 2)] ^= 0x10;
            fs::write(&segment, &changed).unwrap();
            match searcher.query(query, 3) {
                Ok(matches) => assert_eq!(matches, expected),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Damaged);
                    assert_eq!(error.message(), "checksum of a page does not hold");
                    assert_eq!(error.offset(), Some((start + page * 4096) as u64));
                    noticed += 1;
                }
            }
            fs::write(&segment, &bytes).unwrap();
            assert_eq!(searcher.query(query, 3).unwrap(), expected, "after it was put right");
        }
        assert!(noticed > 0, "{name}");
    }
}

/// Pages enter the cache only if they are sound, answer from it whatever becomes of the file, and leave it for others.
#[test]
fn pages_in_the_cache_are_neither_read_nor_checked_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let records = sample(20_000);
    let open = |bytes| {
        let options = Options::new().with_read_mode(ReadMode::Pread).with_filters(Filters::Off).with_page_cache(bytes);
        <Store>::open_read_only(&path, &options).unwrap()
    };
    let segment = make(&path, &records, &Options::new());
    let bytes = fs::read(&segment).unwrap();
    let asked: Vec<u64> = records.iter().step_by(97).map(|record| record.fingerprint).collect();
    let (large, small) = (open(1 << 20), open(64 << 10));
    let answers = |store: &Store| {
        let mut searcher = store.searcher();
        asked.iter().map(|&query| searcher.query(query, 3)).collect::<Vec<_>>()
    };
    for store in [&large, &small] {
        for (&query, found) in asked.iter().zip(answers(store)) {
            assert_eq!(found.unwrap(), expected(&records, query, 3));
        }
    }
    let mut changed = bytes.clone();
    let (start, pages) = section(&segment, "table 0 data");
    (0..pages - 1).for_each(|page| changed[start + page * 4096 + 1000] ^= 0x10);
    fs::write(&segment, &changed).unwrap();
    for (&query, found) in asked.iter().zip(answers(&large)) {
        assert_eq!(found.unwrap(), expected(&records, query, 3));
    }
    for store in [&small, &open(1 << 20)] {
        let failed = answers(store).into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert!(failed.len() > asked.len() / 2, "{} of {}", failed.len(), asked.len());
        assert!(failed.iter().all(|error| error.kind() == ErrorKind::Damaged && error.offset().is_some()));
        // A page that is damaged has not entered.
        assert!(answers(store).into_iter().filter_map(Result::err).count() >= failed.len());
    }
    fs::write(&segment, &bytes).unwrap();
    assert!(answers(&small).into_iter().all(|found| found.is_ok()));
}

/// The damaged pages, out of more than 140.
const DAMAGED: [usize; 4] = [64, 65, 70, 130];

/// Damages pages of a section and queries every record alone, those outside these pages first. `counts` gives the
/// number of sorted records in each page of the section.
fn damaged_pages_are_noticed(name: &str, counts: fn(&Path) -> Vec<usize>) {
    let directory = tempfile::tempdir().unwrap();
    let records = sample(100_000);
    let path = directory.path().join("store");
    let segment = make(&path, &records, &Options::new());
    let pages: Vec<usize> =
        counts(&segment).into_iter().enumerate().flat_map(|(page, count)| vec![page; count]).collect();
    assert_eq!(pages.len(), records.len());
    let (start, count) = section(&segment, name);
    assert!(count > 140 && pages.iter().max() == Some(&(count - 1)));
    let mut bytes = fs::read(&segment).unwrap();
    DAMAGED.into_iter().for_each(|page| bytes[start + page * 4096 + 4000] ^= 1);
    fs::remove_file(&segment).unwrap();
    fs::write(&segment, &bytes).unwrap();
    let view = inspect::open(&segment, &Options::new().with_read_mode(ReadMode::Mmap)).unwrap().remove(0);
    let damaged = |at: usize| pages.get(at).is_some_and(|page| DAMAGED.contains(page));
    // The second access repeats a failed check.
    for sound in [true, false, false] {
        // Ids might continue in the next page, so the test skips the last fingerprint before a damaged one.
        let asked = (0..records.len()).filter(|&at| damaged(at) != sound && !(sound && damaged(at + 1)));
        for (record, page) in asked.map(|at| (&records[at], pages[at])) {
            match view.get(record.fingerprint) {
                Ok(ids) => {
                    assert!(sound, "{name}: page {page} is damaged");
                    assert_eq!(ids, std::slice::from_ref(&record.id));
                }
                Err(error) => {
                    assert!(!sound, "{name}: page {page}: {error}");
                    assert_eq!(error.message(), "checksum of a page does not hold");
                    assert_eq!(error.offset(), Some((start + page * 4096) as u64));
                }
            }
        }
    }
}

#[test]
fn a_map_checks_pages_of_blocks_at_the_first_touch() {
    damaged_pages_are_noticed("table 0 data", |segment| {
        let view = inspect::open(segment, &Options::new()).unwrap().remove(0);
        let mut counts = vec![0; section(segment, "table 0 data").1];
        view.blocks(0).unwrap().map(Result::unwrap).for_each(|block| counts[block.page as usize] += block.keys.len());
        counts
    });
}

#[test]
fn a_map_checks_pages_of_ids_at_the_first_touch() {
    damaged_pages_are_noticed("ids", |segment| {
        let mut counts = Vec::new();
        let mut visit = |_: &Path, field: inspect::Field| {
            if field.name == "records" && field.bytes.len() == 2 {
                counts.push(field.value.parse().unwrap());
            }
            Ok(())
        };
        inspect::explain(segment, &Options::new(), &mut visit).unwrap();
        counts
    });
}
