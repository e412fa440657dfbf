//! All pairs: each one once, for all data, distances, threads, memory limits and segments.

use crate::points::{SHARE, every, is_long};
use crate::support::{Fixture, Random, families, numbered, real, uniform, wide};
use fpstore::pairs::{Pair, Pairs, RecordPair, RecordPairs};
use fpstore::{Design, ErrorKind, Fingerprint, Id, IdKind, Parameters, ReadMode, Record, Result, Store, U256};
use rayon::prelude::*;
use std::cell::LazyCell;
use std::ops::ControlFlow;

/// Too little memory for twenty thousand fingerprints.
const LITTLE: u64 = 1 << 20;
const PLENTY: u64 = 1 << 30;

/// All pairs of different fingerprints within distance `k`, in order.
pub(crate) fn brute<F: Fingerprint>(fingerprints: &[F], k: u32) -> Vec<Pair<F>> {
    let mut distinct = fingerprints.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let pairs = distinct.par_iter().enumerate().flat_map_iter(|(number, &a)| {
        let others = distinct[number + 1..].iter();
        others.filter(move |&&b| a.distance(b) <= k).map(move |&b| Pair { a, b })
    });
    pairs.collect()
}

/// All pairs of records within distance `k`, in order.
fn brute_records<F: Fingerprint>(records: &[Record<F>], k: u32) -> Vec<RecordPair<F>> {
    let mut records = records.to_vec();
    records.sort_unstable();
    records.dedup();
    let near = |(number, a): (usize, &Record<F>)| -> Vec<RecordPair<F>> {
        let others = records[number + 1..].iter().filter(|b| a.fingerprint.distance(b.fingerprint) <= k);
        others.map(|b| RecordPair { a: a.clone(), b: b.clone() }).collect()
    };
    let mut pairs: Vec<_> = records.par_iter().enumerate().flat_map_iter(near).collect();
    pairs.sort_unstable_by_key(in_order);
    pairs
}

/// Sorted pairs are ordered by fingerprints, then ids.
fn in_order<F: Fingerprint>(pair: &RecordPair<F>) -> (F, F, Id, Id) {
    (pair.a.fingerprint, pair.b.fingerprint, pair.a.id.clone(), pair.b.id.clone())
}

pub(crate) fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all
}

fn distinct<F: Fingerprint>(store: &Store<F>, k: u32, memory: u64) -> Vec<Pair<F>> {
    store.pairs(k).unwrap().with_memory(memory).distinct().unwrap().map(Result::unwrap).collect()
}

/// Runs `work` with `threads` threads.
fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn agrees<F: Fingerprint>(fingerprints: &[F], max: u32, ks: &[u32]) {
    let ways = [(0, PLENTY), (1, LITTLE), (1, PLENTY), (0, LITTLE)];
    let all: Vec<(u32, (usize, u64))> = ks.iter().flat_map(|&k| ways.map(|way| (k, way))).collect();
    // A short run takes one of eleven ways and distances, or one at all.
    let taken: Vec<_> = every(SHARE.min(all.len() as u64), all).collect();
    let farthest = taken.iter().map(|way| way.0).max().unwrap();
    let near = brute(fingerprints, farthest);
    let parameters = Parameters::new(max).with_width(F::WIDTH);
    let records = numbered(fingerprints);
    let load = |segments| Fixture::new(ReadMode::Mmap).load_wide(&parameters, &records, segments);
    let stores = [1, 3].map(|segments| LazyCell::new(move || load(segments)));
    for (k, (store, memory)) in taken {
        let expected: Vec<_> = near.iter().filter(|pair| pair.a.distance(pair.b) <= k).copied().collect();
        let store = &*stores[store];
        let found = with_threads(1, || distinct(store, k, memory));
        let label = format!("k = {k}, {} segments, {memory} bytes", store.statistics().segments);
        assert_eq!(sorted(found.clone()), expected, "{label}");
        // The order also equals that of one thread.
        for threads in [2, 8] {
            assert!(with_threads(threads, || distinct(store, k, memory)) == found, "{label}, {threads} threads");
        }
    }
}

