//! Every byte flipped, every file cut at every length, random bytes as files: `verify` reports it, queries give an
//! error or the right answer, and no operation panics.

use crate::points::points;
use crate::support::*;
use fpstore::admin::verify;
use fpstore::inspect::{self, BlockKind};
use fpstore::{Codec, Design, ErrorKind, Options, Parameters, ReadMode, Record, Store};
use proptest::prelude::*;
use rayon::prelude::*;
use std::path::PathBuf;

/// A store of two segments with both kinds of block, and with fingerprints of several records.
fn small(codec: Codec) -> (Vec<(PathBuf, Vec<u8>)>, Vec<Record>) {
    let mut records = numbered(&uniform(150, 11));
    records.extend(numbered(&families(40, 10, 13)));
    let fixture = Fixture::new(ReadMode::Mmap);
    let parameters = Parameters::new(3).with_design(Design::Tables { parts: 2 }).with_codec(codec).with_block_size(256);
    drop(fixture.load(&parameters, &records, 2));
    if codec == Codec::Adaptive {
        let kinds = kinds(&fixture);
        let gaps = kinds.iter().filter(|kind| matches!(kind, BlockKind::Gap { .. })).count();
        assert!(gaps > 4 && kinds.len() - gaps > 4, "{kinds:?}");
    }
    (fixture.files(), records)
}

/// The kinds of all blocks.
fn kinds(fixture: &Fixture) -> Vec<BlockKind> {
    let views = inspect::open(&fixture.path, &fixture.options).unwrap();
    let of = |view: &inspect::SegmentView, table| -> Vec<BlockKind> {
        view.blocks(table).unwrap().map(|block| block.unwrap().kind).collect()
    };
    views.iter().flat_map(|view| [of(view, 0), of(view, 1)].concat()).collect()
}

/// The same files with one of them changed, in a separate environment.
fn with_file(files: &[(PathBuf, Vec<u8>)], changed: usize, bytes: Vec<u8>, mode: ReadMode) -> Fixture {
    let fixture = Fixture::new(mode);
    fpstore::env::Env::create_dir(&fixture.env, &fixture.path).unwrap();
    for (path, bytes) in files {
        fixture.env.set_bytes(path, bytes.clone());
    }
    fixture.env.set_bytes(&files[changed].0, bytes);
    fixture
}

/// Verifies and queries a store with one damaged file.
fn check(fixture: &Fixture, records: &[Record], queries: &[u64], label: &str) {
    let report = verify(&fixture.path, &fixture.options);
    let report = report.unwrap_or_else(|error| panic!("{label}: verify fails instead of reporting: {error}"));
    assert!(!report.damages.is_empty(), "{label}: not noticed");
    assert!(report.damages.iter().all(|damage| !damage.section.is_empty()));
    match <Store>::open_read_only(&fixture.path, &fixture.options) {
        Err(error) => assert!(matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unsupported), "{label}: {error}"),
        Ok(store) => {
            for &query in queries {
                for answer in [store.query(query, 3), store.searcher().scan(query, 3)] {
                    match answer {
                        Ok(matches) => assert_eq!(matches, expected(records, query, 3), "{label}"),
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::Damaged, "{label}: {error}");
                            assert!(error.path().is_some() && error.offset().is_some(), "{label}: {error}");
                        }
                    }
                }
            }
        }
    }
}

fn is_lock(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| name == "LOCK")
}

#[test]
fn every_byte_flipped() {
    for codec in Codec::ALL {
        let (files, records) = small(codec);
        let queries: Vec<u64> = records.iter().step_by(70).map(|record| record.fingerprint ^ 5).collect();
        for (number, (path, bytes)) in files.iter().enumerate().filter(|(_, (path, _))| !is_lock(path)) {
            points(0..bytes.len()).collect::<Vec<_>>().into_par_iter().for_each(|at| {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << (at % 8);
                let mode = MODES[at % 2];
                let fixture = with_file(&files, number, bytes, mode);
                check(&fixture, &records, &queries, &format!("{codec} {} byte {at}", path.display()));
            });
        }
    }
}

