//! Golden files: stores as this format version writes them, byte for byte, and damaged ones that every reader refuses.
//!
//! These tests make the files if `tests/golden/good` is missing, and compare them otherwise. After raising the format
//! version, remove `good` and `bad`; from the first release on, `good` moves to a folder for the old version instead.
//! CI never makes golden files. The bytes of compressed texts come from zstd and may change with its release, so the
//! text ids here are few and short enough to be stored uncompressed. `format-spec/decode.py`, a decoder that shares no
//! code with the library, must read the same records from the good files, and must refuse the bad ones and those of
//! other versions.

mod bad;

use crate::decoder::{self, Decoded, decode};
use crate::support::*;
use fpstore::admin::verify;
use fpstore::{
    AnyFingerprint, Codec, Design, Durability, ErrorKind, Fingerprint, IdKind, IdRef, Maintenance, Options, Parameters,
    Record, Records, Store, U256, WriteBatch,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder of the golden files; makes them if there are none.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = root().join("tests/golden");
        if !folder.join("good").exists() {
            assert!(!is_build_server(), "the golden files are missing");
            make(&folder);
        }
        folder
    })
}

fn make(folder: &Path) {
    for golden in all() {
        write(&golden, &folder.join("good").join(golden.name));
        fs::remove_file(folder.join("good").join(golden.name).join("LOCK")).unwrap();
    }
    bad::make(folder);
}

/// Options without background work.
fn manual() -> Options {
    Options::new().with_maintenance(Maintenance::Manual)
}

/// A golden store: its name, parameters, and the steps that make it.
struct Golden {
    name: &'static str,
    parameters: Parameters,
    steps: Steps,
}

/// Steps with fingerprints of one width.
enum Steps {
    Bits64(Vec<Step>),
    Bits128(Vec<Step<u128>>),
    Bits256(Vec<Step<U256>>),
}

enum Step<F: Fingerprint = u64> {
    Load(Records<F>),
    Remove(Records<F>),
    /// One batch, durable when the call returns.
    Write(WriteBatch<F>),
    Flush,
    /// Closes and reopens the store, so that later writes go to another log.
    Reopen,
}

use Step::{Flush, Load, Remove, Reopen, Write};

fn golden(name: &'static str, parameters: Parameters, loads: Vec<Records>) -> Golden {
    steps(name, parameters, loads.into_iter().map(Load).collect())
}

fn steps(name: &'static str, parameters: Parameters, steps: Vec<Step>) -> Golden {
    Golden { name, parameters, steps: Steps::Bits64(steps) }
}

/// A batch that inserts some records and removes others.
fn batch<'a, F: Fingerprint, I: Into<IdRef<'a>>>(
    inserted: impl IntoIterator<Item = (F, I)>,
    removed: impl IntoIterator<Item = (F, I)>,
) -> Step<F> {
    let mut batch = WriteBatch::new();
    inserted.into_iter().for_each(|(fingerprint, id)| batch.insert(fingerprint, id));
    removed.into_iter().for_each(|(fingerprint, id)| batch.remove(fingerprint, id));
    Write(batch)
}

fn all() -> Vec<Golden> {
    let three = || Parameters::new(3);
    let real: Vec<u64> = real().into_iter().step_by(37).collect();
    let many_ids = (0..3000u64).map(|i| Record::new((i % 7) << 32 | (i % 7), i * i)).collect();
    let extremes = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63, u64::MAX >> 1]
        .map(|fingerprint| Record::new(fingerprint, !fingerprint));
    // Each 1 to 5 times, and some of them again.
    let counted: Vec<u64> = uniform(300, 81).into_iter().zip(0..).flat_map(|(f, i)| vec![f; 1 + i % 5]).collect();
    let counted_again = counted.iter().copied().step_by(2).take(200).collect();
    let mut all = vec![
        golden("empty", three(), vec![]),
        golden("extremes", three().with_block_size(128), vec![Records::WithIds(extremes.to_vec())]),
        golden("real-adaptive", three(), vec![Records::Numbered(real.clone())]),
        golden("real-xor", three().with_codec(Codec::Xor), vec![Records::Numbered(real[..700].to_vec())]),
        golden(
            "uniform-tables-3",
            three().with_design(Design::Tables { parts: 3 }),
            vec![Records::Numbered(uniform(2000, 77))],
        ),
        golden(
            "choose-2-of-5",
            three().with_design(Design::Choose { chosen: 2, parts: 5 }).with_block_size(256),
            vec![Records::Numbered(uniform(150, 78))],
        ),
        golden(
            "nested-4x4",
            Parameters::new(5).with_design(Design::Nested { outer: 4, inner: 4 }),
            vec![Records::Numbered(uniform(60, 79))],
        ),
        golden("several-chunks", three().with_block_size(128), vec![Records::Numbered(uniform(7500, 83))]),
        golden("families", three(), vec![Records::Numbered(families(300, 12, 80))]),
        golden("many-ids", three().with_block_size(8192), vec![Records::WithIds(many_ids)]),
        golden(
            "two-segments",
            three(),
            vec![Records::WithIds(numbered(&real[..300])), Records::WithIds(numbered(&real[200..400]))],
        ),
        golden("hasher", three().with_hasher(Some("simhash/2:w\u{f6}rter")), vec![Records::Numbered(uniform(20, 82))]),
        Golden {
            name: "wide-128",
            parameters: Parameters::new(7).with_width(128).with_block_size(128),
            steps: Steps::Bits128(vec![Load(Records::WithIds(wide_sample()))]),
        },
        Golden {
            name: "wide-256",
            parameters: Parameters::new(15).with_width(256).with_design(Design::Tables { parts: 4 }),
            steps: Steps::Bits256([wide(150, 84), wide(100, 85)].map(|load| Load(Records::Numbered(load))).into()),
        },
        golden(
            "counts",
            three().with_ids(IdKind::None),
            vec![Records::Numbered(counted), Records::Numbered(counted_again)],
        ),
    ];
    all.extend(live());
    all
}

