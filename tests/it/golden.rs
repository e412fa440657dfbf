//! Golden files: stores as this format version writes them, byte for byte, and damaged ones that every reader refuses.
//!
//! They are made by these tests when `tests/golden/good` is missing, and compared ever after. After raising the format
//! version move `good` to a folder of the old version's own, add it to [`OLD`], and remove `bad`; CI never makes them.
//! `format-spec/decode.py`, a decoder that shares no code with the library, has to read the good ones to the same
//! records and refuse the bad ones and those of other versions.

use crate::strict::{Parts, chunk};
use crate::support::*;
use fpstore::inspect::{self, BlockKind};
use fpstore::{
    Codec, Design, ErrorKind, Fingerprint, IdKind, Options, Parameters, Record, Records, Store, U256, verify,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Folders of stores in other formats, and their format version.
const OLD: [(&str, u32); 2] = [("version-1", 1), ("version-2", 2)];

/// Where the golden files are; makes them if there are none.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        if !folder.join("good").exists() {
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
    fs::create_dir_all(folder.join("bad")).unwrap();
    for (name, _, bytes) in bad(folder) {
        fs::write(folder.join("bad").join(format!("{name}.segment")), bytes).unwrap();
    }
}

/// A golden store: its name, parameters, and the loads that make it.
struct Golden {
    name: &'static str,
    parameters: Parameters,
    loads: Loads,
}

/// Loads of fingerprints of one width.
enum Loads {
    Bits64(Vec<Records>),
    Bits128(Vec<Records<u128>>),
    Bits256(Vec<Records<U256>>),
}

fn golden(name: &'static str, parameters: Parameters, loads: Vec<Records>) -> Golden {
    Golden { name, parameters, loads: Loads::Bits64(loads) }
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
    vec![
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
            loads: Loads::Bits128(vec![Records::WithIds(wide_sample())]),
        },
        Golden {
            name: "wide-256",
            parameters: Parameters::new(15).with_width(256).with_design(Design::Tables { parts: 4 }),
            loads: Loads::Bits256(vec![Records::Numbered(wide(150, 84)), Records::Numbered(wide(100, 85))]),
        },
        golden(
            "counts",
            three().with_ids(IdKind::None),
            vec![Records::Numbered(counted), Records::Numbered(counted_again)],
        ),
    ]
}

/// More than a page of fingerprints, some of which begin alike; some have several ids.
fn wide_sample() -> Vec<Record<u128>> {
    let mut fingerprints = wide::<u128>(300, 83);
    fingerprints.extend((0..40).map(|i| (7 << 64) + i * i));
    let ids = |i: u64| (0..1 + i % 4 / 3).map(move |n| i * 9 + n);
    (0..).zip(&fingerprints).flat_map(|(i, &f)| ids(i).map(move |id| Record::new(f, id))).collect()
}

