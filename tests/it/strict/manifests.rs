//! The manifest, and segments other than those it names.

use super::When;
use super::files::{ID_INDEX, KEYS, Manifest, NET, RECORDS, REMOVALS, Run, decoded, store};
use super::parameters::{hashers, parameters};
use super::parts::Parts;
use crate::decoder::Decoded;
use fpstore::admin::verify;
use fpstore::{Error, ErrorKind, Parameters, ReadMode, Record, Store};

/// The name of a change, the beginning of the message, and the change.
type Case = (&'static str, &'static str, fn(&mut Manifest));

/// The name of a change, and the change.
type Accepted = (&'static str, fn(&mut Manifest));

fn segments() -> [Vec<u8>; 2] {
    [1, 2].map(|i| Parts::of(&Parameters::new(3), &[Record::new(i, i)]).bytes())
}

/// The error of opening two segments under this manifest; verifying gives the same.
fn refusal(label: &str, manifest: Vec<u8>) -> Error {
    let [first, second] = segments();
    let fixture = store(manifest, &[&first, &second], ReadMode::Mmap);
    let error = <Store>::open_read_only(&fixture.path, &fixture.options).expect_err(label);
    let damages = verify(&fixture.path, &fixture.options).unwrap().damages;
    assert!(damages.iter().any(|damage| damage.message == error.message()), "{label}: {damages:?}");
    error
}

/// The specification's decoder refuses it too.
fn refused_by_both(label: &str, manifest: Vec<u8>) -> Error {
    let [first, second] = segments();
    let fixture = store(manifest.clone(), &[&first, &second], ReadMode::Mmap);
    let error = refusal(label, manifest);
    if let Some(Decoded { code, messages: message, .. }) = decoded(&fixture) {
        assert!(code == 1 && message.lines().count() == 1, "{label}: {message}");
        assert_eq!(message.contains("unsupported"), error.kind() == ErrorKind::Unsupported, "{label}: {message}");
    }
    error
}

/// Sets the net records of a run.
fn says(run: &mut Run, net: i64) {
    (run.has, run.net) = (run.has | NET, Some(net));
}

fn sound() -> Manifest {
    let [first, second] = segments();
    Manifest::naming(&[&first, &second])
}

/// The manifest and the files that it names are sound.
fn accepted(label: &str, manifest: &Manifest) {
    let [first, second] = segments();
    let fixture = store(manifest.bytes(), &[&first, &second], ReadMode::Mmap);
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).expect(label);
    assert_eq!(store.records().count(), 2, "{label}");
    assert!(store.verify().unwrap().damages.is_empty(), "{label}");
    if let Some(Decoded { code, records, messages: message }) = decoded(&fixture) {
        assert_eq!((code, records.lines().count()), (0, 2), "{label}: {message}");
    }
}