#[test]
fn every_file_cut_at_every_length() {
    let (files, records) = small(Codec::Adaptive);
    let queries = [records[3].fingerprint, records[300].fingerprint];
    for (number, (path, bytes)) in files.iter().enumerate().filter(|(_, (path, _))| !is_lock(path)) {
        points(0..bytes.len()).collect::<Vec<_>>().into_par_iter().for_each(|length| {
            let fixture = with_file(&files, number, bytes[..length].to_vec(), MODES[length % 2]);
            check(&fixture, &records, &queries, &format!("{} cut at {length}", path.display()));
        });
    }
}

#[test]
fn a_missing_segment_and_one_of_another_load_are_noticed() {
    let (files, records) = small(Codec::Adaptive);
    let segments: Vec<usize> = (0..files.len()).filter(|&f| files[f].0.extension().is_some()).collect();
    let swapped = with_file(&files, segments[0], files[segments[1]].1.clone(), ReadMode::Mmap);
    check(&swapped, &records, &[], "swapped");
    let fixture = with_file(&files, 0, files[0].1.clone(), ReadMode::Mmap);
    fpstore::env::Env::remove(&fixture.env, &files[segments[1]].0).unwrap();
    check(&fixture, &records, &[], "missing");
}

#[test]
fn the_segment_of_another_store_is_not_taken_for_ones_own() {
    // Stores with equal numbers in their footers: same counts, same places, same lengths.
    let stores: Vec<Fixture> = [0x1111_2222_3333_4444, 0x5555_6666_7777_8888]
        .into_iter()
        .map(|fingerprint| {
            let fixture = Fixture::new(ReadMode::Mmap);
            drop(fixture.load(&Parameters::new(3), &[Record::new(fingerprint, 5)], 1));
            fixture
        })
        .collect();
    let segment = stores[0].path.join("00000001.segment");
    let other = stores[1].env.bytes(&segment).unwrap();
    assert_eq!(other.len(), stores[0].env.bytes(&segment).unwrap().len());
    stores[0].env.set_bytes(&segment, other);
    let records = [Record::new(0x1111_2222_3333_4444, 5)];
    check(&stores[0], &records, &[records[0].fingerprint], "another store's segment");
    let error = <Store>::open_read_only(&stores[0].path, &stores[0].options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
}

#[test]
fn a_file_that_changes_under_a_positioned_reader_gives_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let records = numbered(&uniform(20_000, 12));
    // Pages in the cache would answer as before.
    let options = Options::new().with_read_mode(ReadMode::Pread).with_page_cache(0);
    let loaded = fpstore::Records::WithIds(records.clone());
    drop(<Store>::create_loaded(&path, &Parameters::new(3), &options, loaded).unwrap());
    let store = <Store>::open_read_only(&path, &options).unwrap();
    let segment = path.join("00000001.segment");
    let bytes = std::fs::read(&segment).unwrap();
    for length in [bytes.len() / 2, 5000, 0] {
        std::fs::write(&segment, &bytes[..length]).unwrap();
        let mut errors = 0;
        for record in records.iter().step_by(997) {
            match store.query(record.fingerprint, 1) {
                Ok(matches) => assert_eq!(matches, expected(&records, record.fingerprint, 1)),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
                    errors += 1;
                }
            }
        }
        assert!(errors > 0, "cut at {length}");
    }
    let mut changed = bytes.clone();
    changed[30_000..31_000].fill(0x5a);
    std::fs::write(&segment, &changed).unwrap();
    assert!(store.searcher().scan(0, 3).is_err());
    std::fs::write(&segment, &bytes).unwrap();
    assert_eq!(
        store.searcher().scan(records[0].fingerprint, 3).unwrap(),
        expected(&records, records[0].fingerprint, 3)
    );
}

proptest! {
    #[test]
    fn random_bytes_are_no_segment_and_no_manifest(bytes in prop::collection::vec(any::<u8>(), 0..500), genuine: bool) {
        let (files, records) = small(Codec::Adaptive);
        for number in (0..files.len()).filter(|&file| !is_lock(&files[file].0)) {
            // Half of them begin like a genuine file.
            let head = if genuine { &files[number].1[..16.min(files[number].1.len())] } else { &[][..] };
            let fixture = with_file(&files, number, [head, &bytes].concat(), ReadMode::Mmap);
            check(&fixture, &records, &[1], "random bytes");
        }
    }
}
