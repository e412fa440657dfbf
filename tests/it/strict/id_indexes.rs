//! Id indexes: wrong segments in their place, and the result of the specification's decoder on an index with other
//! pairs.

use super::files::{Manifest, decoded};
use super::parts::Parts;
use crate::decoder::Decoded;
use crate::support::*;
use fpstore::admin::verify;
use fpstore::{Design, IdKind, Parameters, Record, Store};
use std::path::PathBuf;

/// The name of a change, and the change.
type Case = (&'static str, fn(&mut Vec<Record>));

fn parameters() -> Parameters {
    Parameters::new(3).with_id_index(true)
}

/// Records of some fingerprints with several ids.
fn records() -> Vec<Record> {
    let mut records: Vec<Record> = uniform(40, 63)
        .iter()
        .zip(0..)
        .flat_map(|(&f, i)| (0..=i % 3).map(move |n| Record::new(f, 9 * i + n)))
        .collect();
    records.sort_unstable();
    records
}

fn index() -> PathBuf {
    PathBuf::from("store/00000002.segment")
}

/// The pairs in the index of some records: hashes and ranks.
fn pairs(records: &[Record]) -> Vec<Record> {
    let bits = u64::BITS - (records.len() as u64 - 1).leading_zeros() + 8;
    let hash =
        |record: &Record| xxhash_rust::xxh64::xxh64(&record.id.number().unwrap().to_le_bytes(), 0) >> (64 - bits);
    let ranks = records.chunk_by(|a, b| a.fingerprint == b.fingerprint).zip(0..);
    let mut pairs: Vec<Record> =
        ranks.flat_map(|(same, rank)| same.iter().map(move |record| Record::new(hash(record), rank))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The bytes of a segment of such pairs, with the parameters of an id index.
fn index_of(pairs: &[Record]) -> Vec<u8> {
    let mut parts = Parts::of(&Parameters::new(3).with_design(Design::Tables { parts: 1 }), pairs);
    parts.parameters[2..4].fill(0);
    parts.bytes()
}

/// The store of the records with another id index.
fn with_index(bytes: Vec<u8>) -> Fixture {
    let fixture = Fixture::new(MODES[0]);
    drop(fixture.load(&parameters(), &records(), 1));
    let manifest = fixture.path.join("MANIFEST");
    let mut changed = Manifest::take(&fixture.env.bytes(&manifest).unwrap());
    changed.runs[0].segments[1] = super::files::entry(2, &bytes).0;
    fixture.env.set_bytes(&manifest, changed.bytes());
    fixture.env.set_bytes(&index(), bytes);
    fixture
}

#[test]
fn the_index_of_records() {
    let fixture = Fixture::new(MODES[0]);
    drop(fixture.load(&parameters(), &records(), 1));
    assert!(fixture.env.bytes(&index()).unwrap() == index_of(&pairs(&records())));
    let fixture = with_index(index_of(&pairs(&records())));
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    for record in records() {
        let id = record.id.number().unwrap();
        assert_eq!(store.get_id(id).unwrap(), [record.fingerprint]);
    }
    if let Some(Decoded { code, messages: message, .. }) = decoded(&fixture) {
        assert_eq!(code, 0, "{message}");
    }
}

/// Each segment of the store is sound in itself.
#[test]
fn other_pairs() {
    let pairs = pairs(&records());
    let changes: [Case; 5] = [
        ("one is missing", |pairs| _ = pairs.remove(7)),
        ("one more", |pairs| pairs.push(Record::new(1, 1))),
        ("another rank", |pairs| pairs[3].id = fpstore::Id::Number(pairs[3].id.number().unwrap() ^ 1)),
        ("a rank that is not there", |pairs| pairs[3].id = fpstore::Id::Number(40)),
        ("another hash", |pairs| pairs[3].fingerprint += 1),
    ];
    for (label, change) in changes {
        let mut pairs = pairs.clone();
        change(&mut pairs);
        pairs.sort_unstable();
        if let Some(Decoded { code, messages: message, .. }) = decoded(&with_index(index_of(&pairs))) {
            assert!(code == 1 && message.contains("an id index that is not that of the records"), "{label}: {message}");
        }
    }
}

#[test]
fn segments_in_the_place_of_an_index() {
    let pairs = pairs(&records());
    let one = || Parameters::new(3).with_design(Design::Tables { parts: 1 });
    let broken = |parameters: &Parameters, change: fn(&mut Parts)| {
        let mut parts = Parts::of(parameters, &pairs);
        parts.parameters[2..4].fill(0);
        change(&mut parts);
        parts.bytes()
    };
    for (label, bytes) in [
        ("a distance", broken(&one(), |parts| parts.parameters[2] = 3)),
        ("a design", broken(&Parameters::new(3), |_| ())),
        ("an index of its own", broken(&one(), |parts| parts.parameters[9] = 1)),
        ("a hasher", broken(&one().with_hasher(Some("x")), |_| ())),
        ("counts", broken(&one().with_ids(IdKind::None), |_| ())),
        ("another block size", broken(&one().with_block_size(512), |_| ())),
    ] {
        let fixture = with_index(bytes);
        let error = <Store>::open_read_only(&fixture.path, &fixture.options).expect_err(label);
        assert_eq!(error.message(), "the segment is not the one that the manifest names", "{label}");
        let damages = verify(&fixture.path, &fixture.options).unwrap().damages;
        assert!(damages.iter().any(|damage| damage.message == error.message()), "{label}: {damages:?}");
        if let Some(Decoded { code, messages: message, .. }) = decoded(&fixture) {
            assert_eq!(code, 1, "{label}: {message}");
        }
    }
}
