//! Golden files: stores as this format version writes them, byte for byte, and damaged ones that every reader refuses.
//!
//! They are made by these tests when the folder is missing (remove `tests/golden/` after raising the format version; CI
//! never makes them), and compared ever after. `format-spec/decode.py`, a decoder that shares no code with the library, has to read the good
//! ones to the same records and refuse the bad ones.

use crate::support::*;
use fpstore::{Codec, Design, Options, Parameters, Record, Records, Store, verify};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where the golden files are; makes them if there are none.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        if !folder.exists() {
            assert!(std::env::var_os("CI").is_none(), "the golden files are missing");
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
    fs::create_dir(folder.join("bad")).unwrap();
    for (name, bytes) in bad(folder) {
        fs::write(folder.join("bad").join(format!("{name}.segment")), bytes).unwrap();
    }
}

/// A golden store: its name, parameters, and the loads that make it.
struct Golden {
    name: &'static str,
    parameters: Parameters,
    loads: Vec<Records>,
}

fn golden(name: &'static str, parameters: Parameters, loads: Vec<Records>) -> Golden {
    Golden { name, parameters, loads }
}

fn all() -> Vec<Golden> {
    let three = Parameters::new(3);
    let real: Vec<u64> = real().into_iter().step_by(37).collect();
    let many_ids = (0..3000u64).map(|i| Record { fingerprint: (i % 7) << 32 | (i % 7), id: i * i }).collect();
    let extremes = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63, u64::MAX >> 1]
        .map(|fingerprint| Record { fingerprint, id: !fingerprint });
    vec![
        golden("empty", three, vec![]),
        golden("extremes", three.with_block_size(128), vec![Records::WithIds(extremes.to_vec())]),
        golden("real-adaptive", three, vec![Records::Numbered(real.clone())]),
        golden("real-xor", three.with_codec(Codec::Xor), vec![Records::Numbered(real[..700].to_vec())]),
        golden(
            "uniform-tables-3",
            three.with_design(Design::Tables { parts: 3 }),
            vec![Records::Numbered(uniform(2000, 77))],
        ),
        golden(
            "choose-2-of-5",
            three.with_design(Design::Choose { chosen: 2, parts: 5 }).with_block_size(256),
            vec![Records::Numbered(uniform(150, 78))],
        ),
        golden(
            "nested-4x4",
            Parameters::new(5).with_design(Design::Nested { outer: 4, inner: 4 }),
            vec![Records::Numbered(uniform(60, 79))],
        ),
        golden("many-ids", three.with_block_size(8192), vec![Records::WithIds(many_ids)]),
        golden(
            "two-segments",
            three,
            vec![Records::WithIds(numbered(&real[..300])), Records::WithIds(numbered(&real[200..400]))],
        ),
    ]
}

/// Makes the store and returns its files; the lock is no part of the format.
fn write(golden: &Golden, path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut store = Store::create(path, &golden.parameters, &Options::new()).unwrap();
    golden.loads.iter().for_each(|load| _ = store.bulk_load(load.clone()).unwrap());
    drop(store);
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
        let path = folder().join("good").join(golden.name);
        let store = Store::open_read_only(&path, &Options::new()).unwrap();
        assert_eq!(*store.parameters(), golden.parameters);
        assert!(store.verify().unwrap().damages.is_empty(), "{}", golden.name);
        let records: Vec<Record> = store.records().map(Result::unwrap).collect();
        for record in records.iter().step_by(1 + records.len() / 10) {
            assert_eq!(store.query(record.fingerprint, 3).unwrap(), expected(&records, record.fingerprint, 3));
        }
    }
}

