//! Random changes of a segment with corrected checksums: no panics, and sound answers if verifying calls it sound.

use super::files::{Manifest, store};
use super::parts::{Parts, segment};
use crate::points::number;
use crate::support::*;
use fpstore::admin::verify;
use fpstore::{Codec, Design, Fingerprint, IdKind, Parameters, ReadMode, Record, Store, U256, inspect};
use proptest::prelude::*;
use std::sync::LazyLock;

fn records() -> Vec<Record> {
    let mut records = numbered(&uniform(90, 41));
    records.extend(numbered(&families(20, 10, 43)));
    let id = |record: &Record| record.id.number().unwrap() * 70 + 1;
    records.extend(records.clone().iter().step_by(3).map(|record| Record::new(record.fingerprint, id(record))));
    records
}

/// A segment of each codec.
static SEGMENTS: LazyLock<[Parts; 2]> = LazyLock::new(|| {
    let parameters = Parameters::new(3).with_design(Design::Tables { parts: 2 }).with_block_size(128);
    Codec::ALL.map(|codec| Parts::of(&parameters.clone().with_codec(codec), &records()))
});

/// Fingerprints of more than a page of rows, some of them near others.
fn wide_records<F: Fingerprint>() -> Vec<Record<F>> {
    let mut random = Random(44);
    let mut fingerprints = wide::<F>(150, 45);
    for i in 0..150 {
        let near = (0..i % 5).fold(fingerprints[i], |own, _| own.flipped(random.below(F::WIDTH.into()) as u32));
        fingerprints.push(near);
    }
    numbered(&fingerprints)
}

/// Segments of 128 bits with numeric ids, and of 256 bits without ids.
static WIDE: LazyLock<[Parts; 2]> = LazyLock::new(|| {
    let parameters = |width| Parameters::new(3).with_width(width).with_block_size(128);
    let third = parameters(128).with_design(Design::Tables { parts: 3 }).with_hasher(Some("xxh3"));
    [
        Parts::wide(&third, &wide_records::<u128>()),
        Parts::wide(&parameters(256).with_ids(IdKind::None), &wide_records::<U256>()),
    ]
});

/// Runs every kind of query; returns whether verifying calls the store sound.
fn ask(bytes: &[u8], mode: ReadMode) -> bool {
    ask_wide::<u64>(bytes, mode, &records(), 3)
}

/// The same with fingerprints of any width. Queries the neighbourhood of every few records.
fn ask_wide<F: Fingerprint>(bytes: &[u8], mode: ReadMode, records: &[Record<F>], every: usize) -> bool {
    let manifest = Manifest::naming(&[bytes]);
    // A segment states whether its store has an id index; this one has none.
    let lacks_index = manifest.parameters.get(9) == Some(&1);
    let fixture = store(manifest.bytes(), &[bytes], mode);
    let sound = verify(&fixture.path, &fixture.options).unwrap().damages.is_empty();
    assert_eq!(verify(segment(), &fixture.options).unwrap().damages.is_empty() && !lacks_index, sound);
    let mut explained = 0;
    let explaining = inspect::explain(segment(), &fixture.options, &mut |_, field| {
        explained += field.bytes.len();
        Ok(())
    });
    assert!(!sound || (explaining.is_ok() && explained == bytes.len()), "{explaining:?}, {explained} bytes");
    let store = match Store::<F>::open_read_only(&fixture.path, &fixture.options) {
        Ok(store) => store,
        Err(error) => {
            assert!(!sound, "{error}");
            return sound;
        }
    };
    let found: Result<Vec<Record<F>>, _> = store.records().collect();
    assert!(!sound || found.is_ok(), "{found:?}");
    let near = |record: &Record<F>| record.fingerprint.flipped(F::WIDTH - 2).flipped(F::WIDTH - 1);
    let queries = records.iter().step_by(20 * every).map(near);
    let stored = found.iter().flatten().step_by(50).map(|record| record.fingerprint);
    for query in queries.chain(stored.collect::<Vec<_>>()) {
        for k in [0, 1, 3, 6] {
            let answers = (store.query(query, k), store.searcher().scan(query, k));
            assert!(store.contains_near(query, k).is_ok() || !sound);
            if sound {
                let scanned = answers.1.unwrap();
                assert_eq!(answers.0.unwrap(), scanned, "{query:x?} within {k}");
                assert_eq!(scanned, expected(found.as_ref().unwrap(), query, k), "{query:x?} within {k}");
            }
        }
    }
    sound
}

