//! Query tables against comparing each with each.

use crate::fingerprint::{Fingerprint, U256};
use crate::options::Options;
use crate::plan::{Design, Random};
use crate::query::tables::choice::Choice;
use crate::query::tables::query_tables::QueryTables;
use proptest::prelude::*;

impl Random {
    fn spread<F: Fingerprint>(&mut self) -> F {
        F::from_words(|_| self.next())
    }

    /// A fingerprint with up to `most` bits flipped.
    fn near<F: Fingerprint>(&mut self, centre: F, most: u64) -> F {
        (0..self.next() % (most + 1)).fold(centre, |near, _| near.flipped((self.next() % u64::from(F::WIDTH)) as u32))
    }
}

/// Queries and fingerprints in common families, with equal ones among either.
fn families<F: Fingerprint>(number: usize, flips: u64, seed: u64) -> (Vec<F>, Vec<F>) {
    let mut random = Random(seed);
    let centres: Vec<F> = (0..number / 3 + 1).map(|_| random.spread()).collect();
    let mut some = || -> Vec<F> {
        let mut all: Vec<F> = (0..number).map(|i| random.near(centres[i % centres.len()], flips)).collect();
        all.extend_from_within(..number / 10);
        all
    };
    (some(), some())
}

type Found = Vec<(usize, u32, u32)>;

fn found<F: Fingerprint>(tables: &QueryTables<F>, fingerprints: &[F]) -> Found {
    let mut found = Vec::new();
    tables.near_all(fingerprints, |place, query, distance| found.push((place, query, distance)));
    found.sort_unstable();
    found
}

fn brute_force<F: Fingerprint>(queries: &[F], k: u32, fingerprints: &[F]) -> Found {
    let mut found = Vec::new();
    for (place, fingerprint) in fingerprints.iter().enumerate() {
        let numbered = queries.iter().zip(0..).map(|(query, number)| (number, query.distance(*fingerprint)));
        found.extend(
            numbered.filter(|(_, distance)| *distance <= k).map(|(number, distance)| (place, number, distance)),
        );
    }
    found
}

/// Tables of one design, at any cost.
fn of_design<F: Fingerprint>(queries: &[F], k: u32, design: Design) -> QueryTables<F> {
    QueryTables::build(queries, k, |distinct| Choice::of(design, distinct, k)).unwrap()
}

fn all_agree<F: Fingerprint>(queries: &[F], fingerprints: &[F], k: u32, designs: &[Design]) {
    let expected = brute_force(queries, k, fingerprints);
    assert!(
        found(&QueryTables::new(queries, k, &Options::new()).unwrap(), fingerprints) == expected,
        "chosen, k = {k}"
    );
    assert!(
        found(&QueryTables::comparing_all(queries, k, &Options::new()).unwrap(), fingerprints) == expected,
        "all, k = {k}"
    );
    for &design in designs {
        let tables = of_design(queries, k, design);
        assert!(found(&tables, fingerprints) == expected, "{design}: {tables}, k = {k}");
        let mut single = Vec::new();
        for (place, &fingerprint) in fingerprints.iter().enumerate() {
            tables.near(fingerprint, |query, distance| single.push((place, query, distance)));
        }
        single.sort_unstable();
        assert!(single == expected, "{design}, one by one, k = {k}");
    }
}

const DESIGNS: [Design; 6] = [
    Design::Tables { parts: 2 },
    Design::Tables { parts: 4 },
    Design::Tables { parts: 9 },
    Design::Choose { chosen: 2, parts: 5 },
    Design::Choose { chosen: 3, parts: 6 },
    Design::Nested { outer: 4, inner: 4 },
];

#[test]
fn every_design_and_distance_finds_each_query_once() {
    for k in 0..=8 {
        let flips = u64::from(k / 2 + 1);
        let (queries, fingerprints) = families::<u64>(300, flips, u64::from(k));
        all_agree(&queries, &fingerprints, k, &DESIGNS);
        let (queries, fingerprints) = families::<u128>(200, flips, u64::from(k));
        all_agree(&queries, &fingerprints, k, &DESIGNS);
        let (queries, fingerprints) = families::<U256>(200, flips, u64::from(k));
        all_agree(&queries, &fingerprints, k, &DESIGNS);
    }
    let (queries, fingerprints) = families::<U256>(60, 16, 1);
    all_agree(&queries, &fingerprints, 31, &[Design::Tables { parts: 16 }, Design::Tables { parts: 20 }]);
}

#[test]
fn nothing_and_everything() {
    assert_eq!(found(&QueryTables::<u64>::new(&[], 3, &Options::new()).unwrap(), &[1, 2]), []);
    assert!(QueryTables::<u64>::new(&[], 3, &Options::new()).unwrap().is_empty());
    assert_eq!(found(&QueryTables::<u64>::new(&[1, 2], 3, &Options::new()).unwrap(), &[]), []);
    let (queries, fingerprints) = families::<u64>(40, 9, 1);
    all_agree(&queries, &fingerprints, 64, &[Design::Tables { parts: 9 }]);
    all_agree(&vec![7; 500], &[0, 7, u64::MAX], 3, &DESIGNS);
    let zeros: Vec<u64> = (0..500).collect();
    all_agree(&zeros, &zeros, 3, &DESIGNS);
    assert!(of_design::<u64>(&[], 3, DESIGNS[3]).is_empty());
}

#[test]
fn many_queries_are_looked_up_and_memory_is_kept_to() {
    let mut random = Random(5);
    let queries: Vec<u64> = (0..50_000).map(|_| random.next()).collect();
    let near: Vec<u64> = queries.iter().step_by(100).map(|&query| random.near(query, 5)).collect();
    let expected = brute_force(&queries, 3, &near);
    let tables = QueryTables::new(&queries, 3, &Options::new()).unwrap();
    assert!(tables.to_string() != "all compared" && tables.len() == 50_000, "{tables}");
    assert_eq!(found(&tables, &near), expected);
    let stats = tables.near_all(&near, |_, _, _| {});
    assert!(stats.candidates < 100 * near.len() as u64, "{stats:?}");
    for bytes in [0, 2 << 20, tables.bytes()] {
        let within = QueryTables::within(&queries, 3, bytes, &Options::new()).unwrap();
        assert_eq!(found(&within, &near), expected);
        assert!(within.to_string() == "all compared" || within.bytes() <= bytes + (1 << 20), "{within}");
    }
}

#[test]
fn real_fingerprints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/real_simhash64.u64");
    let bytes = std::fs::read(path).unwrap();
    let real: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
    // Of all pairs a short run takes a sixth.
    let (step, least) = if std::env::var_os("FPSTORE_LONG").is_some() { (13, 300) } else { (78, 50) };
    let queries: Vec<u64> = real.iter().step_by(11).copied().collect();
    let fingerprints: Vec<u64> = real.iter().skip(5).step_by(step).copied().collect();
    assert!(brute_force(&queries, 3, &fingerprints).len() > least);
    for k in [0, 3, 6] {
        all_agree(&queries, &fingerprints, k, &[]);
    }
}

proptest! {
    #[test]
    fn agrees_with_comparing_all(
        queries in prop::collection::vec(0u64..1 << 12, 0..60),
        fingerprints in prop::collection::vec(0u64..1 << 12, 0..60),
        shift in 0u32..52, k in 0u32..9, design in 0..DESIGNS.len(),
    ) {
        let moved = |all: Vec<u64>| all.into_iter().map(|bits| bits << shift).collect::<Vec<_>>();
        all_agree(&moved(queries), &moved(fingerprints), k, &[DESIGNS[design]]);
    }
}
