//! Fingerprints of 128 and 256 bits, and ids of every kind, against brute force.

use crate::points::every;
use crate::support::{self, Random, expected};
use fpstore::admin::verify;
use fpstore::env::{Env, Memory};
use fpstore::{
    Codec, Design, ErrorKind, Fingerprint, Id, Maintenance, Options, Parameters, ReadMode, Record, Records, Store,
    U256, inspect,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Uniform fingerprints.
fn spread<F: Fingerprint>(random: &mut Random) -> F {
    F::from_words(|_| random.next())
}

/// Families like those of images and pages: a random centre, and members that differ from it in a binomial number of
/// bits, some of them in bursts of neighbouring ones, like crops and captions.
fn families<F: Fingerprint>(count: usize, members: u64, flips: u64, random: &mut Random) -> Vec<F> {
    let mut all = Vec::new();
    for _ in 0..count {
        let centre: F = spread(random);
        for _ in 0..1 + random.below(members) {
            let mut member = centre;
            for _ in 0..random.below(flips + 1) {
                member = member.flipped(random.below(F::WIDTH.into()) as u32);
            }
            if random.below(4) == 0 {
                let first = random.below(u64::from(F::WIDTH) - 8) as u32;
                member = (first..first + 8).fold(member, |member, bit| member.flipped(bit));
            }
            all.push(member);
        }
    }
    all
}

struct Fixture {
    path: PathBuf,
    options: Options,
}

impl Fixture {
    fn new(mode: ReadMode) -> Self {
        let env: Arc<dyn Env> = Arc::new(Memory::default());
        Self {
            path: PathBuf::from("store"),
            options: Options::new().with_env(env).with_read_mode(mode).with_maintenance(Maintenance::Manual),
        }
    }

    /// A store of records, loaded in this many parts.
    fn store<F: Fingerprint>(&self, parameters: &Parameters, records: &[Record<F>], lots: usize) -> Store<F> {
        let store = Store::<F>::create(&self.path, parameters, &self.options).unwrap();
        for lot in records.chunks(records.len().div_ceil(lots).max(1)) {
            store.bulk_load(Records::WithIds(lot.to_vec())).unwrap();
        }
        store
    }
}

/// Every kind of query equals brute force, with queries near stored values and others.
fn agrees<F: Fingerprint>(design: Design, k: u32, ks: &[u32], records: &[Record<F>], segments: usize, mode: ReadMode) {
    let fixture = Fixture::new(mode);
    let parameters = Parameters::new(k).with_width(F::WIDTH).with_design(design);
    let store = fixture.store(&parameters, records, segments);
    assert_eq!(verify(&fixture.path, &fixture.options).unwrap().damages, []);
    let mut sorted = records.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert!(store.records().map(Result::unwrap).eq(sorted.iter().cloned()));
    let mut random = Random(5);
    let mut searcher = store.searcher();
    for number in 0..60 {
        let mut query = records[random.below(records.len() as u64) as usize].fingerprint;
        for _ in 0..random.below(u64::from(k) + 2) {
            query = query.flipped(random.below(F::WIDTH.into()) as u32);
        }
        if number % 10 == 0 {
            query = spread(&mut random);
        }
        let all = expected(records, query, ks.iter().copied().max().unwrap());
        for &k in ks {
            // Ordered by distance: matches within k come first.
            let expected = &all[..all.partition_point(|found| found.distance <= k)];
            assert_eq!(searcher.query(query, k).unwrap(), expected, "{design} {k} {query:?}");
            assert_eq!(searcher.contains_near(query, k).unwrap().is_some(), !expected.is_empty());
        }
        if number % 20 == 0 {
            assert_eq!(searcher.scan(query, k).unwrap(), support::expected(records, query, k));
            let mut nearest = support::expected(records, query, F::WIDTH);
            nearest.truncate(7);
            assert_eq!(searcher.nearest(query, 7).unwrap(), nearest);
            assert_eq!(searcher.scan_nearest(query, 7, F::WIDTH).unwrap(), nearest);
        }
    }
    // The query uses the index where that is cheaper; otherwise this would only test scans.
    let work = searcher.stats();
    let many = matches!(design, Design::Tables { parts: 4.. });
    assert!(work.probes > 0 || !many || records.len() < 50_000, "{design}: {work:?}");
}

fn numbered<F: Fingerprint>(fingerprints: Vec<F>) -> Vec<Record<F>> {
    fingerprints.into_iter().zip(1000u64..).map(|(fingerprint, id)| Record::new(fingerprint, id)).collect()
}

#[test]
fn of_128_bits_within_six() {
    let mut random = Random(11);
    let mut fingerprints: Vec<u128> = families(4000, 9, 9, &mut random);
    fingerprints.extend((0..40_000).map(|_| spread::<u128>(&mut random)));
    let records = numbered(fingerprints);
    let tables = |parts| Design::Tables { parts };
    let ways: [(Design, &[u32], usize, ReadMode); 7] = [
        (tables(2), &[0, 3, 6, 7], 1, ReadMode::Mmap),
        (tables(4), &[6, 12], 3, ReadMode::Mmap),
        (Design::Choose { chosen: 2, parts: 8 }, &[6], 1, ReadMode::Mmap),
        (tables(3), &[0, 3, 6, 7], 1, ReadMode::Mmap),
        (tables(4), &[0, 3, 6, 7], 1, ReadMode::Pread),
        (Design::Nested { outer: 4, inner: 3 }, &[6], 1, ReadMode::Mmap),
        (tables(7), &[0, 3, 6, 7], 1, ReadMode::Mmap),
    ];
    // A short run takes one or two of the ways.
    for (design, ks, segments, mode) in every(4, ways) {
        agrees(design, 6, ks, &records, segments, mode);
    }
}

#[test]
fn of_256_bits_within_thirty_one() {
    let mut random = Random(12);
    let mut fingerprints: Vec<U256> = families(5000, 9, 40, &mut random);
    fingerprints.extend((0..60_000).map(|_| spread::<U256>(&mut random)));
    let records = numbered(fingerprints);
    let ways: [(u8, &[u32], usize, ReadMode); 5] = [
        (8, &[0, 10, 31], 1, ReadMode::Mmap),
        (11, &[0, 10, 31], 1, ReadMode::Mmap),
        (13, &[0, 10, 31], 1, ReadMode::Pread),
        (16, &[0, 10, 31], 1, ReadMode::Mmap),
        (16, &[31, 40], 2, ReadMode::Mmap),
    ];
    // A short run takes one of the ways.
    for (parts, ks, segments, mode) in every(5, ways) {
        agrees(Design::Tables { parts }, 31, ks, &records, segments, mode);
    }
}

#[test]
fn leading_bits_that_hardly_vary() {
    let mut random = Random(13);
    // All share the same 100 leading bits, so that pages of rows begin alike, and many keys have the same prefix.
    let fingerprints: Vec<u128> = (0..20_000)
        .map(|_| 0xabcd << 112 | u128::from(random.next() >> 40) << 3 | u128::from(random.below(8)))
        .collect();
    agrees(Design::Tables { parts: 4 }, 6, &[0, 2], &numbered(fingerprints), 2, ReadMode::Mmap);
    let few: Vec<U256> = vec![U256::default(), U256([u64::MAX; 4]), U256([0, 0, 0, 1]), U256([1 << 63, 0, 0, 0])];
    let fixture = Fixture::new(ReadMode::Mmap);
    let parameters = Parameters::new(31).with_width(256).with_design(Design::Tables { parts: 16 });
    let store = fixture.store(&parameters, &numbered(few.clone()), 1);
    for fingerprint in few {
        assert_eq!(store.query(fingerprint, 1).unwrap(), expected(&numbered_of(&store), fingerprint, 1));
    }
}

fn numbered_of<F: Fingerprint>(store: &Store<F>) -> Vec<Record<F>> {
    store.records().map(Result::unwrap).collect()
}

#[test]
fn the_width_is_told_and_another_is_refused() {
    let fixture = Fixture::new(ReadMode::Mmap);
    let parameters = Parameters::new(6).with_width(128).with_design(Design::Tables { parts: 4 });
    drop(Store::<u128>::create(&fixture.path, &parameters, &fixture.options).unwrap());
    assert_eq!(fpstore::parameters_of(&fixture.path, &fixture.options).unwrap(), parameters);
    let error = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("128-bit fingerprints, not of 64-bit"), "{error}");
    assert!(Store::<U256>::create(Path::new("other"), &parameters, &fixture.options).is_err());
}

