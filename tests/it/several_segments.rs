//! All pairs of states of several segments, whose tables are read as one.

use crate::pairs::{brute, sorted};
use crate::support::{Fixture, families, numbered, uniform};
use fpstore::pairs::Pairs;
use fpstore::{Design, Id, Parameters, ReadMode, Record, Records, Result, Store, U256};

#[test]
fn stores_of_different_designs_in_any_order() {
    let mut fingerprints = uniform(3000, 51);
    fingerprints.extend(families(300, 4, 52));
    let (expected, half) = (brute(&fingerprints, 3), fingerprints.len() / 2);
    let load = |fingerprints: &[u64], design| {
        let parameters = Parameters::new(3).with_design(design);
        Fixture::new(ReadMode::Mmap).load(&parameters, &numbered(fingerprints), 1)
    };
    // The keys of two designs may begin with the same bits, and have others behind them.
    let choose = Design::Choose { chosen: 2, parts: 5 };
    let designs = [2, 3, 4, 5].map(|parts| Design::Tables { parts }).into_iter().chain([choose]);
    // Some fingerprints are in both stores.
    let stores = |some: &[u64]| designs.clone().map(|design| load(some, design)).collect::<Vec<Store>>();
    let (firsts, others) = (stores(&fingerprints[..half]), stores(&fingerprints[half - 100..]));
    for (number, first) in firsts.iter().enumerate() {
        for (other_number, other) in others.iter().enumerate() {
            let both = first.pairs(3).unwrap().with_more(&[other.snapshot()]).unwrap();
            let found = sorted(both.distinct().unwrap().map(Result::unwrap).collect());
            assert!(found == expected, "designs {number} and {other_number}");
        }
    }
}

#[test]
fn repeated_fingerprints_of_two_segments_in_few_and_in_large_shares() {
    // Those that agree in their first 64 bits are in one share: of more than a thread has in memory, or of fewer.
    for count in [90_000, 9_000] {
        let record = |number: u64, id| Record { fingerprint: U256([7, 0, 0, number]), id: Id::Number(id) };
        let mut old: Vec<_> = (0..2 * count).map(|number| record(number, 0)).collect();
        old.extend((0..2 * count).step_by(7).map(|number| record(number, 1)));
        let new: Vec<_> = (count..3 * count).map(|number| record(number, 2)).collect();
        let parameters = Parameters::new(3).with_width(256);
        let store = Fixture::new(ReadMode::Mmap).load_wide(&parameters, &old, 1);
        store.bulk_load(Records::WithIds(new.clone())).unwrap();
        assert_eq!(store.statistics().segments, 2);
        let all = sorted([old.clone(), new].concat());
        let pairs_of_one = |records: &[Record<U256>]| {
            let each = records.iter().enumerate();
            each.flat_map(|(number, a)| records[number + 1..].iter().map(|b| (a.clone(), b.clone())))
                .collect::<Vec<_>>()
        };
        let expected: Vec<_> = all.chunk_by(|a, b| a.fingerprint == b.fingerprint).flat_map(pairs_of_one).collect();
        let found = |pairs: Pairs<U256>| {
            let pairs = pairs.records().unwrap().map(Result::unwrap);
            sorted(pairs.map(|pair| (pair.a, pair.b)).collect())
        };
        assert!(found(store.pairs(0).unwrap()) == expected, "{count}");
        // Records that two segments have are one.
        let again = Fixture::new(ReadMode::Mmap).load_wide(&parameters, &old, 1).snapshot();
        let both = store.pairs(0).unwrap().with_more(&[again]).unwrap();
        assert!(found(both) == expected, "{count}");
    }
}
