//! Logs: headers, frames, operations, torn tails and damage, opened, verified, and read by the decoder.

use super::files::{Frame, Log, Manifest, decoded, store};
use super::parts::Parts;
use crate::decoder::Decoded;
use crate::support::*;
use fpstore::admin::verify;
use fpstore::{ErrorKind, IdKind, Parameters, Record, Store, U256};

const LOST: &str = "writes that were durable do not hold";
const MISSING: &str = "writes are missing in front of number";

/// A broken header: the name of the change, the beginning of the message, and the change.
type Header = (&'static str, &'static str, fn(&mut Log));
/// The name of a change, the number of remaining frames, and the change.
type Torn = (&'static str, usize, fn(&mut Vec<Frame>));
/// The name of a change, and the change.
type Damaged = (&'static str, fn(&mut Vec<Frame>));

/// The kinds of operations in a log.
const INSERT: u8 = 1;
const REMOVE: u8 = 2;

/// A group of records with the same operation.
fn operations(kind: u8, records: &[(u64, u64)]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((records.len() as u32).to_le_bytes());
    records.iter().for_each(|&(f, id)| out.extend([f.to_le_bytes(), id.to_le_bytes()].concat()));
    out
}

/// Logs 1 and 2 after a segment of sequence number 1. Each frame of the first log records those before it as durable.
fn logs() -> Vec<Log> {
    let parameters = Parts::of(&Parameters::new(3), &[Record::new(1u64, 1)]).parameters;
    let (mut first, mut second) = (Log::empty(&parameters, 1, 2), Log::empty(&parameters, 2, 5));
    first.push(0, operations(INSERT, &[(10, 10), (11, 11)]));
    first.push(1, [operations(REMOVE, &[(1, 1)]), operations(INSERT, &[(12, 12)])].concat());
    first.push(2, operations(INSERT, &[(13, 13)]));
    second.push(0, operations(INSERT, &[(14, 14)]));
    second.tail = vec![0; 100];
    vec![first, second]
}

/// Logs whose first one records these batches as durable in each frame; without syncs none.
fn buffered() -> Vec<Log> {
    let mut logs = logs();
    let end = logs[0].ends()[0] as u64;
    logs[0].frames.iter_mut().for_each(|frame| frame.durable = end);
    logs.truncate(1);
    logs
}

/// A store of one record with these files beside its segment.
fn fixture(manifest: impl FnOnce(&mut Manifest), logs: &[(u64, Vec<u8>)]) -> Fixture {
    fixture_of(&Parameters::new(3), Record::new(1u64, 1), manifest, logs)
}

fn fixture_of(
    parameters: &Parameters,
    record: Record,
    manifest: impl FnOnce(&mut Manifest),
    logs: &[(u64, Vec<u8>)],
) -> Fixture {
    let segment = Parts::of(parameters, &[record]).bytes();
    let mut own = Manifest::naming(&[&segment]);
    manifest(&mut own);
    let fixture = store(own.bytes(), &[&segment], MODES[logs.len() % 2]);
    for (number, bytes) in logs {
        fixture.env.set_bytes(&fixture.path.join(format!("{number:08}.wal")), bytes.clone());
    }
    fixture
}

fn written(logs: &[Log]) -> Vec<(u64, Vec<u8>)> {
    logs.iter().map(Log::bytes).zip(1..).map(|(bytes, number)| (number, bytes)).collect()
}

fn refused(label: &str, fixture: &Fixture, message: &str) {
    refused_as(label, fixture, message, ErrorKind::Damaged);
}

/// The library and the decoder refuse the store.
fn refused_as(label: &str, fixture: &Fixture, message: &str, kind: ErrorKind) {
    let error = <Store>::open_read_only(&fixture.path, &fixture.options).expect_err(label);
    assert!(error.message().starts_with(message), "{label}: {error}");
    assert_eq!(error.kind(), kind, "{label}: {error}");
    let damages = verify(&fixture.path, &fixture.options).unwrap().damages;
    assert!(damages.iter().any(|damage| damage.message == error.message()), "{label}: {damages:?}");
    let before = fixture.files();
    let error = <Store>::open(&fixture.path, &fixture.options).expect_err(label);
    assert!(error.message().starts_with(message), "{label}: {error}");
    let without_lock = |files: Vec<(std::path::PathBuf, Vec<u8>)>| -> Vec<_> {
        files.into_iter().filter(|(path, _)| path.file_name() != Some("LOCK".as_ref())).collect()
    };
    assert!(without_lock(fixture.files()) == without_lock(before), "{label}: opening has changed files");
    if let Some(Decoded { code, messages: message, .. }) = decoded(fixture) {
        let reported = message.lines().filter(|line| !line.contains("cut short by a crash")).count();
        assert!(code == 1 && reported == 1, "{label}: {message}");
        assert_eq!(message.contains("unsupported"), kind == ErrorKind::Unsupported, "{label}: {message}");
    }
}

/// All readers see these fingerprints and a torn tail of `torn` bytes; so does a later writer.
fn accepted(label: &str, fixture: &Fixture, fingerprints: &[u64], torn: u64) {
    let of = |store: &Store| store.records().map(|record| record.unwrap().fingerprint).collect::<Vec<u64>>();
    let report = verify(&fixture.path, &fixture.options).unwrap();
    assert!(report.damages.is_empty(), "{label}: {:?}", report.damages);
    assert_eq!(report.torn.iter().map(|log| log.bytes).sum::<u64>(), torn, "{label}");
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).expect(label);
    assert_eq!(of(&store), fingerprints, "{label}");
    assert_eq!(store.recovery().torn, report.torn, "{label}");
    if let Some(Decoded { code, records: output, messages: message }) = decoded(fixture) {
        assert_eq!(code, 0, "{label}: {message}");
        let listed: Vec<u64> =
            output.lines().map(|line| u64::from_str_radix(line.split('\t').next().unwrap(), 16).unwrap()).collect();
        assert_eq!(listed, fingerprints, "{label}");
        let told = message.split(": ").filter_map(|part| part.split_once(" bytes from")?.0.parse::<u64>().ok());
        assert_eq!(told.sum::<u64>(), torn, "{label}: {message}");
    }
    let store = <Store>::open(&fixture.path, &fixture.options).expect(label);
    assert_eq!(of(&store), fingerprints, "{label}");
    store.insert(1 << 40, 99, fpstore::Durability::SyncData).unwrap();
    drop(store);
    let more = [fingerprints, &[1 << 40]].concat();
    assert_eq!(of(&<Store>::open(&fixture.path, &fixture.options).expect(label)), more, "{label}");
}

#[test]
fn what_is_put_together_unchanged_is_sound() {
    accepted("unchanged", &fixture(|_| (), &written(&logs())), &[10, 11, 12, 13, 14], 0);
    accepted("no frames", &fixture(|_| (), &written(&[Log::empty(&logs()[0].parameters, 1, 2)])), &[1], 0);
    // The library writes the same bytes, except for the reserved space.
    let made = Fixture::new(MODES[0]);
    let store = made.load(&Parameters::new(3), &[Record::new(1u64, 1)], 1);
    store.insert_many([(10, 10), (11, 11)], fpstore::Durability::SyncData).unwrap();
    let mut batch = fpstore::WriteBatch::new();
    batch.remove(1, 1);
    batch.insert(12, 12);
    store.write(&batch, fpstore::Durability::SyncData).unwrap();
    store.insert(13, 13, fpstore::Durability::Buffered).unwrap();
    let mut ours = logs().remove(0);
    ours.tail = vec![0; (64 << 10) - ours.end()];
    assert!(made.env.bytes("store/00000001.wal".as_ref()).unwrap() == ours.bytes());
}

#[test]
fn headers() {
    const REACHED: &str = "a number that no store reaches";
    const BEGIN: &str = "numbers of logs and sequence numbers begin at 1";
    const CASES: [Header; 11] = [
        ("another number", "the log is another one than its name says", |log| log.number = 3),
        ("number 0", BEGIN, |log| log.number = 0),
        ("first 0", BEGIN, |log| log.first = 0),
        ("number too large", REACHED, |log| log.number = u64::MAX),
        ("first too large", REACHED, |log| log.first = (1 << 63) + 1),
        ("another distance", "the log is that of another store", |log| log.parameters[2] = 4),
        ("another id kind", "the log is that of another store", |log| log.parameters[8] = 2),
        ("an id index", "the log is that of another store", |log| log.parameters[9] = 1),
        ("a hasher", "the log is that of another store", |log| {
            log.parameters[14] = 1;
            log.parameters.push(b'x');
        }),
        ("a distance that is not possible", "maximum distance 65 exceeds", |log| log.parameters[2] = 65),
        ("writes in front are missing", MISSING, |log| log.first = 3),
    ];
    for (label, message, change) in CASES {
        let mut logs = logs();
        change(&mut logs[0]);
        // Frames of another log number do not hold; this test does not check that.
        logs[0].frames.clear();
        logs.truncate(1);
        refused(label, &fixture(|_| (), &written(&logs)), message);
    }
    // Parameters of 4 bytes more need padding after the header.
    let mut padded = logs().remove(0);
    padded.parameters[14] = 4;
    padded.parameters.extend(b"hash");
    padded.frames.clear();
    padded.padding = 1;
    assert_eq!(padded.bytes().len(), 56);
    refused("padding", &fixture(|_| (), &written(&[padded])), "padding is not zero");
    for version in [0, 5, 7] {
        let mut logs = logs();
        logs[0].version = version;
        let message = format!("format version {version}; this program reads version 6");
        refused_as("version", &fixture(|_| (), &written(&logs)), &message, ErrorKind::Unsupported);
    }
    let whole = logs()[0].bytes();
    for length in 0..logs()[0].ends()[0] {
        refused(&format!("cut after {length}"), &fixture(|_| (), &[(1, whole[..length].to_vec())]), "");
    }
    for (at, message) in
        [(0, "the magic bytes are not 'fpstrwal'"), (14, "checksum is"), (30, "checksum is"), (45, "checksum is")]
    {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        refused(&format!("flip at {at}"), &fixture(|_| (), &[(1, bytes)]), message);
    }
}

/// The number of records that a repair can keep; the result is sound.
fn repaired(fixture: &Fixture, records: usize) {
    let report = fpstore::repair::repair(&fixture.path, &fixture.options).unwrap();
    assert!(!report.damages.is_empty());
    assert!(verify(&fixture.path, &fixture.options).unwrap().damages.is_empty());
    assert_eq!(<Store>::open(&fixture.path, &fixture.options).unwrap().records().count(), records);
}

/// Sequence numbers and counts beyond a store's limits would lead to invalid runs.
#[test]
fn numbers_beyond_all_stores() {
    const MOST: u64 = 1 << 63;
    const REACHED: &str = "a sequence number, or counts of records, that no store reaches";
    let parameters = &logs()[0].parameters;
    for more in [0, 1] {
        let mut log = Log::empty(parameters, 1, MOST - 1);
        (0..2 + more).for_each(|frame| log.push(frame, operations(INSERT, &[(10 + frame as u64, 10)])));
        let fixture = fixture(|manifest| manifest.flushed = MOST - 2, &written(&[log]));
        if more == 0 {
            let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
            let error = store.insert(3, 3, fpstore::Durability::SyncData).unwrap_err();
            assert_eq!(error.message(), "the store has no sequence numbers left");
            store.flush().unwrap();
            drop(store);
            assert_eq!(<Store>::open(&fixture.path, &fixture.options).unwrap().records().count(), 3);
        } else {
            refused("sequence number", &fixture, REACHED);
            repaired(&fixture, 3);
        }
    }
    let counted = Parameters::new(3).with_ids(IdKind::None);
    let record = Record { fingerprint: 1, id: fpstore::Id::Count(1) };
    let parameters = Parts::of(&counted, std::slice::from_ref(&record)).parameters;
    for (counts, refuses) in [([MOST - 2, 2], false), ([MOST - 2, 3], true), ([u64::MAX, u64::MAX], true)] {
        for kinds in [[INSERT, INSERT], [INSERT, REMOVE]] {
            let mut log = Log::empty(&parameters, 1, 2);
            for (frame, (count, kind)) in counts.into_iter().zip(kinds).enumerate() {
                log.push(frame, operations(kind, &[(5 + frame as u64, count)]));
            }
            let fixture = fixture_of(&counted, record.clone(), |_| (), &written(&[log]));
            if refuses {
                refused("counts", &fixture, REACHED);
                let kept = 1 + usize::from(counts[0] <= MOST);
                repaired(&fixture, kept);
                continue;
            }
            let store = <Store>::open(&fixture.path, &fixture.options).unwrap();
            store.flush().unwrap();
            store.compact().unwrap();
            assert!(store.verify().unwrap().damages.is_empty());
        }
    }
}

/// The logs that a reader reads, and their required numbers.
#[test]
fn sequences() {
    let bytes = |log: &Log| log.bytes();
    let both = logs();
    refused("the first one is missing", &fixture(|_| (), &[(2, bytes(&both[1]))]), "a log is missing");
    let mut third = Log::empty(&both[0].parameters, 3, 5);
    third.push(0, operations(INSERT, &[(15, 15)]));
    refused("one is missing", &fixture(|_| (), &[(1, bytes(&both[0])), (3, bytes(&third))]), "a log is missing");
    let mut logs = both.clone();
    logs[0].frames.pop();
    refused("the last frame is missing", &fixture(|_| (), &written(&logs)), MISSING);
    logs[0].frames.clear();
    refused("all frames are missing", &fixture(|_| (), &written(&logs)), MISSING);
    let mut logs = both.clone();
    (logs[1].first, logs[1].frames[0].sequence) = (4, 4);
    refused("a number twice", &fixture(|_| (), &written(&logs)), MISSING);
    // Batches that are in segments: read and skipped.
    let mut logs = both.clone();
    logs[0].first = 1;
    logs[0].frames.insert(0, Frame::new(1, 0, operations(INSERT, &[(77, 77)])));
    accepted("one batch is in segments", &fixture(|_| (), &written(&logs)), &[10, 11, 12, 13, 14], 0);
    let all = |m: &mut Manifest| m.flushed = 5;
    accepted("all batches are", &fixture(all, &written(&both)), &[1], 0);
    accepted("the first batches are", &fixture(|m| m.flushed = 3, &written(&both)), &[1, 13, 14], 0);
    // A reader ignores a log whose batches are all in segments.
    let old = |m: &mut Manifest| (m.first_log, m.flushed) = (2, 4);
    accepted("an old log", &fixture(old, &[(1, b"anything".to_vec()), (2, bytes(&both[1]))]), &[1, 14], 0);
    accepted("no old log", &fixture(old, &[(2, bytes(&both[1]))]), &[1, 14], 0);
    // A power failure cut a log short after a partial flush: the next one begins after the flushed part.
    let mut logs = both;
    let end = logs[0].ends()[0] as u64;
    logs[0].frames.iter_mut().for_each(|frame| frame.durable = end);
    logs[0].frames[1].flip = 1;
    let torn = torn(&logs[0].bytes(), logs[0].ends()[1]);
    accepted("segments have what is torn", &fixture(|m| m.flushed = 4, &written(&logs)), &[1, 14], torn);
    refused("they have not all of it", &fixture(|m| m.flushed = 3, &written(&logs)), MISSING);
}

/// The reported length of a torn tail at an offset: up to the last eight bytes that are not all zero.
fn torn(bytes: &[u8], from: usize) -> u64 {
    let units = bytes[from..].chunks(8);
    let room: usize = units.rev().take_while(|unit| unit.iter().all(|&byte| byte == 0)).map(<[u8]>::len).sum();
    (bytes.len() - from - room) as u64
}

#[test]
fn torn_tails() {
    const CASES: [Torn; 14] = [
        ("the last frame", 2, |frames| frames[2].flip = 1),
        ("the second one, of which the third one does not know", 1, |frames| frames[1].flip = 1),
        ("the first one", 0, |frames| frames[0].flip = 1),
        ("a frame did not reach the device", 1, |frames| frames[1].zeros = true),
        ("the first one did not", 0, |frames| frames[0].zeros = true),
        ("a frame without operations", 2, |frames| frames[2].operations = vec![0; 7]),
        ("padding", 2, |frames| frames[2].padding = 1),
        ("a sequence number twice", 2, |frames| frames[2].sequence = 3),
        ("a sequence number left out", 2, |frames| frames[2].sequence = 5),
        ("more durable than there is", 2, |frames| frames[2].durable = 1 << 40),
        ("its own bytes durable", 2, |frames| frames[2].durable += 1 << 8),
        // Content that no writer writes at this offset: it proves nothing about earlier frames.
        ("a later number that is too large", 0, |frames| {
            frames[0].flip = 1;
            (frames[2].sequence, frames[2].durable) = (90, 100);
        }),
        ("a later number that is too small", 0, |frames| {
            frames[0].flip = 1;
            frames[1].flip = 1;
            (frames[2].sequence, frames[2].durable) = (1, 100);
        }),
        ("a later one that does not hold either", 0, |frames| {
            frames[0].flip = 1;
            frames[1].flip = 1;
            (frames[2].flip, frames[2].durable) = (1, 100);
        }),
    ];
    let known: [&[u64]; 4] = [&[1], &[1, 10, 11], &[10, 11, 12], &[10, 11, 12, 13]];
    for (label, kept, change) in CASES {
        let mut logs = buffered();
        change(&mut logs[0].frames);
        if label == "a frame without operations" {
            // Its length says 0.
            let mut bytes = logs[0].bytes();
            let start = logs[0].ends()[2];
            bytes[start] = 0;
            let torn = 24;
            accepted(label, &fixture(|_| (), &[(1, bytes)]), known[kept], torn);
            continue;
        }
        let bytes = logs[0].bytes();
        let torn = torn(&bytes, logs[0].ends()[kept]);
        for room in [0, 8, 5] {
            let mut bytes = bytes.clone();
            bytes.resize(bytes.len() + room, 0);
            accepted(label, &fixture(|_| (), &[(1, bytes)]), known[kept], torn);
        }
    }
    // A log that ends anywhere.
    let log = buffered().remove(0);
    let (bytes, ends) = (log.bytes(), log.ends());
    for length in (ends[1]..bytes.len()).step_by(5) {
        let kept = ends.iter().rposition(|&end| end <= length).unwrap();
        let cut = bytes[..length].to_vec();
        let torn = torn(&cut, ends[kept]);
        accepted(&format!("cut after {length}"), &fixture(|_| (), &[(1, cut)]), known[kept], torn);
    }
    // After all frames, after zero space.
    let mut logs = buffered();
    logs[0].tail = vec![0; 33];
    logs[0].tail[32] = 1;
    accepted("a byte behind the room", &fixture(|_| (), &written(&logs)), known[3], 33);
    // The frame of another offset, and of another log.
    for (label, frame) in [
        ("moved", Frame::new(5, 56, operations(INSERT, &[(15, 15)])).bytes(1, 56)),
        ("of another log", Frame::new(5, 56, operations(INSERT, &[(15, 15)])).bytes(2, buffered()[0].end() as u64)),
    ] {
        let mut logs = buffered();
        logs[0].tail = frame;
        accepted(label, &fixture(|_| (), &written(&logs)), known[3], torn(&logs[0].bytes(), logs[0].end()));
    }
    // After a crash another log continues where the torn one ends.
    let mut logs = logs_after_crash();
    let torn = torn(&logs[0].bytes(), logs[0].ends()[2]);
    accepted("another log", &fixture(|_| (), &written(&logs)), &[10, 11, 12, 14], torn);
    logs[1].frames[0].zeros = true;
    accepted("another log without frames", &fixture(|_| (), &written(&logs)), &[10, 11, 12], torn);
}

/// The last frame of the first log does not hold; the second log has its number.
fn logs_after_crash() -> Vec<Log> {
    let mut logs = logs();
    logs[0].frames[2].flip = 1;
    (logs[1].first, logs[1].frames[0].sequence) = (4, 4);
    logs
}

#[test]
fn damage() {
    const CASES: [Damaged; 6] = [
        ("the first frame, which the second one knows", |frames| frames[0].flip = 1),
        ("the second one, which the third one knows", |frames| frames[1].flip = 1),
        ("zeros", |frames| frames[1].zeros = true),
        ("zeros in front of what knows more than that", |frames| frames[0].zeros = true),
        ("two of three", |frames| {
            frames[0].zeros = true;
            frames[1].flip = 4;
        }),
        ("another sequence number", |frames| frames[1].sequence = 7),
    ];
    for (label, change) in CASES {
        for lone in [false, true] {
            let mut logs = logs();
            change(&mut logs[0].frames);
            if lone {
                logs.truncate(1);
            }
            refused(label, &fixture(|_| (), &written(&logs)), LOST);
        }
    }
    // The error gives the place, and the frame that proves the loss.
    let mut logs = logs();
    logs[0].frames[0].flip = 1;
    let fixture = fixture(|_| (), &written(&logs));
    let error = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap_err();
    assert_eq!(error.offset(), Some(logs[0].ends()[0] as u64));
    assert!(error.message().contains(&format!("from byte {} on", logs[0].ends()[1])), "{error}");
}

#[test]
fn every_flip_of_a_log_is_noticed_or_torn() {
    let mut logs = logs();
    logs.truncate(1);
    let (bytes, ends) = (logs[0].bytes(), logs[0].ends());
    for at in ends[0]..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        let fixture = fixture(|_| (), &[(1, bytes)]);
        let opened = <Store>::open_read_only(&fixture.path, &fixture.options);
        // No frame records the last one as durable.
        if at < ends[2] {
            assert!(opened.unwrap_err().message().starts_with(LOST), "{at}");
        } else {
            assert_eq!(opened.unwrap().records().count(), 3, "{at}");
        }
    }
}