#[test]
fn fields() {
    const OTHER: &str = "the segment is not the one that the manifest names";
    const NUMBERS: &str = "segment numbers that are not possible";
    const ORDER: &str = "sequence numbers of runs do not ascend";
    const INDEX: &str = "an id index is missing, or too many";
    const REACHED: &str = "a number that no store reaches";
    const ADDS: &str = "a run that adds more records than it has, or removes more";
    const CASES: [Case; 46] = [
        ("numbering", "unknown numbering 3", |m| m.numbering = 3),
        ("one run too many", "3 runs do not fit 110 bytes", |m| m.count = Some(3)),
        ("one too few", "checksum is", |m| m.count = Some(1)),
        ("very many", "4294967295 runs do not fit 110 bytes", |m| m.count = Some(u32::MAX)),
        ("bytes behind the runs", "checksum is", |m| m.tail = vec![0]),
        ("number 0", NUMBERS, |m| m.runs[0].segments[0].0[0] = 0),
        ("the same number twice", NUMBERS, |m| m.runs[1].segments[0].0[0] = 1),
        ("the next one is there", NUMBERS, |m| m.next_segment = 2),
        ("next is 0", NUMBERS, |m| m.next_segment = 0),
        ("next is too large", REACHED, |m| m.next_segment = (1 << 63) + 1),
        ("log 0", "numbers of logs begin at 1", |m| m.first_log = 0),
        ("log that is too large", REACHED, |m| m.first_log = u64::MAX),
        ("flushed that is too large", REACHED, |m| m.flushed = (1 << 63) + 1),
        ("flushed before the last run", "a run of sequence numbers that were not flushed", |m| m.flushed = 1),
        ("nothing flushed", "a run of sequence numbers that were not flushed", |m| m.flushed = 0),
        ("a run from 0 on", ORDER, |m| m.runs[0].first = 0),
        ("a run that ends before it begins", ORDER, |m| (m.runs[1].first, m.flushed) = (3, 3)),
        ("runs that meet", ORDER, |m| m.runs[1].first = 1),
        ("runs in another order", ORDER, |m| m.runs.swap(0, 1)),
        ("no segments", "a run cannot have segments 0", |m| {
            m.runs[0].has = 0;
            m.tail = vec![0; 36];
        }),
        ("an id index alone", "a run cannot have segments 4", |m| m.runs[1].has = ID_INDEX),
        ("an unknown segment", "a run cannot have segments 34", |m| m.runs[0].has = RECORDS | 32),
        ("keys of a store of fingerprints", "keys of no records", |m| {
            m.runs[0].has |= KEYS;
            let mut entry = m.runs[0].segments[0];
            (entry.0[0], m.next_segment) = (3, 4);
            m.runs[0].segments.push(entry);
        }),
        ("net records alone", "a run cannot have segments 8", |m| m.runs[1].has = NET),
        ("more net records than records", ADDS, |m| says(&mut m.runs[0], 2)),
        ("less net records than removals", ADDS, |m| says(&mut m.runs[1], -1)),
        ("the least net records", ADDS, |m| says(&mut m.runs[1], i64::MIN)),
        ("net records that are not announced", "checksum is", |m| m.runs[1].net = Some(1)),
        ("net records that are missing", "the file ends within field 'footer checksum'", |m| m.runs[1].has |= NET),
        ("many unknown ones", "a run cannot have segments 255", |m| m.runs[0].has = 255),
        ("an id index in a store without", INDEX, |m| {
            let other = m.runs.pop().unwrap().segments;
            m.runs[0].segments.extend(other);
            m.runs[0].has = RECORDS | ID_INDEX;
        }),
        ("an id index of removals", INDEX, |m| {
            let other = m.runs.pop().unwrap().segments;
            m.runs[0].segments.extend(other);
            m.runs[0].has = REMOVALS | ID_INDEX;
        }),
        ("no id index in a store with", INDEX, |m| m.parameters[9] = 1),
        ("records that are removals", OTHER, |m| m.runs[1].has = REMOVALS),
        ("file length", OTHER, |m| m.runs[0].segments[0].0[1] += 1),
        ("file length of the last", OTHER, |m| m.runs[1].segments[0].0[1] -= 1),
        ("records", OTHER, |m| m.runs[0].segments[0].0[2] += 1),
        ("fingerprints", OTHER, |m| m.runs[1].segments[0].0[3] = 0),
        ("footer checksum", OTHER, |m| m.runs[0].segments[0].1 ^= 1),
        ("the other one's entry", OTHER, |m| {
            m.runs[0].segments[0].0[0] = 2;
            m.runs[1].segments[0].0[0] = 1;
        }),
        ("distance", OTHER, |m| m.parameters[2] = 4),
        ("design", OTHER, |m| m.parameters[5] = 3),
        ("codec", OTHER, |m| m.parameters[7] = 0),
        ("block size", OTHER, |m| m.parameters[11] = 4),
        ("id kind", OTHER, |m| m.parameters[8] = 3),
        ("hasher", OTHER, |m| {
            m.parameters[14] = 1;
            m.parameters.push(b'x');
        }),
    ];
    for (label, message, change) in CASES {
        let mut manifest = sound();
        change(&mut manifest);
        let error = refused_by_both(label, manifest.bytes());
        assert!(error.message().starts_with(message), "{label}: {error}");
        assert_eq!(error.kind(), ErrorKind::Damaged, "{label}: {error}");
    }
    let mut manifest = sound();
    manifest.parameters[0] = 128;
    let [first, second] = segments();
    let fixture = store(manifest.bytes(), &[&first, &second], ReadMode::Mmap);
    let error = Store::<u128>::open_read_only(&fixture.path, &fixture.options).unwrap_err();
    assert_eq!(error.message(), OTHER);
    assert!(verify(&fixture.path, &fixture.options).unwrap().damages.iter().any(|damage| damage.message == OTHER));
}

#[test]
fn what_a_writer_may_write() {
    const CASES: [Accepted; 9] = [
        ("unchanged", |_| ()),
        ("net records", |m| m.runs.iter_mut().for_each(|run| says(run, 1))),
        ("net records of the last run", |m| says(&mut m.runs[1], 1)),
        ("undecided", |m| m.numbering = 0),
        ("numbered by the store", |m| (m.numbering, m.next_id) = (1, u64::MAX)),
        ("numbers that are left out", |m| {
            m.runs[0].last = 7;
            (m.runs[1].first, m.runs[1].last, m.flushed) = (100, 1000, 2000);
        }),
        ("segments in another order", |m| {
            m.runs.swap(0, 1);
            m.runs[0].first = 1;
            (m.runs[0].last, m.runs[1].first, m.runs[1].last) = (1, 2, 2);
        }),
        ("the largest numbers", |m| (m.next_segment, m.first_log, m.flushed) = (1 << 63, 1 << 63, 1 << 63)),
        ("anything written", |m| m.written = [u64::MAX; 3]),
    ];
    for (label, change) in CASES {
        let mut manifest = sound();
        change(&mut manifest);
        accepted(label, &manifest);
    }
}

#[test]
fn version_parameters_and_frame() {
    for version in [0, 1, 2, 3, 4, 5, 7] {
        let error = refused_by_both("version", Manifest { version, ..sound() }.bytes());
        assert_eq!(error.message(), format!("format version {version}; this program reads version 6"));
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
    for (label, parameters, when, message) in parameters(&sound().parameters).into_iter().chain(hashers()) {
        let error = refused_by_both(&label, Manifest { parameters, ..sound() }.bytes());
        assert!(error.message().starts_with(message), "{label}: {error}");
        let kind = if when == When::Unsupported { ErrorKind::Unsupported } else { ErrorKind::Damaged };
        assert_eq!(error.kind(), kind, "{label}: {error}");
    }
    for (at, message) in [(0, "the magic bytes are not 'fpstore\\x00'"), (30, "checksum is"), (120, "checksum is")] {
        let mut bytes = sound().bytes();
        bytes[at] ^= 1;
        assert!(refusal("flip", bytes).message().starts_with(message), "{at}");
    }
    let whole = sound().bytes();
    for length in 0..whole.len() {
        refusal(&format!("cut after {length}"), whole[..length].to_vec());
    }
    let mut bytes = sound().bytes();
    bytes.resize((64 << 20) + 1, 0);
    let [first, second] = segments();
    let fixture = store(bytes, &[&first, &second], ReadMode::Mmap);
    let error = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap_err();
    assert_eq!(error.message(), "the manifest is longer than any can be");
}
