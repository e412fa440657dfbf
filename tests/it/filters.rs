//! Prefix filters change the cost of a query, never its answer; options decide when the store builds them.

use crate::hooked::{Hooked, Op};
use crate::points::every;
use crate::support::*;
use fpstore::env::Failing;
use fpstore::plan::Design;
use fpstore::{Filters, Options, Parameters, QueryStats, ReadMode, Record, Records, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Uniform values, and families of values that differ in few bits: enough for a filter in every segment.
fn values() -> Vec<u64> {
    let mut random = Random(31);
    let mut values = uniform(80_000, 30);
    for family in 0..400 {
        values.extend((0..150).map(|member| random.flip(values[family], member % 6)).collect::<Vec<_>>());
    }
    values
}

fn queries(values: &[u64]) -> Vec<u64> {
    let mut random = Random(32);
    let mut near: Vec<u64> = values.iter().step_by(3001).map(|&value| value ^ (1 << random.below(64))).collect();
    near.extend(uniform(20, 33));
    near
}

/// The total cost of all queries.
fn work(store: &Store, queries: &[u64]) -> QueryStats {
    let mut searcher = store.searcher();
    queries.iter().for_each(|&query| _ = searcher.query(query, 3).unwrap());
    searcher.stats()
}

/// Bytes of filters: wanted, built, refused and failed, and the budget.
fn of(store: &Store) -> [u64; 5] {
    let filters = store.statistics().filters;
    [filters.wanted_bytes, filters.built_bytes, filters.refused_bytes, filters.failed_bytes, filters.budget_bytes]
}

#[test]
fn the_same_answers_with_and_without_for_every_design_and_mode() {
    let values = values();
    let (records, queries) = (numbered(&values), queries(&values));
    // A short run takes two or three of the designs, each in one mode.
    for (design, mode) in every(5, DESIGNS.into_iter().flat_map(|design| MODES.map(|mode| (design, mode)))) {
        let mut fixture = Fixture::new(mode);
        fixture.options = fixture.options.with_filters(Filters::AtOpen);
        let store = fixture.load(&Parameters::new(3).with_design(design), &records, 1);
        assert!(store.filter_bytes() > 0 && store.filter_bytes() == store.statistics().filter_bytes);
        compare(&store, &records, &queries, 0..=5, &format!("{design} {mode:?}"));
    }
}

#[test]
fn filters_save_nearly_all_blocks() {
    let values = uniform(300_000, 34);
    let records = numbered(&values);
    let mut fixture = Fixture::new(ReadMode::Mmap);
    drop(fixture.load(&Parameters::new(3), &records, 1));
    let queries = queries(&values);
    let mut open = |filters| {
        fixture.options = fixture.options.clone().with_filters(filters);
        work(&<Store>::open_read_only(&fixture.path, &fixture.options).unwrap(), &queries)
    };
    let (without, with) = (open(Filters::Off), open(Filters::AtOpen));
    assert_eq!(without.probes, without.index_lookups);
    assert!(with.index_lookups < with.probes / 8, "{with:?}");
    assert!(with.blocks < without.blocks / 6, "{with:?} {without:?}");
    assert_eq!(work_of_scan(&fixture, &queries).index_lookups, 0);
}

#[test]
fn a_short_leading_part_has_a_filter_of_nearly_all_keys_unless_they_are_skewed() {
    let even = uniform(300_000, 43);
    // The first of the three tables is probed within radius 1, the others within 0. A quarter of the bits are ones.
    let skewed: Vec<u64> = even.iter().zip(uniform(300_000, 44)).map(|(one, other)| one & other).collect();
    for (values, bits, share) in [(even, 12.0..13.0, 3), (skewed, 7.0..8.0, 1)] {
        let records = numbered(&values);
        let queries: Vec<u64> = queries(&values).into_iter().take(40).collect();
        let mut fixture = Fixture::new(ReadMode::Mmap);
        let parameters = Parameters::new(3).with_design(Design::Tables { parts: 3 });
        fixture.options = fixture.options.with_filters(Filters::Off);
        let without = work(&fixture.load(&parameters, &records, 1), &queries);
        fixture.options = fixture.options.with_filters(Filters::AtOpen);
        let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
        let each = store.filter_bytes() as f64 * 8.0 / (3.0 * values.len() as f64);
        assert!(bits.contains(&each), "{each} bits a key");
        assert_eq!(of(&store)[..4], [store.filter_bytes(), store.filter_bytes(), 0, 0]);
        let with = work(&store, &queries);
        assert!(share * with.blocks <= without.blocks, "{with:?} {without:?}");
        compare(&store, &records, &queries, 0..=5, &format!("{each} bits a key"));
    }
}

fn work_of_scan(fixture: &Fixture, queries: &[u64]) -> QueryStats {
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    let mut searcher = store.searcher();
    searcher.scan(queries[0], 3).unwrap();
    searcher.stats()
}

#[test]
fn made_in_the_background_at_opening_or_never_and_within_their_memory() {
    let records = numbered(&uniform(200_000, 35));
    let (first, second) = records.split_at(100_000);
    let fixture = Fixture::new(ReadMode::Mmap);
    let open = |options: &Options| <Store>::open(&fixture.path, options).unwrap();
    let options = &fixture.options;
    drop(fixture.load(&Parameters::new(3), first, 1));
    let store = open(options);
    store.wait_for_filters();
    let one = store.filter_bytes();
    assert!(one > 0);
    // A segment loaded later gets one as well.
    store.bulk_load(Records::WithIds(second.to_vec())).unwrap();
    store.wait_for_filters();
    assert_eq!(store.filter_bytes(), 2 * one);
    let queries = queries(&uniform(200_000, 35));
    compare(&store, &records, &queries[..40], 0..=4, "two segments");
    drop(store);
    // Each of the four filters has memory in whole lines of 64 bytes.
    let lines = 4 * 64;
    for limit in [0, one, 2 * one - 1, 2 * one] {
        let store = open(&options.clone().with_filters(Filters::AtOpen).with_filter_memory(limit));
        let built = store.filter_bytes();
        assert!(built <= limit && built + lines > limit, "{built} within {limit} bytes");
        assert_eq!(store.statistics().filter_bytes, 2 * one, "what all of them would take");
        assert_eq!(of(&store), [2 * one, built, 2 * one - built, 0, limit]);
        compare(&store, &records, &queries[..20], 0..=4, &format!("filters of {limit} bytes"));
    }
    // A filter has at least 2 bits a key and not the usual 7.5: two fifteenths of those of a segment.
    for (limit, filters) in [(one / 8, 0), (one / 7, 1), (one / 2, 3)] {
        let built = open(&options.clone().with_filters(Filters::AtOpen).with_filter_memory(limit)).filter_bytes();
        assert!(built.abs_diff(filters * one * 2 / 15) <= filters * 64, "{built} within {limit} bytes");
    }
    let store = open(&options.clone().with_filters(Filters::Off));
    store.wait_for_filters();
    assert_eq!(store.filter_bytes(), 0);
    assert_eq!(of(&store), [2 * one, 0, 0, 0, 1 << 30], "a file system in memory knows of no other memory");
}

#[test]
fn fewer_bits_for_want_of_memory_cost_blocks_and_no_answers() {
    let values = uniform(300_000, 38);
    let (records, queries) = (numbered(&values), queries(&values));
    let mut fixture = Fixture::new(ReadMode::Mmap);
    drop(fixture.load(&Parameters::new(3), &records, 1));
    let mut open = |limit| {
        fixture.options = fixture.options.clone().with_filters(Filters::AtOpen).with_filter_memory(limit);
        <Store>::open_read_only(&fixture.path, &fixture.options).unwrap()
    };
    let all = open(u64::MAX);
    let wanted = all.filter_bytes();
    let (half, third, one, none) = (open(wanted / 2), open(wanted / 3), open(wanted / 5), open(0));
    assert_eq!(of(&all), [wanted, wanted, 0, 0, u64::MAX]);
    for (store, budget) in [(&half, wanted / 2), (&third, wanted / 3)] {
        let built = store.filter_bytes();
        assert!(built <= budget && built + 2 * 64 > budget, "{built} within {budget}");
        assert_eq!(of(store), [wanted, built, wanted - built, 0, budget]);
    }
    // Two bits a key and not the usual 7.5, so one table has a filter.
    let built = one.filter_bytes();
    assert!(built > wanted / 8 && built < wanted / 7, "{built} of {wanted}");
    assert_eq!(of(&none), [wanted, 0, wanted, 0, 0]);
    let blocks = [&all, &half, &third, &one, &none].map(|store| work(store, &queries).blocks);
    assert!(blocks.is_sorted() && 2 * blocks[0] < blocks[2] && 2 * blocks[1] < blocks[4], "{blocks:?}");
    for store in [&half, &third, &one] {
        compare(store, &records, &queries[..60], 0..=4, "filters of fewer bits");
    }
}

#[test]
fn half_of_the_memory_that_is_available_unless_it_is_said() {
    let records = numbered(&uniform(100_000, 39));
    let fixture = Fixture::new(ReadMode::Mmap);
    let wanted = fixture.load(&Parameters::new(3), &records, 1).statistics().filter_bytes;
    let env = Failing::new(Arc::new(fixture.env.clone()), 0..0).with_available_memory(wanted);
    let options = fixture.options.clone().with_env(Arc::new(env)).with_filters(Filters::AtOpen);
    let half = <Store>::open_read_only(&fixture.path, &options).unwrap();
    let [.., budget] = of(&half);
    assert_eq!(budget, wanted / 2);
    assert!(half.filter_bytes() <= budget && half.filter_bytes() + 2 * 64 > budget);
    let expected = of(&half);
    drop(half);
    let written = <Store>::open(&fixture.path, &options).unwrap();
    assert_eq!(of(&written), expected, "of a store that is written too");
    drop(written);
    let said = <Store>::open_read_only(&fixture.path, &options.with_filter_memory(wanted)).unwrap();
    assert_eq!(of(&said), [wanted, wanted, 0, 0, wanted]);
}

#[test]
fn in_the_background_they_are_made_after_the_first_queries() {
    /// Queries before them.
    const FEW: usize = 256;
    let values = uniform(200_000, 47);
    let (first, second) = values.split_at(100_000);
    let fixture = Fixture::new(ReadMode::Mmap);
    let store = fixture.load(&Parameters::new(3), &numbered(first), 1);
    store.bulk_load(Records::WithIds(numbered(second))).unwrap();
    let ask = |query| drop(store.query(query, 3).unwrap());
    // Queries of a searcher and of the store count alike, and so do threads.
    let mut searcher = store.searcher();
    values[..FEW / 2].iter().for_each(|&query| drop(searcher.query(query, 2).unwrap()));
    thread::scope(|scope| drop(scope.spawn(|| values[..FEW / 2 - 1].iter().copied().for_each(ask))));
    assert_eq!(of(&store)[1], 0);
    ask(7);
    let begun = Instant::now();
    while of(&store)[1] < of(&store)[0] {
        assert!(begun.elapsed() < Duration::from_secs(60), "the filters are made");
        thread::yield_now();
    }
    // A store that refused them has none after these queries either.
    let refusing = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    refusing.make_filters(Filters::Off);
    values[..=FEW].iter().for_each(|&query| drop(refusing.query(query, 3).unwrap()));
    refusing.wait_for_filters();
    assert_eq!(of(&refusing)[1], 0);
    // Of later segments they are made at once.
    store.bulk_load(Records::WithIds(numbered(&uniform(50_000, 48)))).unwrap();
    store.wait_for_filters();
    assert_eq!(of(&store)[0], of(&store)[1]);
}

#[test]
fn filters_that_are_there_count_and_those_of_merged_segments_do_not() {
    let records = numbered(&uniform(240_000, 40));
    let mut fixture = Fixture::new(ReadMode::Mmap);
    // Both halves have equal filters, together as large as those of the merged segment.
    let one = fixture.load(&Parameters::new(3), &records[..120_000], 1).statistics().filter_bytes;
    fixture = Fixture::new(ReadMode::Mmap);
    fixture.options = fixture.options.with_filters(Filters::AtOpen).with_filter_memory(2 * one);
    let store = fixture.load(&Parameters::new(3), &records, 2);
    assert_eq!(of(&store), [2 * one, 2 * one, 0, 0, 2 * one]);
    assert!(store.compact().unwrap());
    store.wait_for_filters();
    assert_eq!(of(&store), [2 * one, 2 * one, 0, 0, 2 * one], "filters of segments that were merged still count");
    store.bulk_load(Records::WithIds(numbered(&uniform(100_000, 41)))).unwrap();
    store.wait_for_filters();
    let [wanted, built, refused, ..] = of(&store);
    assert_eq!((built, refused), (2 * one, wanted - 2 * one), "nothing is left for the second segment");
    assert!(refused > 0);
}

#[test]
fn a_panic_while_a_filter_is_made_does_not_keep_the_store_waiting() {
    let records = numbered(&uniform(100_000, 42));
    let fixture = Fixture::new(ReadMode::Pread);
    drop(fixture.load(&Parameters::new(3), &records, 1));
    let has_panicked = AtomicBool::new(false);
    let env = Hooked::behind(Arc::new(fixture.env.clone()), move |op, _| {
        let is_for_filter = op == Op::Read && thread::current().name() == Some("fpstore filters");
        assert!(!is_for_filter || has_panicked.swap(true, Ordering::Relaxed), "made to panic");
        Ok(())
    });
    let options = fixture.options.clone().with_env(env).with_filters(Filters::AtOpen);
    let (sender, receiver) = channel();
    // A separate thread, so that a deadlock fails the test.
    let path = fixture.path.clone();
    thread::spawn(move || {
        let store = <Store>::open_read_only(path, &options).unwrap();
        store.wait_for_filters();
        sender.send(store).unwrap();
    });
    let store = receiver.recv_timeout(Duration::from_secs(60)).expect("the filters are waited for");
    let [wanted, built, refused, failed, _] = of(&store);
    assert_eq!((built, refused, failed), (wanted / 2, 0, wanted / 2));
    compare(&store, &records, &queries(&uniform(100_000, 42))[..20], 0..=3, "a filter that is missing after a panic");
    // Requesting filters again retries.
    store.make_filters(Filters::AtOpen);
    assert_eq!(of(&store)[1..4], [wanted, 0, 0]);
}

#[test]
fn small_stores_have_none() {
    let store = store_of(&Parameters::new(3), &numbered(&uniform(4000, 36)), 1, ReadMode::Mmap);
    assert_eq!(store.statistics().filter_bytes, 0);
}

#[test]
fn a_damaged_table_has_no_filter_and_says_so_when_asked() {
    let records: Vec<Record> = numbered(&uniform(100_000, 37));
    let mut fixture = Fixture::new(ReadMode::Pread);
    drop(fixture.load(&Parameters::new(3), &records, 1));
    fixture.damage(5000);
    fixture.options = fixture.options.with_filters(Filters::AtOpen);
    let store = <Store>::open_read_only(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.filter_bytes() * 2, store.statistics().filter_bytes);
    let filters = store.statistics().filters;
    assert_eq!((filters.failed_bytes, filters.refused_bytes), (filters.built_bytes, 0));
    let failed = records.iter().step_by(97).filter(|record| store.query(record.fingerprint, 3).is_err()).count();
    assert!(failed > 0);
    // One searcher for all: a failed query must not affect the next one.
    let mut searcher = store.searcher();
    let again = records.iter().step_by(97).filter(|record| searcher.query(record.fingerprint, 3).is_err()).count();
    assert_eq!(again, failed);
}