/// Operations of a frame that holds.
#[test]
fn operations_that_no_writer_writes() {
    let short = |kept: usize| operations(INSERT, &[(15, 15), (16, 16)])[..kept].to_vec();
    let of = |kind: u8, count: u32, rest: usize| {
        let mut out = vec![kind];
        out.extend(count.to_le_bytes());
        out.resize(out.len() + rest, 7);
        out
    };
    for (label, message, operations) in [
        ("kind 0", "unknown operation 0", of(0, 1, 16)),
        ("kind 3", "unknown operation 3", of(3, 1, 16)),
        ("no records", "0 records do not fit 16 bytes", of(INSERT, 0, 16)),
        ("too many records", "2 records do not fit 16 bytes", of(INSERT, 2, 16)),
        ("very many records", "4294967295 records do not fit 16 bytes", of(REMOVE, u32::MAX, 16)),
        ("no count", "the file ends within field 'records'", of(INSERT, 1, 0)[..3].to_vec()),
        ("half a record", "the file ends within", short(33)),
        ("one byte more", "the file ends within field 'records'", [short(37), vec![1]].concat()),
        ("a second kind that is none", "unknown operation 9", [short(37), of(9, 1, 16)].concat()),
    ] {
        let mut logs = logs();
        logs[1].frames[0].operations = operations;
        refused(label, &fixture(|_| (), &written(&logs)), message);
    }
}