#[test]
fn text_ids_with_many_records_a_fingerprint() {
    let mut random = Random(14);
    let fingerprints: Vec<u64> = (0..3000).map(|_| random.next()).collect();
    let mut records = Vec::new();
    for number in 0..30_000u64 {
        // A few fingerprints have thousands of records.
        let fingerprint = fingerprints[(random.below(3000) * random.below(3000) / 3000) as usize];
        let host = random.below(50);
        let id = format!("https://host-{host}.example/{}/page-{}.html", number % 17, random.below(1 << 20));
        records.push(Record::new(fingerprint, &*id));
    }
    records.push(Record::new(fingerprints[7], &*"x".repeat(4096)));
    records.push(Record::new(fingerprints[7], "ünï/cödé"));
    let fixture = Fixture::new(ReadMode::Mmap);
    let parameters = Parameters::new(3).with_ids(fpstore::IdKind::Text);
    let store = fixture.store(&parameters, &records, 3);
    assert_eq!(verify(&fixture.path, &fixture.options).unwrap().damages, []);
    let mut sorted = records.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert!(store.records().map(Result::unwrap).eq(sorted.iter().cloned()));
    for &fingerprint in fingerprints.iter().step_by(71).chain(&fingerprints[..9]) {
        assert_eq!(store.query(fingerprint ^ 5, 2).unwrap(), expected(&records, fingerprint ^ 5, 2));
    }
    // A load skips existing records, and removed records are gone.
    let store = store;
    let report = store.bulk_load(Records::WithIds(records.clone())).unwrap();
    assert_eq!((report.added(), report.already_present), (0, records.len() as u64));
    let (gone, left): (Vec<_>, Vec<_>) = sorted.into_iter().partition(|record| record.fingerprint % 3 == 0);
    let report = store.bulk_remove(Records::WithIds(gone.clone())).unwrap();
    assert_eq!((report.removed, report.left), (gone.len() as u64, left.len() as u64));
    assert!(store.records().map(Result::unwrap).eq(left));
    for bad in ["", "a\tb", "a\nb", &"x".repeat(4097)] {
        assert!(store.bulk_load(Records::WithIds(vec![Record::new(1, bad)])).is_err(), "{bad}");
    }
}

