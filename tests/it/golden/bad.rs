//! Golden files that every reader refuses: segments, and stores with sound segments.

use super::folder;
use crate::decoder::{Decoded, decode};
use crate::strict::{ID_INDEX, Log, Manifest, Parts, RECORDS, index, index_chunk};
use fpstore::admin::verify;
use fpstore::inspect::{self, BlockKind};
use fpstore::{Options, Store};
use std::fs;
use std::path::Path;

pub(super) fn make(folder: &Path) {
    fs::create_dir_all(folder.join("bad")).unwrap();
    for (name, _, bytes) in segments(folder) {
        fs::write(folder.join("bad").join(format!("{name}.segment")), bytes).unwrap();
    }
    for (name, _, files) in stores(folder) {
        let path = folder.join("bad").join(name);
        fs::create_dir(&path).unwrap();
        files.into_iter().for_each(|(name, bytes)| fs::write(path.join(name), bytes).unwrap());
    }
}

/// A damaged copy of a golden segment: its name, the message of `verify`, its bytes.
type Bad = (String, &'static str, Vec<u8>);

/// Faults that a reader must detect although every checksum holds, and faults that checksums detect.
fn segments(folder: &Path) -> Vec<Bad> {
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
    // From here on every checksum holds unless the comment says otherwise.
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
    // The index gives the key before the only block's last key as the last key.
    add("keys-out-of-order", "keys of a block are not in ascending order", "many-ids", |parts| {
        assert!(parts.blocks[0] == 1 && parts.sections[2][6..14] == [6, 0, 0, 0, 6, 0, 0, 0]);
        parts.sections[2][6..14].copy_from_slice(&[5, 0, 0, 0, 5, 0, 0, 0]);
    });
    // The last one bit of a block is missing, so its unary stream leaves it.
    add("gap-stream-beyond-the-block", "the streams of a block do not fill it", "uniform-tables-3", |parts| {
        let last = first_gap_block(&parts.bytes()) - 1;
        assert_ne!(parts.sections[0][last], 0);
        parts.sections[0][last] = 0;
    });
    add("page-padding", "padding of a page is not zero", "uniform-tables-3", |parts| {
        assert_eq!(parts.sections[0][4091], 0, "the page has no padding; take another store");
        parts.sections[0][4091] = 1;
    });
    add("id-index-of-another-kind", "unknown kind 4 of id index", "extremes", |parts| parts.parameters[9] = 4);
    add("id-index-without-ids", "there can be no id index where there are no ids", "counts", |parts| {
        parts.parameters[9] = 1;
    });
    add("hasher-that-is-no-text", "the hasher's name is no text", "hasher", |parts| parts.parameters[16] = 0xff);
    add("hasher-with-a-blank", "the name of the hasher is not possible", "hasher", |parts| parts.parameters[16] = b' ');
    add("dictionary-of-numbers", "a dictionary for ids that are no texts", "extremes", |parts| {
        *parts.id_dictionary() = vec![0; 4];
    });
    // Reduces all counts by one.
    add("count-of-0", "a fingerprint has not one count, of one or more", "counts", |parts| {
        assert_eq!(parts.ids()[5..13], 1u64.to_le_bytes());
        parts.ids()[5] = 0;
    });
    // The least number of keys in the directory; the least gap of a chunk.
    add("keys-of-another-chunk", "the directory of an index does not describe its chunks", "several-chunks", |parts| {
        parts.sections[2][13] ^= 1;
    });
    add("key-of-another-chunk", "the directory of an index does not describe its chunks", "several-chunks", |parts| {
        index_chunk(&mut parts.sections[2], 0)[6] ^= 1;
    });
    // Moves a row from the first page, of 255 rows, to the second.
    add("short-page-of-rows", kind, "wide-128", |parts| {
        let (rows, heads) = (parts.fingerprints as u16, 1 << 60);
        let pages = [254, rows - 254].map(|count| (heads, count, 16 * count, 61));
        parts.sections[2] = index(&pages);
    });
    add("rows-out-of-order", "rows are not in ascending order", "wide-128", |parts| {
        let (first, second) = parts.sections[0].split_at_mut(16);
        first.swap_with_slice(&mut second[..16]);
    });
    // Flips the first bit of its second part; the order of rows stays.
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

/// The number of bytes of a segment's first block of kind gap.
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
    for (name, message, bytes) in segments(folder()) {
        let path = folder().join("bad").join(format!("{name}.segment"));
        assert!(fs::read(&path).unwrap() == bytes, "{name} is not what this test makes");
        let damages = verify(&path, &Options::new()).unwrap().damages;
        assert!(damages.iter().any(|damage| damage.message.starts_with(message)), "{name}: {damages:?}");
    }
}

/// Names and bytes.
type Files = Vec<(String, Vec<u8>)>;

/// A damaged copy of a golden store: its name, the message of opening, its files.
type BadStore = (&'static str, &'static str, Files);

/// Stores with sound segments.
fn stores(folder: &Path) -> Vec<BadStore> {
    const LOST: &str = "writes that were durable do not hold";
    let mut bad: Vec<BadStore> = Vec::new();
    let mut add = |name, message, from: &str, change: &dyn Fn(&mut Files)| {
        let mut files = super::files(&folder.join("good").join(from));
        // Without the space reserved after the frames, which no log needs.
        for (name, bytes) in &mut files {
            if name.ends_with(".wal") {
                bytes.truncate(Log::take(bytes).end());
            }
        }
        change(&mut files);
        bad.push((name, message, files));
    };
    let first = |files: &mut Files, change: &dyn Fn(&mut Log)| {
        let log = &mut files.iter_mut().find(|(name, _)| name.ends_with(".wal")).unwrap().1;
        let mut parts = Log::take(log);
        change(&mut parts);
        *log = parts.bytes();
    };
    // The second frame records the first one as durable.
    add("log-flipped", LOST, "log", &|files| first(files, &|log| log.frames[0].flip = 1));
    add("log-frame-of-zeros", LOST, "log", &|files| first(files, &|log| log.frames[0].zeros = true));
    add("log-unknown-operation", "unknown operation 3", "log", &|files| {
        first(files, &|log| log.frames[1].operations[0] = 3);
    });
    add("log-of-another-number", "the log is another one than its name says", "log", &|files| {
        first(files, &|log| log.number = 3);
    });
    add("log-of-another-store", "the log is that of another store", "log", &|files| {
        first(files, &|log| log.parameters[2] = 4);
    });
    add("log-of-another-version", "format version 5; this program reads version 6", "log", &|files| {
        first(files, &|log| log.version = 5);
    });
    // The second log begins at the former end of the first one.
    add("log-without-its-last-frame", "writes are missing in front of number", "log", &|files| {
        first(files, &|log| log.frames.truncate(1));
    });
    add("log-missing", "a log is missing", "log", &|files| files.retain(|(name, _)| name != "00000001.wal"));
    add("log-cut-in-the-header", "the file ends within", "log", &|files| {
        files.iter_mut().filter(|(name, _)| name.ends_with("1.wal")).for_each(|(_, bytes)| bytes.truncate(40));
    });
    add("log-count-of-0", "a count of no records", "log-counts", &|files| {
        first(files, &|log| log.frames[0].operations[21..29].fill(0));
    });
    add("log-id-that-is-no-text", "an id that is no text", "log-texts", &|files| {
        first(files, &|log| log.frames[0].operations[39] = 0xff);
    });
    let manifest = |files: &mut Files, change: &dyn Fn(&mut Manifest)| {
        let file = &mut files.iter_mut().find(|(name, _)| name == "MANIFEST").unwrap().1;
        let mut parts = Manifest::take(file);
        change(&mut parts);
        *file = parts.bytes();
    };
    let not_meant = "the segment is not the one that the manifest names";
    add("removals-as-records", not_meant, "removals", &|files| {
        manifest(files, &|parts| (parts.runs[1].has, parts.runs[1].net) = (RECORDS, None));
    });
    add("runs-in-another-order", "sequence numbers of runs do not ascend", "removals", &|files| {
        manifest(files, &|parts| parts.runs.swap(0, 1));
    });
    // The last run has tombstones and records, and gives its net records.
    let more = "a run that adds more records than it has, or removes more";
    add("net-records-beyond-records", more, "removals", &|files| {
        manifest(files, &|parts| parts.runs[2].net = Some(parts.runs[2].segments[1].0[2].cast_signed() + 1));
    });
    add("net-records-beyond-removals", more, "removals", &|files| {
        manifest(files, &|parts| parts.runs[2].net = Some(-parts.runs[2].segments[0].0[2].cast_signed() - 1));
    });
    add("without-its-id-index", "an id index is missing, or too many", "id-index", &|files| {
        manifest(files, &|parts| {
            parts.runs[0].has ^= ID_INDEX;
            parts.runs[0].segments.pop();
        });
    });
    bad
}

#[test]
fn bad_golden_stores_are_refused() {
    for (name, message, files) in stores(folder()) {
        let path = folder().join("bad").join(name);
        assert!(super::files(&path) == files, "{name} is not what this test makes");
        let options = Options::new();
        let error = match inspect::manifest(&path, &options).map(|manifest| manifest.parameters.width()) {
            Ok(256) => Store::<fpstore::U256>::open_read_only(&path, &options).map(|_| ()),
            Ok(128) => Store::<u128>::open_read_only(&path, &options).map(|_| ()),
            Ok(_) => <Store>::open_read_only(&path, &options).map(|_| ()),
            Err(error) => Err(error),
        };
        let error = error.expect_err(name);
        assert!(error.message().starts_with(message), "{name}: {error}");
        let damages = verify(&path, &options).unwrap().damages;
        assert!(damages.iter().any(|damage| damage.message.starts_with(message)), "{name}: {damages:?}");
    }
}

#[test]
fn the_specifications_decoder_refuses_the_bad_ones() {
    let segments = segments(folder()).into_iter().map(|(name, ..)| format!("{name}.segment"));
    for name in segments.chain(stores(folder()).into_iter().map(|(name, ..)| name.to_owned())) {
        let Some(Decoded { code, messages, .. }) = decode(&folder().join("bad").join(&name)) else { return };
        assert_eq!(code, 1, "{name}: {messages}");
        assert!(!messages.contains("Traceback"), "{name}: {messages}");
    }
}
