//! One case for each rule of the specification's tables of invalid input, with all checksums correct: the rule itself
//! must detect it, at the time in the table, and name it.

mod blocks;
mod directories;
mod files;
mod flips;
mod footers;
mod id_indexes;
mod ids;
mod logs;
mod manifests;
mod mutated;
mod parameters;
mod parts;
mod runs;
mod sections;
mod wide;

use crate::support::*;
pub(crate) use directories::index_chunk;
pub(crate) use files::{ID_INDEX, Log, Manifest, RECORDS, store};
use fpstore::admin::verify;
use fpstore::{ErrorKind, Fingerprint, Options, Parameters, ReadMode, Record, U256, inspect};
use parts::segment;
pub(crate) use parts::{Parts, index};

/// The latest moment at which a reader notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Open,
    /// At opening, reported as unsupported instead of damaged.
    Unsupported,
    /// When a reader reads records.
    Read,
    Verify,
}

/// The broken rule, the time of its detection, the beginning of the message, and the change that breaks it.
type Case = (&'static str, When, &'static str, fn(&mut Parts));

/// Breaks `base` in each way.
fn each(base: &Parts, cases: &[Case]) {
    for (label, when, message, change) in cases {
        let mut parts = base.clone();
        change(&mut parts);
        refused(label, &parts.bytes(), *when, message);
    }
}

fn fixture(bytes: &[u8], mode: ReadMode) -> Fixture {
    store(Manifest::naming(&[]).bytes(), &[bytes], mode)
}

/// Verifying a segment reports it with this message; opening or reading does too if required.
fn refused(label: &str, bytes: &[u8], when: When, message: &str) {
    let fixture = fixture(bytes, MODES[label.len() % 2]);
    let damages = verify(segment(), &fixture.options).unwrap().damages;
    assert!(damages.iter().any(|damage| damage.message.starts_with(message)), "{label}: verify says {damages:?}");
    let read = first_error(&fixture.options);
    match when {
        When::Open | When::Unsupported => {
            let error = inspect::open(segment(), &fixture.options).expect_err(label);
            assert!(error.message().starts_with(message), "{label}: {error}");
            let kind = if when == When::Open { ErrorKind::Damaged } else { ErrorKind::Unsupported };
            assert_eq!(error.kind(), kind, "{label}: {error}");
        }
        When::Read => {
            let error = read.expect(label);
            assert!(error.message().starts_with(message), "{label}: {error}");
            assert_eq!(error.kind(), ErrorKind::Damaged, "{label}");
        }
        When::Verify => {
            assert!(damages.iter().all(|damage| damage.message.starts_with(message)), "{label}: {damages:?}")
        }
    }
}

/// Opens the segment and reads all records.
fn first_error(options: &Options) -> Option<fpstore::Error> {
    let view = match inspect::open(segment(), options) {
        Ok(mut views) => views.remove(0),
        Err(error) => return Some(error),
    };
    match view.parameters().width() {
        256 => view.records::<U256>().unwrap().find_map(Result::err),
        128 => view.records::<u128>().unwrap().find_map(Result::err),
        _ => view.records::<u64>().unwrap().find_map(Result::err),
    }
}

/// The segment is sound and holds these records.
fn accepted(label: &str, bytes: &[u8], records: &[Record]) {
    accepted_wide(label, bytes, records);
}

/// The same with fingerprints of any width.
fn accepted_wide<F: Fingerprint>(label: &str, bytes: &[u8], records: &[Record<F>]) {
    for mode in MODES {
        let fixture = fixture(bytes, mode);
        let damages = verify(segment(), &fixture.options).unwrap().damages;
        assert!(damages.is_empty(), "{label}: {damages:?}");
        let view = inspect::open(segment(), &fixture.options).unwrap().remove(0);
        assert!(view.records().unwrap().map(Result::unwrap).eq(records.iter().cloned()), "{label}");
    }
}

/// Sorted records of about 1,000 fingerprints, some with several wide ids.
fn sample() -> Vec<Record> {
    let mut random = Random(31);
    let mut records: Vec<Record> = uniform(1000, 30)
        .into_iter()
        .enumerate()
        .flat_map(|(i, fingerprint)| {
            let ids: Vec<u64> = (0..1 + i % 3).map(|_| random.next()).collect();
            ids.into_iter().map(move |id| Record::new(fingerprint, id))
        })
        .collect();
    records.sort_unstable();
    records
}

/// A segment with several pages in every section.
fn base() -> Parts {
    let parts = Parts::of(&Parameters::new(3).with_block_size(128), &sample());
    assert!(parts.sections[0].len() > 4096 && parts.sections[6].len() > 8192 && parts.blocks[0] > 40);
    parts
}

#[test]
fn what_is_put_together_unchanged_is_sound() {
    accepted("unchanged", &base().bytes(), &sample());
    let fixture = Fixture::new(ReadMode::Mmap);
    drop(fixture.load(&Parameters::new(3).with_block_size(128), &sample(), 1));
    assert!(fixture.env.bytes(&segment()).unwrap() == base().bytes());
}