#[test]
fn without_ids_fingerprints_are_counted() {
    let mut random = Random(15);
    let fingerprints: Vec<u128> = (0..500).map(|_| spread(&mut random)).collect();
    let mut counts: BTreeMap<u128, u64> = BTreeMap::new();
    let fixture = Fixture::new(ReadMode::Mmap);
    let parameters =
        Parameters::new(6).with_width(128).with_design(Design::Tables { parts: 4 }).with_ids(fpstore::IdKind::None);
    let store = Store::<u128>::create(&fixture.path, &parameters, &fixture.options).unwrap();
    for _ in 0..3 {
        let load: Vec<u128> = (0..2000).map(|_| fingerprints[random.below(500) as usize]).collect();
        load.iter().for_each(|&fingerprint| *counts.entry(fingerprint).or_default() += 1);
        assert_eq!(store.bulk_load(Records::Numbered(load)).unwrap().added(), 2000);
    }
    let check = |store: &Store<u128>, counts: &BTreeMap<u128, u64>| {
        assert_eq!(verify(&fixture.path, &fixture.options).unwrap().damages, []);
        for &fingerprint in &fingerprints {
            let found: Vec<_> = store.query(fingerprint ^ 1, 1).unwrap().into_iter().map(|found| found.id).collect();
            let expected: Vec<_> = counts.get(&fingerprint).map(|&count| Id::Count(count)).into_iter().collect();
            assert_eq!(found, expected);
            let first = store.contains_near(fingerprint, 3).unwrap().map(|found| found.id);
            assert_eq!(first, expected.first().cloned());
        }
    };
    check(&store, &counts);
    assert!(store.bulk_load(Records::WithIds(vec![Record::new(1u128, 1)])).is_err());
    // Each removed record reduces the count by one, but not below zero.
    let gone: Vec<u128> = counts.keys().copied().flat_map(|fingerprint| [fingerprint; 12]).collect();
    let before: u64 = counts.values().sum();
    counts.values_mut().for_each(|count| *count = count.saturating_sub(12));
    counts.retain(|_, count| *count > 0);
    let report = store.bulk_remove(Records::Numbered(gone)).unwrap();
    assert_eq!((report.left, report.removed), (counts.values().sum(), before - counts.values().sum::<u64>()));
    check(&store, &counts);
}