#[test]
fn uniform_fingerprints_and_families_within_every_distance() {
    let mut fingerprints = uniform(6000, 1);
    fingerprints.extend(families(1500, 8, 2));
    agrees(&fingerprints, 3, &[0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn real_fingerprints() {
    let fingerprints: Vec<u64> = real().into_iter().step_by(4).collect();
    agrees(&fingerprints, 3, &[0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn wide_fingerprints() {
    fn members<F: Fingerprint>(count: usize, flips: u64, seed: u64) -> Vec<F> {
        let mut random = Random(seed);
        let mut all = wide::<F>(count, seed);
        for number in 0..count / 2 {
            let mut member = all[number];
            for _ in 0..random.below(flips) {
                member = member.flipped(random.below(F::WIDTH.into()) as u32);
            }
            all.push(member);
        }
        all
    }
    agrees::<u128>(&members(3000, 10, 3), 6, &[0, 3, 6]);
    agrees::<U256>(&members(1500, 40, 4), 31, &[0, 6, 31]);
}

#[test]
fn fingerprints_of_which_few_bits_vary_and_ones_that_all_lie_together() {
    let every: Vec<u64> = (0..4096).map(|number| 0xabcd_0000_0000_0123 | number << 20).collect();
    agrees(&every, 3, &[1, 3]);
    let together: Vec<u64> = families(2, 3000, 7);
    agrees(&together, 3, &[2, 3]);
}

#[test]
fn parts_that_lie_behind_others_in_a_table_are_read_in_several_passes() {
    // Bits 0 to 11 and 32 to 43 vary: the tables of the plan begin with them, and a part has six of them.
    const BITS: u32 = 24;
    let place = |value: u64| (value >> 12) << 52 | (value & 4095) << 20 | 0x1_2345;
    let mut random = Random(33);
    let is_in: Vec<bool> = (0..1 << BITS).map(|_| random.below(128) == 0).collect();
    let values = || (0..1 << BITS).filter(|&value| is_in[value as usize]);
    let masks: Vec<u64> = (1..1 << BITS).filter(|mask: &u64| mask.count_ones() <= 3).collect();
    let near = |a: u64| masks.iter().map(move |mask| a ^ mask).filter(|&b| is_in[b as usize]).map(move |b| (a, b));
    let fingerprints: Vec<u64> = values().map(place).collect();
    let load =
        |some: &[u64], segments| Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &numbered(some), segments);
    // In one segment, and in three whose fingerprints lie among each other; the last one has some of the first again.
    let mut dealt: Vec<u64> = (0..3).flat_map(|from| fingerprints.iter().skip(from).step_by(3)).copied().collect();
    dealt.extend_from_within(..1000);
    let stores = [load(&fingerprints, 1), load(&dealt, 3)];
    let pair = |(a, b)| Pair { a: place(a), b: place(b) };
    let within = sorted(values().flat_map(near).filter(|(a, b)| a < b).map(pair).collect());
    // Between every second one and all; each is also near itself.
    let half = load(&values().step_by(2).map(place).collect::<Vec<_>>(), 1);
    let between = sorted(values().step_by(2).flat_map(|a| near(a).chain([(a, a)])).map(pair).collect());
    // More than the memory has space for.
    assert!(fingerprints.len() > 120_000 && within.len() > 1_000_000);
    // At distance 2 the third part is read in stripes of the primary table, at 3 also the fourth in those of the other.
    for (k, memory) in [(2, PLENTY), (2, LITTLE), (3, PLENTY), (3, LITTLE)] {
        let expected =
            |all: &[Pair]| all.iter().filter(|pair| pair.a.distance(pair.b) <= k).copied().collect::<Vec<_>>();
        for store in &stores {
            let label = format!("k = {k}, {memory} bytes, {} segments", store.statistics().segments);
            let found = distinct(store, k, memory);
            assert!(with_threads(1, || distinct(store, k, memory)) == found, "{label}, one thread");
            assert!(sorted(found) == expected(&within), "{label}");
            let found = half.pairs_with(store, k).unwrap().with_memory(memory).distinct().unwrap().map(Result::unwrap);
            assert!(sorted(found.collect()) == expected(&between), "between stores, {label}");
        }
    }
}

#[test]
fn tables_of_every_design_and_of_several() {
    let mut fingerprints = uniform(4000, 11);
    fingerprints.extend(families(500, 4, 12));
    let expected = brute(&fingerprints, 3);
    let half = fingerprints.len() / 2;
    let load = |fingerprints: &[u64], design, segments| {
        let parameters = Parameters::new(3).with_design(design);
        Fixture::new(ReadMode::Mmap).load(&parameters, &numbered(fingerprints), segments)
    };
    // Some fingerprints are in both stores.
    let other = load(&fingerprints[half - 100..], Design::Tables { parts: 4 }, 2).snapshot();
    for design in Design::LISTED {
        for memory in [PLENTY, LITTLE] {
            let store = load(&fingerprints, design, 1);
            assert_eq!(sorted(distinct(&store, 3, memory)), expected, "{design}");
            let store = load(&fingerprints[..half], design, 2);
            let both = store.pairs(3).unwrap().with_memory(memory).with_more(std::slice::from_ref(&other)).unwrap();
            assert_eq!(
                sorted(both.distinct().unwrap().map(Result::unwrap).collect()),
                expected,
                "{design}, two stores"
            );
        }
    }
}

#[test]
fn distances_at_which_dividing_does_not_pay() {
    agrees(&uniform(1500, 5), 3, &[24, 63, 64]);
    // More than 10,240 do not fit in memory at once.
    more_than_fit_in_memory::<U256>(if is_long() { 17_500 } else { 11_500 }, 104);
    // The same number of bytes in short fingerprints has sixteen times as many pairs.
    if is_long() {
        more_than_fit_in_memory::<u64>(70_000, 16);
    }
}

/// Compares all fingerprints with all others, a part of them at a time.
fn more_than_fit_in_memory<F: Fingerprint>(count: usize, k: u32) {
    let fingerprints = wide::<F>(count, 6);
    let parameters = Parameters::new(3).with_width(F::WIDTH);
    let store = Fixture::new(ReadMode::Mmap).load_wide(&parameters, &numbered(&fingerprints), 1);
    let mut found = 0;
    let pairs = store.pairs(k).unwrap().with_memory(LITTLE);
    pairs
        .visit_distinct(<[_]>::len, |some| {
            found += some;
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    let near = |(number, a): (usize, &F)| fingerprints[number + 1..].iter().filter(|b| a.distance(**b) <= k).count();
    let expected: usize = fingerprints.par_iter().enumerate().map(near).sum();
    assert!(found == expected && expected > count, "{found} of {expected} pairs");
}

#[test]
fn the_real_set_has_as_many_pairs_as_others_counted() {
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &numbered(&real()), 3);
    let found = distinct(&store, 3, PLENTY);
    assert_eq!(found.len(), 73_231);
    let mut by_distance = [0u64; 4];
    for pair in store.pairs(3).unwrap().records().unwrap() {
        by_distance[pair.unwrap().distance() as usize] += 1;
    }
    assert_eq!(by_distance[0], 168_530);
    assert_eq!(by_distance.iter().sum::<u64>(), 622_263);
}

/// Records that often share a fingerprint, and often an id.
fn crowded(count: usize, id: impl Fn(u64) -> Id) -> Vec<Record> {
    let fingerprints = families(count / 40, 10, 9);
    let mut random = Random(10);
    let mut record = |_| {
        let fingerprint = fingerprints[random.below(fingerprints.len() as u64) as usize];
        Record { fingerprint, id: id(random.below(count as u64)) }
    };
    (0..count).map(&mut record).collect()
}

#[test]
fn records_with_ids_of_every_kind() {
    let text = |number: u64| Id::Text(format!("https://example.org/{}", number * 7919 % 1000).into());
    for (kind, records) in [(IdKind::Number, crowded(3000, Id::Number)), (IdKind::Text, crowded(2000, text))] {
        let expected = brute_records(&records, 3);
        for segments in [1, 3] {
            let parameters = Parameters::new(3).with_ids(kind);
            let store = Fixture::new(ReadMode::Mmap).load(&parameters, &records, segments);
            // A short run takes one of both.
            for memory in every(2, [PLENTY, LITTLE]) {
                let pairs = || store.pairs(3).unwrap().with_memory(memory);
                let mut found: Vec<_> = pairs().records().unwrap().map(Result::unwrap).collect();
                let in_sorted_order: Vec<_> = pairs().sorted().records().unwrap().map(Result::unwrap).collect();
                assert_eq!(in_sorted_order, expected);
                assert!(found != expected, "not sorting gives sorted pairs: the test shows nothing");
                found.sort_unstable_by_key(in_order);
                assert_eq!(found, expected, "{kind}, {segments} segments");
                assert!(pairs().sorted().distinct().unwrap().map(Result::unwrap).is_sorted());
            }
        }
    }
}

#[test]
fn counts_come_with_pairs_of_fingerprints() {
    let records = crowded(3000, Id::Number);
    let fingerprints: Vec<u64> = records.iter().map(|record| record.fingerprint).collect();
    let count = |of: u64| Id::Count(fingerprints.iter().filter(|&&one| one == of).count() as u64);
    let record = |fingerprint| Record { fingerprint, id: count(fingerprint) };
    let mut expected: Vec<RecordPair> =
        brute(&fingerprints, 3).into_iter().map(|pair| RecordPair { a: record(pair.a), b: record(pair.b) }).collect();
    let several = sorted(fingerprints.clone());
    let mut several: Vec<u64> = several.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    several.dedup();
    expected.extend(several.into_iter().map(|one| RecordPair { a: record(one), b: record(one) }));
    for segments in [1, 3] {
        let parameters = Parameters::new(3).with_ids(IdKind::None);
        let store = Fixture::new(ReadMode::Mmap).load(&parameters, &records, segments);
        let found: Vec<_> = store.pairs(3).unwrap().records().unwrap().map(Result::unwrap).collect();
        assert_eq!(sorted(found), sorted(expected.clone()));
    }
}

#[test]
fn one_fingerprint_with_more_ids_than_a_piece() {
    // A piece has 16,384.
    let count: u64 = if is_long() { 40_000 } else { 20_000 };
    let mut records: Vec<Record> = (0..count).map(|id| Record::new(7, id * 1_000_003 % (1 << 40))).collect();
    records.push(Record::new(6, 1));
    for segments in every(2, [1, 2]) {
        let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &records, segments);
        let (mut same, mut other) = (0u64, 0u64);
        let pairs = store.pairs(1).unwrap();
        let add = |sum: &mut (u64, u64), found: fpstore::pairs::RecordPairs<'_>| {
            let count = (found.a.len() * found.b.len()) as u64;
            if found.pair.a == found.pair.b {
                sum.0 += count;
                assert!(found.a.iter().max() < found.b.iter().min());
            } else {
                sum.1 += count;
            }
            ControlFlow::Continue(())
        };
        pairs
            .visit_records(add, |sum: (u64, u64)| {
                (same, other) = (same + sum.0, other + sum.1);
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        assert_eq!((same, other), (count * (count - 1) / 2, count));
    }
}

#[test]
fn between_two_stores() {
    fn agrees<F: Fingerprint>(ones: &[F], others: &[F], k: u32) {
        let parameters = Parameters::new(3).with_width(F::WIDTH);
        let left = Fixture::new(ReadMode::Mmap).load_wide(&parameters, &numbered(ones), 2);
        let right = Fixture::new(ReadMode::Mmap).load_wide(&parameters, &numbered(others), 1);
        let mut expected: Vec<RecordPair<F>> = Vec::new();
        for a in numbered(ones) {
            let near = numbered(others).into_iter().filter(|b| a.fingerprint.distance(b.fingerprint) <= k);
            expected.extend(near.map(|b| RecordPair { a: a.clone(), b }));
        }
        assert!(expected.len() > 100);
        expected.sort_unstable_by_key(in_order);
        for memory in [PLENTY, LITTLE] {
            let pairs = || left.pairs_with(&right, k).unwrap().with_memory(memory);
            let mut found: Vec<_> = pairs().records().unwrap().map(Result::unwrap).collect();
            found.sort_unstable_by_key(in_order);
            assert_eq!(found, expected);
            assert_eq!(pairs().sorted().records().unwrap().map(Result::unwrap).collect::<Vec<_>>(), expected);
        }
    }
    let all = real();
    let part = |from: usize| all.iter().copied().skip(from).step_by(40).collect::<Vec<u64>>();
    for k in [0, 3, 5] {
        agrees(&part(0), &part(1), k);
    }
    agrees(&part(0)[..300], &part(1)[..300], 30);
    let mut members = wide::<u128>(1000, 3);
    agrees::<u128>(&members.clone(), &members.drain(..).map(|one| one.flipped(77)).collect::<Vec<_>>(), 3);
}

#[test]
fn distance_0() {
    let all = uniform(60_000, 9);
    let load =
        |fingerprints: &[u64]| Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &numbered(fingerprints), 2);
    let (left, right) = (load(&all[..40_000]), load(&all[20_000..]));
    for memory in [PLENTY, LITTLE] {
        let pairs = left.pairs_with(&right, 0).unwrap().with_memory(memory).distinct().unwrap();
        let found = sorted(pairs.map(|pair| pair.unwrap().a).collect());
        assert_eq!(found, sorted(all[20_000..40_000].to_vec()));
    }
    let pairs = left.pairs(0).unwrap();
    let progress = pairs.progress().clone();
    assert_eq!(pairs.distinct().unwrap().count(), 0);
    assert!((progress.share() - 1.0).abs() < 1e-9);
    let pairs = left.pairs(0).unwrap();
    pairs.progress().stop();
    assert_eq!(pairs.distinct().unwrap().next().unwrap().unwrap_err().kind(), ErrorKind::Stopped);
}

#[test]
fn nothing_and_little() {
    let empty: [u64; 0] = [];
    agrees(&empty, 3, &[0, 3, 64]);
    agrees(&[7u64], 3, &[3]);
    agrees(&[7u64, 8], 3, &[3, 4]);
    let few = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &numbered(&[7u64, 8]), 1);
    for k in [0, 1, 64] {
        let with_itself = few.pairs_with(&few, k).unwrap().distinct().unwrap().map(Result::unwrap).count();
        assert_eq!(with_itself, if k == 64 { 4 } else { 2 });
    }
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &[], 1);
    assert_eq!(store.pairs(65).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn who_has_enough_may_stop() {
    let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3), &numbered(&real()), 1);
    let mut pairs = store.pairs(3).unwrap().records().unwrap();
    assert!(pairs.next().unwrap().is_ok());
    drop(pairs);
    let mut seen = 0;
    let mut progress = 0.0;
    let pairs = store.pairs(3).unwrap();
    let enough = pairs.visit_distinct(<[_]>::len, |count| {
        seen += count;
        progress = pairs.progress().share();
        Ok(if seen > 5000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    assert!(enough.is_ok() && (5000..10_000).contains(&seen), "{seen}");
    assert!((0.0..1.0).contains(&progress));
    let whole = pairs.visit_distinct(|_| (), |()| Ok(ControlFlow::Continue(())));
    assert!(whole.is_ok());
}

#[test]
fn damage_is_an_error_and_not_a_pair_less() {
    let fixture = Fixture::new(ReadMode::Pread);
    drop(fixture.load(&Parameters::new(3), &numbered(&real()), 1));
    fixture.damage(100_000);
    let store = Store::<u64>::open_read_only(&fixture.path, &fixture.options).unwrap();
    let mut errors = 0;
    for pair in store.pairs(3).unwrap().distinct().unwrap() {
        if let Err(error) = pair {
            assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
            errors += 1;
        }
    }
    assert_eq!(errors, 1);
}

#[test]
fn pairs_that_were_found_before_damage_are_handed_on() {
    /// Pairs that a thread hands on together.
    const CHUNK: u64 = 2048;
    let fixture = Fixture::new(ReadMode::Pread);
    // The first fifth of the fingerprints have two records each.
    let spread = |number: u64| number * (u64::MAX / 100_000) + (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24);
    let record = |number: u64| Record { fingerprint: spread(number % 100_000), id: Id::Number(number) };
    drop(fixture.load(&Parameters::new(3), &(0..120_000).map(record).collect::<Vec<_>>(), 1));
    fixture.damage(300_000);
    let store = Store::<u64>::open_read_only(&fixture.path, &fixture.options).unwrap();
    let mut found = 0;
    let add = |all: &mut u64, pairs: RecordPairs<'_>| {
        *all += (pairs.a.len() * pairs.b.len()) as u64;
        ControlFlow::Continue(())
    };
    let sink = |pairs| {
        found += pairs;
        Ok(ControlFlow::Continue(()))
    };
    let error = store.pairs(3).unwrap().visit_records(add, sink).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    assert!((20_000 / CHUNK * CHUNK..=20_000).contains(&found), "{found}");
}

#[test]
fn sorted_pairs_of_many_records_are_sorted_by_ids_too() {
    let parameters = Parameters::new(3);
    let load = |records: &[Record]| Fixture::new(ReadMode::Mmap).load(&parameters, records, 2);
    let records = |fingerprint, ids: std::ops::Range<u64>| {
        ids.map(move |id| Record { fingerprint, id: Id::Number(id) }).collect::<Vec<Record>>()
    };
    let check = |pairs: Pairs, count: usize| {
        let found: Vec<_> = pairs.sorted().records().unwrap().map(Result::unwrap).collect();
        assert_eq!(found.len(), count);
        assert!(found.is_sorted_by_key(in_order));
    };
    let (few, some, many) = (records(0b01, 0..3), records(0b10, 10..310), records(0b11, 1000..50_000));
    check(load(&[few.clone(), some.clone()].concat()).pairs(3).unwrap(), 3 + 3 * 300 + 300 * 299 / 2);
    // More than fit in memory at once, on either side.
    let (few, many) = (load(&few), load(&many));
    check(few.pairs_with(&many, 3).unwrap(), 3 * 49_000);
    check(many.pairs_with(&few, 3).unwrap(), 3 * 49_000);
}

#[test]
fn fingerprints_of_different_hashers_are_not_compared() {
    let store = |hasher| Fixture::new(ReadMode::Mmap).load(&Parameters::new(3).with_hasher(hasher), &[], 1);
    let (one, other, unknown) = (store(Some("a")), store(Some("b")), store(None));
    assert_eq!(one.pairs_with(&other, 3).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(one.pairs_with(&unknown, 3).is_ok() && unknown.pairs_with(&one, 3).is_ok());
    let clusters = one.clusters(3).unwrap();
    assert_eq!(clusters.clone().with_new(&other.snapshot()).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(clusters.with_new(&unknown.snapshot()).is_ok());
}
