//! Runs: the effect of their segments, and segments that do not fit their role.

use super::files::{Manifest, RECORDS, REMOVALS, Run, decoded, entry, store};
use super::parts::Parts;
use crate::decoder::Decoded;
use crate::support::*;
use fpstore::admin::verify;
use fpstore::{AnyFingerprint, Design, Fingerprint, Id, IdKind, Parameters, Record, Store};

/// A run: its tombstones, and its records.
type Parted<'a, F> = (&'a [Record<F>], &'a [Record<F>]);

fn removing(parameters: &Parameters) -> Parameters {
    let design = Design::Tables { parts: 1 };
    // A user cannot set a maximum distance of 0; it is in the third byte.
    parameters.clone().with_design(design).with_id_index(false)
}

/// The bytes of a segment of tombstones.
fn removals<F: Fingerprint>(parameters: &Parameters, records: &[Record<F>]) -> Vec<u8> {
    let mut parts = Parts::wide(&removing(parameters), records);
    parts.parameters[2..4].fill(0);
    parts.bytes()
}

/// A store of runs, oldest first.
fn runs_of<F: Fingerprint>(parameters: &Parameters, runs: &[Parted<'_, F>]) -> Fixture {
    let mut segments: Vec<Vec<u8>> = Vec::new();
    let mut manifest = Manifest::naming(&[&Parts::wide(parameters, runs[0].1).bytes()]);
    manifest.runs.clear();
    for ((removed, records), number) in runs.iter().zip(1..) {
        let mut run = Run { first: number, last: number, has: 0, net: None, segments: Vec::new() };
        for (bit, bytes) in [
            (REMOVALS, Some(removed).filter(|r| !r.is_empty()).map(|removed| removals(parameters, removed))),
            (RECORDS, Some(records).filter(|r| !r.is_empty()).map(|records| Parts::wide(parameters, records).bytes())),
        ] {
            let Some(bytes) = bytes else { continue };
            run.has |= bit;
            segments.push(bytes);
            run.segments.push(entry(segments.len() as u64, segments.last().unwrap()).0);
        }
        (manifest.flushed, manifest.next_segment) = (number, segments.len() as u64 + 1);
        manifest.runs.push(run);
    }
    let segments: Vec<&[u8]> = segments.iter().map(Vec::as_slice).collect();
    store(manifest.bytes(), &segments, MODES[runs.len() % 2])
}

/// The store is sound and holds these records, also after merging its runs.
fn holds<F: Fingerprint>(label: &str, fixture: &Fixture, records: &[Record<F>]) {
    assert!(verify(&fixture.path, &fixture.options).unwrap().damages.is_empty(), "{label}");
    if let Some(Decoded { code, records: output, messages: message }) = decoded(fixture) {
        assert_eq!(code, 0, "{label}: {message}");
        let line = |r: &Record<F>| format!("{}\t{}\n", AnyFingerprint::from(r.fingerprint), r.id);
        let listed: String = records.iter().map(line).collect();
        assert_eq!(output, listed, "{label}");
    }
    let check = |store: &Store<F>, label: &str| {
        assert!(store.records().map(Result::unwrap).eq(records.iter().cloned()), "{label}");
        for record in records {
            let found = store.query(record.fingerprint, 3).unwrap();
            assert_eq!(found, expected(records, record.fingerprint, 3), "{label}");
        }
    };
    check(&Store::<F>::open_read_only(&fixture.path, &fixture.options).unwrap(), label);
    let store = Store::<F>::open(&fixture.path, &fixture.options).unwrap();
    store.compact().unwrap();
    check(&store, &format!("{label}, merged"));
}

#[test]
fn the_newest_run_that_mentions_a_record_is_believed() {
    let record = |i: u64| Record::new(i << 40, i);
    let all: Vec<Record> = (0..9).map(record).collect();
    let some = |numbers: &[u64]| numbers.iter().map(|&i| record(i)).collect::<Vec<Record>>();
    let parameters = Parameters::new(3);
    let (none, left) = (Vec::new(), |gone: &[u64]| some(&(0..9).filter(|i| !gone.contains(i)).collect::<Vec<_>>()));
    holds("removed", &runs_of(&parameters, &[(&none, &all), (&some(&[1, 8]), &none)]), &left(&[1, 8]));
    let back = [(&none[..], &all[..]), (&some(&[1, 8]), &none), (&none, &some(&[8]))];
    holds("removed and there again", &runs_of(&parameters, &back), &left(&[1]));
    let other = [(&none[..], &all[..]), (&some(&[2, 3]), &some(&[9, 10]))];
    let mut expected = left(&[2, 3]);
    expected.extend(some(&[9, 10]));
    holds("removals and records", &runs_of(&parameters, &other), &expected);
    // Runs that no writer writes, but that readers accept.
    holds("both in a run", &runs_of(&parameters, &[(&none, &all), (&some(&[2]), &some(&[2]))]), &all);
    holds("what is not there", &runs_of(&parameters, &[(&none, &all), (&some(&[77]), &none)]), &all);
    holds("from nothing", &runs_of(&parameters, &[(&some(&[2]), &all)]), &all);
    holds("everything", &runs_of(&parameters, &[(&none, &all), (&all, &none)]), &none);
}

#[test]
fn wide_fingerprints_and_texts() {
    let fingerprints = wide::<u128>(8, 61);
    let all: Vec<Record<u128>> = {
        let mut all: Vec<_> =
            fingerprints.iter().zip('a'..).map(|(&f, id)| Record::new(f, id.to_string().as_str())).collect();
        all.sort_unstable();
        all
    };
    let parameters = Parameters::new(3).with_width(128).with_ids(IdKind::Text).with_hasher(Some("h"));
    holds("texts", &runs_of(&parameters, &[(&[], &all), (&all[2..4], &[])]), &[&all[..2], &all[4..]].concat());
}

#[test]
fn counts_are_subtracted() {
    let counted = |counts: &[(u64, u64)]| -> Vec<Record> {
        counts.iter().flat_map(|&(f, n)| vec![Record { fingerprint: f, id: Id::Count(1) }; n as usize]).collect()
    };
    let summed = |counts: &[(u64, u64)]| -> Vec<Record> {
        counts.iter().map(|&(f, n)| Record { fingerprint: f, id: Id::Count(n) }).collect()
    };
    let parameters = Parameters::new(3).with_ids(IdKind::None);
    let first = counted(&[(1, 3), (2, 2), (3, 1)]);
    let less = counted(&[(1, 1), (2, 2)]);
    let fixture = runs_of(&parameters, &[(&[], &first), (&less, &counted(&[(4, 2)])), (&[], &counted(&[(2, 5)]))]);
    holds("less", &fixture, &summed(&[(1, 2), (2, 5), (3, 1), (4, 2)]));
    // More removals than records: none are left.
    let fixture = runs_of(&parameters, &[(&[], &first), (&counted(&[(1, 9)]), &[])]);
    holds("more than there are", &fixture, &summed(&[(2, 2), (3, 1)]));
}

#[test]
fn segments_in_the_place_of_removals() {
    let records: Vec<Record> = numbered(&uniform(5, 62));
    let parameters = Parameters::new(3);
    let own = Parts::of(&parameters, &records).bytes();
    let broken: [(&str, Vec<u8>); 5] = [
        ("the store's own design and distance", own.clone()),
        ("the store's own distance", Parts::of(&removing(&parameters), &records).bytes()),
        ("another block size", removals(&parameters.clone().with_block_size(128), &records)),
        ("another hasher", removals(&parameters.clone().with_hasher(Some("x")), &records)),
        ("an id index", {
            let mut parts = Parts::take(&removals(&parameters, &records));
            parts.parameters[9] = 1;
            parts.bytes()
        }),
    ];
    for (label, bytes) in broken {
        let mut manifest = Manifest::naming(&[&own, &bytes]);
        manifest.parameters = entry(1, &own).1;
        manifest.runs[1].has = REMOVALS;
        let fixture = store(manifest.bytes(), &[&own, &bytes], MODES[0]);
        let error = <Store>::open_read_only(&fixture.path, &fixture.options).expect_err(label);
        assert_eq!(error.message(), "the segment is not the one that the manifest names", "{label}");
        let damages = verify(&fixture.path, &fixture.options).unwrap().damages;
        assert!(damages.iter().any(|damage| damage.message == error.message()), "{label}: {damages:?}");
        if let Some(Decoded { code, messages: message, .. }) = decoded(&fixture) {
            assert_eq!(code, 1, "{label}: {message}");
        }
    }
}
