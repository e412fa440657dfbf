//! The manifest, and segments that are not the ones it names.

use super::When;
use super::parameters::{hashers, parameters};
use super::parts::{Manifest, Parts, store};
use fpstore::{Error, ErrorKind, Parameters, ReadMode, Record, Store, verify};

/// What is changed, what the message begins with, and the change.
type Case = (&'static str, &'static str, fn(&mut Manifest));

fn segments() -> [Vec<u8>; 2] {
    [1, 2].map(|i| Parts::of(&Parameters::new(3), &[Record::new(i, i)]).bytes())
}

/// What opening says of two segments under this manifest; verifying says the same.
fn refusal(label: &str, manifest: Vec<u8>) -> Error {
    let [first, second] = segments();
    let fixture = store(manifest, &[&first, &second], ReadMode::Mmap);
    let error = <Store>::open_read_only(&fixture.path, &fixture.options).expect_err(label);
    let damages = verify(&fixture.path, &fixture.options).unwrap().damages;
    assert!(damages.iter().any(|damage| damage.message == error.message()), "{label}: {damages:?}");
    error
}

fn sound() -> Manifest {
    let [first, second] = segments();
    Manifest::naming(&[&first, &second])
}

#[test]
fn fields() {
    let [first, second] = segments();
    let fixture = store(sound().bytes(), &[&first, &second], ReadMode::Mmap);
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.records().count(), 2);
    assert!(store.verify().unwrap().damages.is_empty());
    const OTHER: &str = "the segment is not the one that the manifest names";
    const ORDER: &str = "segment numbers do not ascend";
    const CASES: [Case; 21] = [
        ("numbering", "unknown numbering 3", |m| m.numbering = 3),
        ("one segment too many", "3 segments do not take 76 bytes", |m| m.count = 3),
        ("one too few", "1 segments do not take 76 bytes", |m| m.count = 1),
        ("very many", "4294967295 segments do not take 76 bytes", |m| m.count = u32::MAX),
        ("bytes behind the entries", "2 segments do not take 77 bytes", |m| m.tail = vec![0]),
        ("number 0", "segment numbers begin at 1", |m| m.entries[0].0[0] = 0),
        ("the same number twice", ORDER, |m| m.entries[1].0[0] = 1),
        ("descending", ORDER, |m| m.entries[0].0[0] = 3),
        ("the next one is there", ORDER, |m| m.next_segment = 2),
        ("next is 0", "segment numbers begin at 1", |m| m.next_segment = 0),
        ("file length", OTHER, |m| m.entries[0].0[1] += 1),
        ("file length of the last", OTHER, |m| m.entries[1].0[1] -= 1),
        ("records", OTHER, |m| m.entries[0].0[2] += 1),
        ("fingerprints", OTHER, |m| m.entries[1].0[3] = 0),
        ("footer checksum", OTHER, |m| m.entries[0].1 ^= 1),
        ("distance", OTHER, |m| m.parameters[2] = 4),
        ("codec", OTHER, |m| m.parameters[7] = 0),
        ("block size", OTHER, |m| m.parameters[11] = 4),
        ("width", OTHER, |m| m.parameters[0] = 128),
        ("id kind", OTHER, |m| m.parameters[8] = 3),
        ("hasher", OTHER, |m| {
            m.parameters[14] = 1;
            m.parameters.push(b'x');
        }),
    ];
    for (label, message, change) in CASES {
        let mut manifest = sound();
        change(&mut manifest);
        let error = refusal(label, manifest.bytes());
        assert!(error.message().starts_with(message), "{label}: {error}");
        assert_eq!(error.kind(), ErrorKind::Damaged, "{label}: {error}");
    }
}

#[test]
fn version_parameters_and_frame() {
    for version in [0, 1, 2, 4] {
        let error = refusal("version", Manifest { version, ..sound() }.bytes());
        assert_eq!(error.message(), format!("format version {version}; this program reads version 3"));
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
    for (label, parameters, when, message) in parameters(&sound().parameters).into_iter().chain(hashers()) {
        let error = refusal(&label, Manifest { parameters, ..sound() }.bytes());
        assert!(error.message().starts_with(message), "{label}: {error}");
        let kind = if when == When::Unsupported { ErrorKind::Unsupported } else { ErrorKind::Damaged };
        assert_eq!(error.kind(), kind, "{label}: {error}");
    }
    for (at, message) in [(0, "the magic bytes are not 'fpstore\\x00'"), (30, "checksum is"), (120, "checksum is")] {
        let mut bytes = sound().bytes();
        bytes[at] ^= 1;
        assert!(refusal("flip", bytes).message().starts_with(message), "{at}");
    }
    let mut bytes = sound().bytes();
    bytes.resize((64 << 20) + 1, 0);
    let [first, second] = segments();
    let fixture = store(bytes, &[&first, &second], ReadMode::Mmap);
    let error = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap_err();
    assert_eq!(error.message(), "the manifest is longer than any can be");
}