/// Damaged copies of golden segments: what a reader has to refuse although every checksum holds, and what checksums catch.
fn bad(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let (good, page) = first_page(folder, "extremes");
    let mut bad = vec![
        ("cut-in-the-footer".to_owned(), good[..good.len() - 5].to_vec()),
        ("cut-in-the-header".to_owned(), good[..9].to_vec()),
        ("empty-file".to_owned(), Vec::new()),
    ];
    let flips =
        [("magic", 0), ("version", 8), ("header-checksum", 12), ("first-block", 16), ("trailer", good.len() - 1)];
    for (name, at) in flips {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        bad.push((format!("flipped-{name}"), bytes));
    }
    // What follows has every checksum right, those of the page, the content and the footer.
    let mut bytes = good.clone();
    bytes[16] = 3;
    bad.push(("unknown-block-kind".to_owned(), reseal(bytes, page.clone())));
    // The first key's flips changed so that keys no longer ascend.
    let mut bytes = good;
    bytes[17] = !bytes[17];
    bad.push(("keys-out-of-order".to_owned(), reseal(bytes, page)));
    // Something in the padding behind the blocks of a page.
    let (mut bytes, page) = first_page(folder, "uniform-tables-3");
    assert_eq!(bytes[page.end - 5], 0, "the page has no padding; take another store");
    bytes[page.end - 5] = 1;
    bad.push(("page-padding".to_owned(), reseal(bytes, page)));
    // A page's own checksum, and nothing else.
    let (mut bytes, page) = first_page(folder, "two-segments");
    let flipped = bytes[page.end - 1] ^ 1;
    bytes = reseal(bytes, page.clone());
    bytes[page.end - 1] = flipped;
    bad.push(("page-checksum".to_owned(), bytes));
    bad
}

/// Makes the checksums of the first table's first page, of the content and of the footer hold.
fn reseal(mut bytes: Vec<u8>, page: Range<usize>) -> Vec<u8> {
    let end = page.end - 4;
    let mut hasher = crc32fast::Hasher::new();
    // Stream 0 is the blocks of table 0, and this is its page 0.
    hasher.update(&[0; 12]);
    hasher.update(&bytes[page.start..end]);
    bytes[end..page.end].copy_from_slice(&hasher.finalize().to_le_bytes());
    let trailer = bytes.len() - 16;
    let length = u32::from_le_bytes(bytes[trailer..trailer + 4].try_into().unwrap()) as usize;
    let footer = trailer - length;
    let content = xxhash_rust::xxh64::xxh64(&bytes[..footer], 0).to_le_bytes();
    bytes[footer + 28..footer + 36].copy_from_slice(&content);
    let seal = crc32fast::hash(&bytes[footer..trailer + 4]).to_le_bytes();
    bytes[trailer + 4..trailer + 8].copy_from_slice(&seal);
    bytes
}

/// The bytes of a golden segment and where its first page lies.
fn first_page(folder: &Path, name: &str) -> (Vec<u8>, Range<usize>) {
    let path = folder.join("good").join(name).join("00000001.segment");
    let bytes = fs::read(&path).unwrap();
    let view = fpstore::inspect::open(path, &Options::new()).unwrap().remove(0);
    let data = view.sections().into_iter().find(|section| section.name == "table 0 data").unwrap();
    (bytes, data.offset as usize..(data.offset + data.length.min(4096)) as usize)
}

#[test]
fn bad_golden_segments_are_refused() {
    for (name, bytes) in bad(folder()) {
        let path = folder().join("bad").join(format!("{name}.segment"));
        assert!(fs::read(&path).unwrap() == bytes, "{name} is not what this test makes");
        assert!(!verify(&path, &Options::new()).unwrap().damages.is_empty(), "{name}");
    }
}

/// Runs the specification's own decoder; `None` where there is no Python, which CI does not allow.
fn decode(path: &Path) -> Option<std::process::Output> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/decode.py");
    match Command::new("python3").arg(script).arg(path).output() {
        Ok(output) => Some(output),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "python3 is needed for format-spec/decode.py: {error}");
            None
        }
    }
}

#[test]
fn the_specifications_decoder_reads_the_good_ones_to_the_same_records() {
    for golden in all() {
        let path = folder().join("good").join(golden.name);
        let Some(output) = decode(&path) else { return };
        assert!(output.status.success(), "{}: {}", golden.name, String::from_utf8_lossy(&output.stderr));
        let store = Store::open_read_only(&path, &Options::new()).unwrap();
        let expected: String = store
            .records()
            .map(Result::unwrap)
            .map(|record| format!("{:016x}\t{}\n", record.fingerprint, record.id))
            .collect();
        assert!(String::from_utf8(output.stdout).unwrap() == expected, "{}", golden.name);
    }
}

#[test]
fn the_specifications_decoder_refuses_the_bad_ones() {
    for (name, _) in bad(folder()) {
        let Some(output) = decode(&folder().join("bad").join(format!("{name}.segment"))) else { return };
        assert_eq!(output.status.code(), Some(1), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!message.contains("Traceback"), "{name}: {message}");
    }
}