/// Rows have no code, whatever codec the other tables have.
#[test]
fn stores_of_codec_xor_are_opened_again() {
    let mut random = Random(17);
    let records = numbered(families::<u128>(300, 5, 6, &mut random));
    let fixture = Fixture::new(ReadMode::Mmap);
    let parameters = Parameters::new(3).with_width(128).with_codec(Codec::Xor);
    drop(fixture.store(&parameters, &records, 1));
    let store = Store::<u128>::open(&fixture.path, &fixture.options).unwrap();
    for record in &records {
        assert_eq!(store.query(record.fingerprint, 3).unwrap(), expected(&records, record.fingerprint, 3));
    }
    assert_eq!(store.verify().unwrap().damages, []);
    inspect::explain(&fixture.path, &fixture.options, &mut |_, _| Ok(())).unwrap();
    inspect::distributions(&inspect::open(&fixture.path, &fixture.options).unwrap()).unwrap();
}

#[test]
fn compacting_changes_no_answer_and_leaves_one_segment() {
    let mut random = Random(16);
    let records = numbered(families::<U256>(300, 5, 20, &mut random));
    let fixture = Fixture::new(ReadMode::Mmap);
    let parameters = Parameters::new(31).with_width(256).with_design(Design::Tables { parts: 13 });
    let store = fixture.store(&parameters, &records, 5);
    let before: Vec<_> = records.iter().map(|record| store.query(record.fingerprint, 31).unwrap()).collect();
    assert_eq!(store.statistics().segments, 5);
    assert!(store.compact().unwrap());
    assert!(!store.compact().unwrap());
    drop(store);
    let store = Store::<U256>::open(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.statistics().segments, 1);
    let after: Vec<_> = records.iter().map(|record| store.query(record.fingerprint, 31).unwrap()).collect();
    assert_eq!(before, after);
}

#[test]
fn removing_everything_leaves_a_store_that_goes_on() {
    let fixture = Fixture::new(ReadMode::Mmap);
    let store = Store::<u64>::create(&fixture.path, &Parameters::new(3), &fixture.options).unwrap();
    store.bulk_load(Records::Numbered(vec![5, 6, 7])).unwrap();
    let all: Vec<Record> = store.records().map(Result::unwrap).collect();
    let absent = vec![Record::new(5, 77), Record::new(99, 1)];
    assert_eq!(store.bulk_remove(Records::WithIds(absent)).unwrap().removed, 0);
    assert!(store.bulk_remove(Records::Numbered(vec![5])).is_err());
    assert_eq!(store.bulk_remove(Records::WithIds(all)).unwrap().left, 0);
    assert!(store.query(5, 3).unwrap().is_empty());
    // Numbers are never reused.
    store.bulk_load(Records::Numbered(vec![5])).unwrap();
    assert_eq!(store.query(5, 0).unwrap()[0].id, 3);
}