/// Makes the store and returns its files; the lock is no part of the format.
fn write(golden: &Golden, path: &Path) -> Vec<(String, Vec<u8>)> {
    fn load<F: Fingerprint>(golden: &Golden, path: &Path, loads: &[Records<F>]) {
        let mut store = Store::<F>::create(path, &golden.parameters, &Options::new()).unwrap();
        loads.iter().for_each(|load| _ = store.bulk_load(load.clone()).unwrap());
    }
    match &golden.loads {
        Loads::Bits64(loads) => load(golden, path, loads),
        Loads::Bits128(loads) => load(golden, path, loads),
        Loads::Bits256(loads) => load(golden, path, loads),
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
        match golden.loads {
            Loads::Bits64(_) => sound_and_answers::<u64>(&golden),
            Loads::Bits128(_) => sound_and_answers::<u128>(&golden),
            Loads::Bits256(_) => sound_and_answers::<U256>(&golden),
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

/// A damaged copy of a golden segment: its name, what `verify` says of it, its bytes.
type Bad = (String, &'static str, Vec<u8>);

/// What a reader has to refuse although every checksum holds, and what checksums catch.
fn bad(folder: &Path) -> Vec<Bad> {
    let good = segment(folder, "extremes");
    let mut bad: Vec<Bad> = vec![
        ("cut-in-the-footer".to_owned(), "the magic bytes are not", good[..good.len() - 5].to_vec()),
        ("cut-in-the-header".to_owned(), "the file ends too early", good[..9].to_vec()),
        ("empty-file".to_owned(), "the file ends too early", Vec::new()),
    ];
    for (name, message, at) in [
        ("magic", "the magic bytes are not", 0),
        ("version", "format version", 8),
        ("header-checksum", "checksum is", 12),
        ("first-block", "checksum of a page does not hold", 16),
        ("trailer", "the magic bytes are not", good.len() - 1),
    ] {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        bad.push((format!("flipped-{name}"), message, bytes));
    }
    // What follows has every checksum right unless it says otherwise.
    let mut add = |name: &str, message, from: &str, change: fn(&mut Parts)| {
        let mut parts = Parts::take(&segment(folder, from));
        change(&mut parts);
        bad.push((name.to_owned(), message, parts.bytes()));
    };
    let no_kind = "a kind of block that does not exist";
    let kind = "a block whose kind, count or length its table does not have";
    add("unknown-block-kind", no_kind, "extremes", |parts| parts.sections[2][18] = 57);
    add("block-kind-of-another-codec", kind, "many-ids", |parts| parts.sections[2][18] = 63);
    add("eight-bits-of-kinds", "an index chunk's header is not possible", "extremes", |parts| parts.sections[2][5] = 8);
    // The index says that the only block's last key is the one before it.
    add("keys-out-of-order", "keys of a block are not in ascending order", "many-ids", |parts| {
        assert!(parts.blocks[0] == 1 && parts.sections[2][6..14] == [6, 0, 0, 0, 6, 0, 0, 0]);
        parts.sections[2][6..14].copy_from_slice(&[5, 0, 0, 0, 5, 0, 0, 0]);
    });
    // A block's last one bit is gone, so its unary stream leaves it.
    add("gap-stream-beyond-the-block", "the streams of a block do not fill it", "uniform-tables-3", |parts| {
        let last = first_gap_block(&parts.bytes()) - 1;
        assert_ne!(parts.sections[0][last], 0);
        parts.sections[0][last] = 0;
    });
    add("page-padding", "padding of a page is not zero", "uniform-tables-3", |parts| {
        assert_eq!(parts.sections[0][4091], 0, "the page has no padding; take another store");
        parts.sections[0][4091] = 1;
    });
    add("reserved-byte", "a reserved byte is in use", "extremes", |parts| parts.parameters[9] = 1);
    add("hasher-that-is-no-text", "the hasher's name is no text", "hasher", |parts| parts.parameters[16] = 0xff);
    add("hasher-with-a-blank", "the name of the hasher is not possible", "hasher", |parts| parts.parameters[16] = b' ');
    add("dictionary-of-numbers", "a dictionary for ids that are no texts", "extremes", |parts| {
        *parts.id_dictionary() = vec![0; 4];
    });
    // All are one less than they were.
    add("count-of-0", "a fingerprint has not one count, of one or more", "counts", |parts| {
        assert_eq!(parts.ids()[5..13], 1u64.to_le_bytes());
        parts.ids()[5] = 0;
    });
    // Pages of 255 rows and of others: one goes from the first to the second.
    add("short-page-of-rows", kind, "wide-128", |parts| {
        let (rows, heads) = (parts.fingerprints as u16, 1 << 60);
        let pages = [254, rows - 254].map(|count| chunk(1, [0; 4], (heads, count, 16 * count, 61), &[]));
        parts.sections[2] = pages.concat();
    });
    add("rows-out-of-order", "rows are not in ascending order", "wide-128", |parts| {
        let (first, second) = parts.sections[0].split_at_mut(16);
        first.swap_with_slice(&mut second[..16]);
    });
    // The first bit of its second part is another one; the order of rows does not change.
    add("narrow-key-of-another-row", "a narrow key is not that of the row that it names", "wide-256", |parts| {
        parts.sections[0][10 * 32 + 23] ^= 0x80;
    });
    let parts = Parts::take(&segment(folder, "two-segments"));
    let last = 16 + parts.sections[0].len().min(4096) - 1;
    let bytes = parts.bytes_with(|content| content[last] ^= 1, |_| {});
    bad.push(("page-checksum".to_owned(), "checksum of a page does not hold", bytes));
    bad
}

/// The bytes of a golden segment.
fn segment(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join("good").join(name).join("00000001.segment")).unwrap()
}

/// The number of bytes of a segment's first block, which is of kind gap.
fn first_gap_block(bytes: &[u8]) -> usize {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let view = inspect::open(file.path(), &Options::new()).unwrap().remove(0);
    let block = view.block(0, 0).unwrap();
    assert!(matches!(block.kind, BlockKind::Gap { .. }) && block.offset == 16, "{block:?}");
    block.length
}

#[test]
fn bad_golden_segments_are_refused() {
    for (name, message, bytes) in bad(folder()) {
        let path = folder().join("bad").join(format!("{name}.segment"));
        assert!(fs::read(&path).unwrap() == bytes, "{name} is not what this test makes");
        let damages = verify(&path, &Options::new()).unwrap().damages;
        assert!(damages.iter().any(|damage| damage.message.starts_with(message)), "{name}: {damages:?}");
    }
}

#[test]
fn stores_of_other_versions_are_refused_with_the_reason() {
    for (name, version) in OLD {
        let stores: Vec<PathBuf> =
            fs::read_dir(folder().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!stores.is_empty());
        for path in stores {
            let reason = format!("format version {version}; this program reads version 3");
            let error = <Store>::open_read_only(&path, &Options::new()).unwrap_err();
            assert_eq!(
                (error.kind(), error.message()),
                (ErrorKind::Unsupported, reason.as_str()),
                "{}",
                path.display()
            );
            for (file, _) in files(&path) {
                let file = if file == "MANIFEST" { path.clone() } else { path.join(file) };
                let damages = verify(&file, &Options::new()).unwrap().damages;
                assert!(damages.iter().any(|damage| damage.message == reason), "{}: {damages:?}", file.display());
                let Some(output) = decode(&file) else { continue };
                let message = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(1), "{}: {message}", file.display());
                assert!(message.contains("unsupported version"), "{}: {message}", file.display());
            }
        }
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
        let expected = match golden.loads {
            Loads::Bits64(_) => listed::<u64>(&path),
            Loads::Bits128(_) => listed::<u128>(&path),
            Loads::Bits256(_) => listed::<U256>(&path),
        };
        assert!(String::from_utf8(output.stdout).unwrap() == expected, "{}", golden.name);
    }
}

/// The records of a store as the decoder prints them.
fn listed<F: Fingerprint>(path: &Path) -> String {
    let hex = |fingerprint: F| (0..F::WORDS).map(|word| format!("{:016x}", fingerprint.word(word))).collect::<String>();
    let store = Store::<F>::open_read_only(path, &Options::new()).unwrap();
    let records = store.records().map(Result::unwrap);
    records.map(|record| format!("{}\t{}\n", hex(record.fingerprint), record.id)).collect()
}

#[test]
fn the_specifications_decoder_refuses_the_bad_ones() {
    for (name, ..) in bad(folder()) {
        let Some(output) = decode(&folder().join("bad").join(format!("{name}.segment"))) else { return };
        assert_eq!(output.status.code(), Some(1), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!message.contains("Traceback"), "{name}: {message}");
    }
}
