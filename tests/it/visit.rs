//! Visiting the matches of a query one by one, in little memory: the same matches as all at once.

use crate::points::every;
use crate::support::{DESIGNS, Fixture, MODES, Random, expected, families, numbered, store_of};
use fpstore::{Durability, Fingerprint, Id, IdKind, Match, Parameters, ReadMode, Record, Records, Store, Visit};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The visited matches, up to a maximum.
fn visited<F: Fingerprint>(store: &Store<F>, query: F, how: &Visit, most: usize) -> Vec<Match<F>> {
    let mut found = Vec::new();
    let ended = store.searcher().visit(query, how, |one| {
        found.push(one);
        if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!(ended.unwrap().is_break(), found.len() == most);
    found
}

#[test]
fn every_design_distance_and_memory() {
    let values = families(100, 20, 2);
    let records = numbered(&values);
    for (number, design) in DESIGNS.into_iter().enumerate() {
        let store = store_of(&Parameters::new(3).with_design(design), &records, 3, ReadMode::Mmap);
        // A short run takes one distance for each design.
        for k in every(6, [0, 2, 3, 5, 12, 64].into_iter().cycle().skip(number).take(6)) {
            for query in values.iter().step_by(397).map(|value| value ^ 5) {
                let all = expected(&records, query, k);
                for how in [Visit::within(k), Visit::within(k).with_scan(true), Visit::within(k).with_wanted(2)] {
                    for how in [how, how.with_memory(0)] {
                        assert_eq!(visited(&store, query, &how, usize::MAX), all, "{design}, {how:?}");
                        let few = visited(&store, query, &how, 3);
                        assert_eq!(few, all[..all.len().min(3)], "{design}, {how:?}");
                        assert_eq!(store.searcher().count(query, &how).unwrap(), all.len() as u64);
                    }
                }
            }
        }
    }
    let store = store_of(&Parameters::new(3), &records, 1, ReadMode::Mmap);
    assert!(store.searcher().visit(0, &Visit::within(65), |_| ControlFlow::Continue(())).is_err());
}

fn id(kind: IdKind, number: u64) -> Id {
    match kind {
        IdKind::Text => Id::from(format!("https://example.org/{number:09}").as_str()),
        _ => Id::Number(number),
    }
}

/// More ids of one fingerprint than one read returns, in several segments with different entries for them.
#[test]
fn very_many_records_some_of_them_removed() {
    const HEAVY: u64 = 77;
    for kind in [IdKind::Number, IdKind::Text] {
        let fixture = Fixture::new(ReadMode::Mmap);
        let parameters = Parameters::new(3).with_ids(kind);
        let records = |from: u64, to: u64, step: usize| -> Vec<Record> {
            (from..to).step_by(step).map(|n| Record { fingerprint: HEAVY, id: id(kind, n) }).collect()
        };
        let mut model: BTreeMap<u64, bool> = BTreeMap::new();
        drop(fixture.load(&parameters, &[Record { fingerprint: 78, id: id(kind, 5) }], 1));
        let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
        let check = |model: &BTreeMap<u64, bool>| {
            let query = HEAVY ^ 1;
            let of_heavy = |number: &u64| Match { distance: 1, fingerprint: HEAVY, id: id(kind, *number) };
            let mut all: Vec<Match> = model.iter().filter(|one| *one.1).map(|one| of_heavy(one.0)).collect();
            all.push(Match { distance: (78 ^ query).count_ones(), fingerprint: 78, id: id(kind, 5) });
            all.sort();
            assert!(visited(&store, query, &Visit::within(3), usize::MAX) == all, "{kind:?}");
            assert!(visited(&store, query, &Visit::within(3), 70_000) == all[..all.len().min(70_000)], "{kind:?}");
            assert_eq!(store.searcher().count(query, &Visit::within(3)).unwrap(), all.len() as u64);
        };
        store.bulk_load(Records::WithIds(records(0, 90_000, 1))).unwrap();
        (0..90_000).for_each(|number| _ = model.insert(number, true));
        check(&model);
        store.bulk_load(Records::WithIds(records(60_000, 160_000, 3))).unwrap();
        (60_000..160_000).step_by(3).for_each(|number| _ = model.insert(number, true));
        check(&model);
        store.bulk_remove(Records::WithIds(records(50_000, 120_000, 7))).unwrap();
        (50_000..120_000).step_by(7).for_each(|number| _ = model.insert(number, false));
        check(&model);
        store.bulk_load(Records::WithIds(records(50_000, 60_000, 14))).unwrap();
        (50_000..60_000).step_by(14).for_each(|number| _ = model.insert(number, true));
        check(&model);
    }
}

/// Batches that are merged in little memory, or refused.
#[test]
fn batches_in_any_memory() {
    let values = families(300, 20, 4);
    let mut random = Random(9);
    let queries: Vec<u64> = (0..3000).map(|_| values[random.below(values.len() as u64) as usize] ^ 2).collect();
    let cases = MODES.into_iter().flat_map(|mode| IdKind::ALL.map(|kind| (mode, kind)));
    // A short run takes one kind of ids.
    for (mode, kind) in every(6, cases) {
        let mut records = numbered(&values);
        if kind == IdKind::Text {
            records.iter_mut().for_each(|record| record.id = id(kind, record.id.number().unwrap()));
        }
        let store = Fixture::new(mode).load(&Parameters::new(3).with_ids(kind), &records, 3);
        let one_by_one = queries.iter().map(|&query| store.query(query, 3)).collect::<Result<Vec<_>, _>>().unwrap();
        let (mut fitted, mut refused) = (0, 0);
        for memory in [0, 1 << 10, 1 << 16, 1 << 20, 1 << 22, 1 << 30] {
            let mut answers = Vec::new();
            let make = |first, some: Vec<Option<Vec<Match>>>| (first, some);
            let fits = store.searcher().visit_batch(&queries, 3, memory, make, |(first, some)| {
                assert_eq!(first, answers.len());
                answers.extend(some.into_iter().map(Option::unwrap));
                Ok::<_, fpstore::Error>(())
            });
            if fits.unwrap() {
                assert!(answers == one_by_one, "{kind:?} {memory}");
                fitted += 1;
            } else {
                assert!(answers.is_empty());
                refused += 1;
            }
        }
        assert!(fitted > 0 && refused > 1, "{fitted} {refused}");
    }
}

/// A batch leaves them out for queries near a fingerprint with very many records, and answers the others.
#[test]
fn batches_near_very_many_records() {
    const HEAVY: u64 = 0x0f0f << 24;
    let heavy = (0..700_000).map(|number| Record { fingerprint: HEAVY, id: Id::Number(number) });
    let [before, after] = [HEAVY ^ 1 << 30, HEAVY ^ 1 << 40];
    let others = [before, before, after].into_iter().zip(700_000..);
    let mut records: Vec<Record> = others.map(|(fingerprint, id)| Record::new(fingerprint, id)).collect();
    let queries = [before ^ 7, HEAVY ^ 1, after ^ 7, HEAVY ^ 6, before ^ 7];
    let light = [0, 2, 4].map(|at| (at, expected(&records, queries[at], 3)));
    records.extend(heavy);
    let store = store_of(&Parameters::new(3), &records, 1, ReadMode::Mmap);
    let mut answers = Vec::new();
    let fits = store.searcher().visit_batch(
        &queries,
        3,
        1 << 30,
        |_, some| some,
        |some| {
            answers.extend(some);
            Ok::<_, fpstore::Error>(())
        },
    );
    assert!(fits.unwrap());
    assert_eq!(answers.len(), queries.len());
    for (at, expected) in light {
        assert!(!expected.is_empty() && answers[at].as_ref() == Some(&expected), "query {at}");
    }
    assert!(answers[1].is_none() && answers[3].is_none());
    // One more record of the fingerprint in another segment, where it has no others.
    store.bulk_load(Records::WithIds(vec![Record::new(HEAVY, Id::Number(1 << 40))])).unwrap();
    let mut again = Vec::new();
    let take = |some: Vec<Option<Vec<Match>>>| {
        again.extend(some);
        Ok::<_, fpstore::Error>(())
    };
    assert!(store.searcher().visit_batch(&queries, 3, 1 << 30, |_, some| some, take).unwrap());
    assert!(again == answers);
}

/// Answers of merged segments, of tombstones and of records in memory, of numbers and of texts.
#[test]
fn batches_of_a_live_store() {
    let values = families(200, 20, 5);
    let queries: Vec<u64> = values.iter().step_by(3).map(|value| value ^ 4).collect();
    for kind in [IdKind::Number, IdKind::Text] {
        let records: Vec<Record> = values.iter().zip(0..).map(|(&value, n)| Record::new(value, id(kind, n))).collect();
        let (loaded, written) = records.split_at(records.len() / 2);
        let store = Fixture::new(ReadMode::Mmap).load(&Parameters::new(3).with_ids(kind), loaded, 2);
        let removed: Vec<Record> = loaded.iter().step_by(5).cloned().collect();
        store.bulk_remove(Records::WithIds(removed.clone())).unwrap();
        for record in written {
            store.insert(record.fingerprint, &record.id, Durability::Buffered).unwrap();
        }
        let left: Vec<Record> = records.iter().filter(|record| !removed.contains(record)).cloned().collect();
        let mut answers = Vec::new();
        let take = |some: Vec<Option<Vec<Match>>>| {
            answers.extend(some.into_iter().map(Option::unwrap));
            Ok::<_, fpstore::Error>(())
        };
        assert!(store.searcher().visit_batch(&queries, 3, 1 << 30, |_, some| some, take).unwrap());
        assert_eq!(answers.len(), queries.len());
        for (&query, answer) in queries.iter().zip(&answers) {
            assert_eq!(answer, &expected(&left, query, 3), "{kind:?}");
        }
    }
}

/// The lists of what was found are small if all queries are near the same fingerprint, and the answers are large.
#[test]
fn equal_queries_are_refused_before_their_answers_exceed_the_memory() {
    const FINGERPRINT: u64 = 0x0f0f << 24;
    for kind in [IdKind::Number, IdKind::Text] {
        let records: Vec<Record> = (0..500).map(|number| Record::new(FINGERPRINT, id(kind, number))).collect();
        let store = store_of(&Parameters::new(3).with_ids(kind), &records, 1, ReadMode::Mmap);
        // One query with a large answer is not many.
        for (queries, memory, fits) in [(16_000, 32 << 20, false), (16_000, 8 << 30, true), (1, 32 << 20, true)] {
            let mut found = 0;
            let take = |some: usize| {
                found += some;
                Ok::<_, fpstore::Error>(())
            };
            let count = |_, some: Vec<Option<Vec<Match>>>| some.iter().flatten().map(Vec::len).sum();
            let queries = vec![FINGERPRINT ^ 5; queries];
            let answered = store.searcher().visit_batch(&queries, 3, memory, count, take).unwrap();
            assert_eq!((answered, found), (fits, if fits { queries.len() * 500 } else { 0 }), "{kind:?} {memory}");
        }
    }
}