/// The same of counts and of texts.
#[test]
fn ids_of_other_kinds() {
    fn check(kind: IdKind, id: &[u8]) -> Result<String, String> {
        let parameters = Parameters::new(3).with_width(256).with_ids(kind);
        let fixture = Fixture::new(MODES[0]);
        drop(Store::<U256>::create(&fixture.path, &parameters, &fixture.options).unwrap());
        let manifest = Manifest::take(&fixture.env.bytes(&fixture.path.join("MANIFEST")).unwrap());
        let mut log = Log::empty(&manifest.parameters, 1, 1);
        log.push(0, [&[INSERT, 1, 0, 0, 0], &[9; 32][..], id].concat());
        fixture.env.set_bytes(&fixture.path.join("00000001.wal"), log.bytes());
        let opened = Store::<U256>::open_read_only(&fixture.path, &fixture.options);
        let damages = verify(&fixture.path, &fixture.options).unwrap().damages;
        assert_eq!(damages.is_empty(), opened.is_ok(), "{id:?}: {damages:?}");
        if let Some(Decoded { code, records: output, messages: message }) = decoded(&fixture) {
            assert_eq!(code == 0, opened.is_ok(), "{id:?}: {message}");
            assert_eq!(output.lines().count(), usize::from(opened.is_ok()), "{id:?}");
        }
        let store = opened.map_err(|error| error.message().to_owned())?;
        Ok(store.records().next().unwrap().unwrap().id.to_string())
    }
    let text = |bytes: &[u8]| check(IdKind::Text, &[&(bytes.len() as u16).to_le_bytes(), bytes].concat());
    assert_eq!(check(IdKind::None, &3u64.to_le_bytes()), Ok("3".to_owned()));
    assert_eq!(check(IdKind::None, &[0; 8]), Err("a count of no records".to_owned()));
    assert_eq!(text("\u{fc}/1".as_bytes()), Ok("\u{fc}/1".to_owned()));
    assert_eq!(text(&[b'x'; 4096]), Ok("x".repeat(4096)));
    assert_eq!(text(b"\xff"), Err("an id that is no text".to_owned()));
    for bytes in [&b""[..], b"a\tb", b"a\n", b"\r", b"a\0", &[b'x'; 4097]] {
        assert!(text(bytes).is_err(), "{bytes:.9?}");
    }
    assert!(check(IdKind::Text, &[5, 0, b'a']).unwrap_err().starts_with("the file ends within"));
}