#[test]
fn unchanged_segments_are_sound() {
    SEGMENTS.iter().for_each(|parts| assert!(ask(&parts.bytes(), ReadMode::Mmap)));
    // Tables with and without a code of flips: the section begins with its length.
    let codes = [1, 4].map(|section| SEGMENTS[1].sections[section][..2] != [0, 0]);
    assert!(codes[0], "there are no flips blocks: {codes:?}");
}

#[test]
fn unchanged_wide_segments_are_sound() {
    WIDE.iter().zip([false, true]).for_each(|(parts, widest)| assert!(ask_any(widest, &parts.bytes(), ReadMode::Mmap)));
}

/// Queries one of [`WIDE`].
fn ask_any(widest: bool, bytes: &[u8], mode: ReadMode) -> bool {
    match widest {
        true => ask_wide::<U256>(bytes, mode, &wide_records(), 4),
        false => ask_wide::<u128>(bytes, mode, &wide_records(), 4),
    }
}

#[derive(Clone, Debug)]
struct Change {
    section: prop::sample::Index,
    /// Near the front, at the headers, or anywhere.
    front: bool,
    at: prop::sample::Index,
    flip: u8,
}

fn change() -> impl Strategy<Value = Change> {
    let flip = prop_oneof![(0..8u32).prop_map(|bit| 1 << bit), any::<u8>()];
    (any::<prop::sample::Index>(), any::<bool>(), any::<prop::sample::Index>(), flip)
        .prop_map(|(section, front, at, flip)| Change { section, front, at, flip })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: number(2500) as u32,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn changed_sections_under_checksums_that_hold(
        xor: bool, changes in prop::collection::vec(change(), 1..5), mode in 0..2usize,
    ) {
        let mut parts = SEGMENTS[usize::from(!xor)].clone();
        for change in changes {
            let count = parts.sections.len();
            // All except the dictionary of ids, which has no bytes.
            let section = &mut parts.sections[change.section.index(count - 1)];
            let reach = if change.front { 24.min(section.len()) } else { section.len() };
            section[change.at.index(reach)] ^= change.flip;
        }
        ask(&parts.bytes(), MODES[mode]);
    }

    #[test]
    fn changed_wide_sections_under_checksums_that_hold(
        widest: bool, changes in prop::collection::vec(change(), 1..5), mode in 0..2usize,
    ) {
        let mut parts = WIDE[usize::from(widest)].clone();
        for change in changes {
            let count = parts.sections.len();
            let section = &mut parts.sections[change.section.index(count - 1)];
            let reach = if change.front { 24.min(section.len()) } else { section.len() };
            section[change.at.index(reach)] ^= change.flip;
        }
        ask_any(widest, &parts.bytes(), MODES[mode]);
    }

    #[test]
    fn changed_wide_footers_under_checksums_that_hold(
        widest: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..3),
        mode in 0..2usize,
    ) {
        let bytes = WIDE[usize::from(widest)].bytes_with(|_| {}, |footer| {
            for (at, change) in changes {
                let at = at.index(footer.len());
                footer[if change.front { at % 24 } else { at }] ^= change.flip;
            }
        });
        ask_any(widest, &bytes, MODES[mode]);
    }

    #[test]
    fn changed_footers_under_checksums_that_hold(
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..3), mode in 0..2usize,
    ) {
        let bytes = SEGMENTS[1].bytes_with(|_| {}, |footer| {
            for (at, change) in changes {
                // The lowest byte of a field, or any byte.
                let at = at.index(footer.len());
                let at = if change.front && at >= 16 { at / 8 * 8 } else { at };
                footer[at] ^= change.flip;
            }
        });
        ask(&bytes, MODES[mode]);
    }
}