/// Stores with removed records, with an id index, and with logs.
fn live() -> Vec<Golden> {
    let three = || Parameters::new(3);
    let some: Vec<u64> = uniform(60, 86);
    let records = numbered(&some);
    let pairs = |range: std::ops::Range<usize>| some[range.clone()].iter().copied().zip(range.start as u64..);
    let every_third: Vec<Record> = records.iter().step_by(3).cloned().collect();
    let often: Vec<u64> = some.iter().zip(0..).flat_map(|(&f, i)| vec![f; 2 + i % 3]).collect();
    // All records of the first fingerprints, one record of each other.
    let less: Vec<u64> =
        some[..20].iter().zip(0..).flat_map(|(&f, i)| vec![f; if i < 5 { 2 + i % 3 } else { 1 }]).collect();
    // Many ids on few fingerprints, so that their hashes collide.
    let meeting = (0..3000u64).map(|i| Record::new(some[(i % 3) as usize], i * i)).collect();
    let texts = ["/", "a", "https://a.example/x?y=1", "\u{fc}", "\u{10348}"];
    let of_texts = || some.iter().copied().zip(texts);
    let none =
        |range: std::ops::Range<usize>| wide::<u128>(12, 87)[range].to_vec().into_iter().map(|f| (f, IdRef::None));
    vec![
        // The last run has tombstones and records, the one before only tombstones.
        steps(
            "removals",
            three(),
            vec![
                Load(Records::WithIds(records.clone())),
                Remove(Records::WithIds(every_third)),
                batch(pairs(0..4), pairs(10..14)),
                Flush,
            ],
        ),
        steps(
            "counts-removals",
            three().with_ids(IdKind::None),
            vec![
                Load(Records::Numbered(often)),
                Remove(Records::Numbered(less)),
                Load(Records::Numbered(some[..3].to_vec())),
            ],
        ),
        steps(
            "id-index",
            three().with_id_index(true).with_hasher(Some("x")),
            vec![Load(Records::WithIds(meeting)), batch(pairs(20..40), [(some[1], 16u64)]), Flush],
        ),
        steps(
            "texts",
            three().with_ids(IdKind::Text).with_id_index(true),
            vec![batch(of_texts(), []), Flush, batch([(some[9], "/"), (some[0], "b")], [(some[1], "a")]), Flush],
        ),
        // The first log has two batches, the second one.
        steps(
            "log",
            three(),
            vec![
                Load(Records::WithIds(records)),
                batch([(1, 100), (2, 101), (u64::MAX, u64::MAX)], pairs(0..2)),
                batch([(some[0], 0u64)], [(2, 101)]),
                Reopen,
                batch([(3, 102u64), (some[2], 103)], pairs(30..32)),
            ],
        ),
        Golden {
            name: "log-counts",
            parameters: three().with_width(128).with_ids(IdKind::None),
            steps: Steps::Bits128(vec![batch(none(0..10), []), Flush, batch(none(5..12), none(3..6))]),
        },
        Golden {
            name: "log-texts",
            parameters: three().with_width(256).with_ids(IdKind::Text).with_id_index(true),
            steps: Steps::Bits256(vec![batch(wide(5, 88).into_iter().zip(texts), [])]),
        },
    ]
}

/// More than a page of fingerprints, some with a common prefix; some have several ids.
fn wide_sample() -> Vec<Record<u128>> {
    let mut fingerprints = wide::<u128>(300, 83);
    fingerprints.extend((0..40).map(|i| (7 << 64) + i * i));
    let ids = |i: u64| (0..1 + i % 4 / 3).map(move |n| i * 9 + n);
    (0..).zip(&fingerprints).flat_map(|(i, &f)| ids(i).map(move |id| Record::new(f, id))).collect()
}

/// Makes the store and returns its files; the lock is not part of the format.
fn write(golden: &Golden, path: &Path) -> Vec<(String, Vec<u8>)> {
    fn make<F: Fingerprint>(golden: &Golden, path: &Path, steps: &[Step<F>]) {
        let mut store = Store::<F>::create(path, &golden.parameters, &manual()).unwrap();
        for step in steps {
            match step {
                Load(records) => _ = store.bulk_load(records.clone()).unwrap(),
                Remove(records) => _ = store.bulk_remove(records.clone()).unwrap(),
                Write(batch) => _ = store.write(batch, Durability::SyncData).unwrap(),
                Flush => store.flush().unwrap(),
                Reopen => {
                    drop(store);
                    store = Store::open(path, &manual()).unwrap();
                }
            }
        }
    }
    match &golden.steps {
        Steps::Bits64(steps) => make(golden, path, steps),
        Steps::Bits128(steps) => make(golden, path, steps),
        Steps::Bits256(steps) => make(golden, path, steps),
    }
    files(path)
}

fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| name != "LOCK")
        .collect();
    files.sort();
    files
}

#[test]
fn the_writer_makes_the_golden_files_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    for golden in all() {
        let made = write(&golden, &directory.path().join(golden.name));
        let kept = files(&folder().join("good").join(golden.name));
        assert!(made == kept, "{}: the bytes differ; a new format needs a new version", golden.name);
    }
}

#[test]
fn golden_stores_are_sound_and_answer() {
    for golden in all() {
        match golden.steps {
            Steps::Bits64(_) => sound_and_answers::<u64>(&golden),
            Steps::Bits128(_) => sound_and_answers::<u128>(&golden),
            Steps::Bits256(_) => sound_and_answers::<U256>(&golden),
        }
    }
}

fn sound_and_answers<F: Fingerprint>(golden: &Golden) {
    let path = folder().join("good").join(golden.name);
    let store = Store::<F>::open_read_only(&path, &Options::new()).unwrap();
    assert_eq!(*store.parameters(), golden.parameters);
    assert!(store.verify().unwrap().damages.is_empty(), "{}", golden.name);
    let records: Vec<Record<F>> = store.records().map(Result::unwrap).collect();
    for record in records.iter().step_by(1 + records.len() / 10) {
        for k in [0, 3, golden.parameters.max_distance()] {
            assert_eq!(store.query(record.fingerprint, k).unwrap(), expected(&records, record.fingerprint, k));
        }
    }
}

/// Every file carries its version at the same place, and readers look at it before anything else.
#[test]
fn stores_of_other_versions_are_refused_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    for (name, version) in ["log", "removals", "id-index", "wide-128"].into_iter().zip([0u32, 5, 7, u32::MAX]) {
        let path = directory.path().join(name);
        fs::create_dir(&path).unwrap();
        for (file, mut bytes) in files(&folder().join("good").join(name)) {
            bytes[8..12].copy_from_slice(&version.to_le_bytes());
            fs::write(path.join(file), bytes).unwrap();
        }
        let reason = format!("format version {version}; this program reads version 6");
        let error = <Store>::open_read_only(&path, &Options::new()).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Unsupported, reason.as_str()), "{name}");
        for (file, _) in files(&path) {
            let file = if file == "MANIFEST" { path.clone() } else { path.join(file) };
            let damages = verify(&file, &Options::new()).unwrap().damages;
            assert!(damages.iter().any(|damage| damage.message == reason), "{}: {damages:?}", file.display());
            // The decoder reads a log only as part of its store: `bad/log-of-another-version`.
            if file.extension().is_some_and(|extension| extension == "wal") {
                continue;
            }
            let Some(Decoded { code, messages, .. }) = decode(&file) else { continue };
            assert_eq!(code, 1, "{}: {messages}", file.display());
            assert!(messages.contains("unsupported version"), "{}: {messages}", file.display());
        }
    }
}

#[test]
fn the_specifications_decoder_reads_the_good_ones_to_the_same_records() {
    for golden in all() {
        let path = folder().join("good").join(golden.name);
        let Some(decoded) = decode(&path) else { return };
        assert_eq!(decoded.code, 0, "{}: {}", golden.name, decoded.messages);
        let expected = match golden.steps {
            Steps::Bits64(_) => listed::<u64>(&path),
            Steps::Bits128(_) => listed::<u128>(&path),
            Steps::Bits256(_) => listed::<U256>(&path),
        };
        assert!(decoded.records == expected, "{}", golden.name);
    }
}

#[test]
fn the_specifications_decoder_is_a_program() {
    let store = folder().join("good").join(all()[0].name);
    let Some(output) = decoder::run(&store) else { return };
    let decoded = decode(&store).unwrap();
    assert!(output.status.success() && String::from_utf8(output.stdout).unwrap() == decoded.records);
    let output = decoder::run(&folder().join("no-such-store")).unwrap();
    assert!(output.status.code() == Some(2) && !output.stderr.is_empty());
}

/// The records of a store in the decoder's output format.
fn listed<F: Fingerprint>(path: &Path) -> String {
    let store = Store::<F>::open_read_only(path, &Options::new()).unwrap();
    let records = store.records().map(Result::unwrap);
    records.map(|record| format!("{}\t{}\n", AnyFingerprint::from(record.fingerprint), record.id)).collect()
}
