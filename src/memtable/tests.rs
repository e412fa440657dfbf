use super::*;
use crate::fingerprint::{Entry, Fingerprint, Id, IdKind, Record, U256, to_words};
use crate::format::Parameters;
use crate::plan::{Design, Random};
use crate::query_stats::QueryStats;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Fingerprints in families: some near others, some equal.
fn families<F: Fingerprint>(count: usize, seed: u64) -> Vec<F> {
    let mut random = Random(seed);
    let mut all: Vec<F> = Vec::new();
    while all.len() < count {
        let fresh = F::from_words(|_| random.next());
        let mut one = all.get(random.next() as usize % (2 * all.len() + 1)).copied().unwrap_or(fresh);
        for _ in 0..random.next() % 5 {
            one = one.flipped(random.next() as u32 % F::WIDTH);
        }
        all.push(one);
    }
    all
}

fn memtable(parameters: &Parameters, records: usize) -> Memtable {
    let shape = Arc::new(MemtableShape::new(parameters, 0).unwrap());
    Memtable::new(&shape, records).unwrap()
}

/// The fingerprints found within `k`, ascending, each once.
fn found<F: Fingerprint>(memtable: &Memtable, visible: u32, query: F, k: u32) -> Vec<F> {
    let plan = MemtablePlan::new(&memtable.shape, k);
    let mut found = Vec::new();
    let (mut scratch, mut stats) = (MemtableScratch::default(), QueryStats::default());
    let all = memtable.search(visible, (query, k), &plan, &mut scratch, &mut stats, |entry, fingerprint| {
        assert_eq!(memtable.fingerprint::<F>(entry), fingerprint);
        found.push(fingerprint);
        ControlFlow::<()>::Continue(())
    });
    assert!(all.is_continue());
    found.sort_unstable();
    found.dedup();
    found
}

fn finds_all<F: Fingerprint>(parameters: &Parameters, count: usize) {
    let all = families::<F>(count, 7);
    let memtable = memtable(parameters, count);
    let half = count / 2;
    for (number, &fingerprint) in all.iter().enumerate() {
        memtable.push(fingerprint, &Id::Number(number as u64), false).unwrap();
        if number + 1 == half {
            memtable.publish();
        }
    }
    let early = memtable.visible();
    assert_eq!(early as usize, half);
    memtable.publish();
    let mut random = Random(99);
    for k in [0, 1, parameters.max_distance(), parameters.max_distance() + 2, F::WIDTH] {
        for step in 0..40 {
            let mut query = all[step * 131 % count];
            for _ in 0..step % 4 {
                query = query.flipped(random.next() as u32 % F::WIDTH);
            }
            for (visible, among) in [(early, &all[..half]), (memtable.visible(), &all[..])] {
                let mut expected: Vec<F> = among.iter().copied().filter(|one| one.distance(query) <= k).collect();
                expected.sort_unstable();
                expected.dedup();
                assert_eq!(found(&memtable, visible, query, k), expected, "within {k} at {visible}");
            }
        }
    }
}

#[test]
fn everything_near_is_found_at_every_moment_with_every_design() {
    for design in Design::LISTED {
        finds_all::<u64>(&Parameters::new(3).with_design(design), 3000);
    }
    finds_all::<u64>(&Parameters::new(3), 20_000);
    finds_all::<u128>(&Parameters::new(7).with_width(128).with_design(Design::Tables { parts: 4 }), 3000);
    finds_all::<U256>(&Parameters::new(31).with_width(256).with_design(Design::Tables { parts: 16 }), 9000);
}

#[test]
fn the_newest_visible_entry_counts_at_every_moment() {
    for ids in [IdKind::Number, IdKind::Text] {
        let parameters = Parameters::new(3).with_ids(ids).with_id_index(true);
        let memtable = memtable(&parameters, 4000);
        let (mut random, mut model) = (Random(5), BTreeMap::new());
        let mut moments = Vec::new();
        for step in 0..4000 {
            let (fingerprint, number) = (random.next() % 50, random.next() % 9);
            let id = if ids == IdKind::Text { Id::Text(format!("id {number}").into()) } else { Id::Number(number) };
            let removed = random.next().is_multiple_of(3);
            memtable.push(fingerprint, &id, removed).unwrap();
            model.insert(Record { fingerprint, id }, removed);
            if step % 500 == 3 {
                memtable.publish();
                moments.push((memtable.visible(), model.clone()));
            }
        }
        let one_more = Entry { record: Record::new(to_words(1u64), 1), is_tombstone: false };
        assert!(!memtable.has_space(&[one_more]));
        for (visible, model) in moments {
            let expected: Vec<Entry> = model
                .iter()
                .map(|(record, &removed)| Entry { record: record.clone(), is_tombstone: removed })
                .collect();
            assert_eq!(memtable.entries(visible), expected);
            for (record, removed) in model {
                let mut entries = memtable.entries_of_id(&record.id, visible);
                assert!(removed || entries.any(|entry| memtable.fingerprint::<u64>(entry) == record.fingerprint));
                let entry = memtable.find(record.fingerprint).unwrap();
                assert_eq!(memtable.is_removed(entry, &record.id, visible), Some(removed));
                assert_eq!(memtable.live_ids_of(entry, visible).any(|id| id == record.id), !removed);
            }
            assert_eq!(memtable.find(99u64), None);
        }
    }
}

/// The most links that one write or one look-up of a fingerprint or a record follows, in a memtable of this many
/// records.
fn most_steps(records: u64, write: impl Fn(u64) -> (u64, u64, bool)) -> u64 {
    let memtable = memtable(&Parameters::new(3).with_id_index(true), records as usize);
    let mut most = 0;
    let mut count = |work: &mut dyn FnMut()| {
        let before = buckets::STEPS.get();
        work();
        most = most.max(buckets::STEPS.get() - before);
    };
    for number in 0..records {
        let (fingerprint, id, removed) = write(number);
        count(&mut || memtable.push(fingerprint, &Id::Number(id), removed).unwrap());
    }
    memtable.publish();
    let visible = memtable.visible();
    for number in (0..records).step_by(7) {
        let (fingerprint, id, _) = write(number);
        count(&mut || assert!(memtable.find(fingerprint).is_some()));
        let entry = memtable.find(fingerprint).unwrap();
        count(&mut || assert!(memtable.is_removed(entry, &Id::Number(id), visible).is_some()));
    }
    most
}

#[test]
fn look_ups_take_few_steps_with_records_of_any_kind() {
    const FEW: u64 = 150;
    let spread = |number: u64| Random(number).next();
    for records in [1000, 8000] {
        assert!(most_steps(records, |number| (number, number, false)) < FEW, "fingerprints of one prefix");
        assert!(most_steps(records, |number| (number << 40, number, false)) < FEW, "fingerprints of another prefix");
        assert!(most_steps(records, |number| (7, number, false)) < FEW, "records of one fingerprint");
        assert!(most_steps(records, |number| (spread(number), number, number % 2 == 1)) < FEW, "any");
    }
}

#[test]
fn an_id_that_is_often_replaced_has_a_short_list() {
    let memtable = memtable(&Parameters::new(3).with_id_index(true), 30_000);
    let id = Id::Number(7);
    memtable.push(1u64, &id, false).unwrap();
    for number in 0..5000u64 {
        // A replacement, then a record that comes and goes, then a repeated one.
        memtable.push(number + 1, &id, true).unwrap();
        memtable.push(number + 2, &id, false).unwrap();
        memtable.push(1u64 << 40, &id, false).unwrap();
        memtable.push(1u64 << 40, &id, true).unwrap();
        memtable.push(number + 2, &id, false).unwrap();
    }
    let early = memtable.pushed.load(Ordering::Relaxed);
    memtable.push(5001u64, &id, true).unwrap();
    memtable.publish();
    let found = |visible| memtable.entries_of_id(&id, visible).map(|entry| memtable.fingerprint(entry)).collect();
    let before = buckets::STEPS.get();
    let (early, now): (Vec<u64>, Vec<u64>) = (found(early), found(memtable.visible()));
    assert_eq!((&early[..1], &now[..]), (&[5001][..], &[][..]));
    assert!(early.len() < 4 && buckets::STEPS.get() - before < 20, "{early:?}");
}

#[test]
fn counts_are_added_up() {
    let memtable = memtable(&Parameters::new(3).with_ids(IdKind::None), 100);
    for (fingerprint, count, removed) in [(7u64, 5, false), (7, 2, true), (8, 1, false), (8, 1, true), (9, 4, true)] {
        memtable.push(fingerprint, &Id::Count(count), removed).unwrap();
    }
    memtable.publish();
    let entry = |fingerprint: u64, count, removed| Entry {
        record: Record { fingerprint, id: Id::Count(count) },
        is_tombstone: removed,
    };
    assert_eq!(memtable.entries(memtable.visible()), [entry(7, 3, false), entry(9, 4, true)]);
    // No store has such counts, but they do not overflow.
    (0..2).for_each(|_| memtable.push(10u64, &Id::Count(u64::MAX), false).unwrap());
    memtable.publish();
    let expected = [entry(7, 3, false), entry(9, 4, true), entry(10, u64::MAX, false)];
    assert_eq!(memtable.entries(memtable.visible()), expected);
}

#[test]
fn readers_see_batches_whole_while_another_thread_writes() {
    const BATCH: u64 = 5;
    // Miri is some thousand times slower.
    const BATCHES: u64 = if cfg!(miri) { 30 } else { 10_000 };
    let parameters = Parameters::new(3);
    let memtable = memtable(&parameters, (BATCHES * BATCH) as usize);
    let plan = MemtablePlan::new(&memtable.shape, 3);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for batch in 0..BATCHES {
                // A batch has one fingerprint; those of all batches are spread over the buckets.
                let fingerprint = batch.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (0..BATCH).for_each(|id| memtable.push(fingerprint, &Id::Number(id), false).unwrap());
                memtable.publish();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut scratch, mut stats, mut own) = (MemtableScratch::default(), QueryStats::default(), Vec::new());
                while u64::from(memtable.visible()) < BATCHES * BATCH {
                    let visible = memtable.visible();
                    assert_eq!(u64::from(visible) % BATCH, 0);
                    // The newest batch, and the next one, which is not visible yet.
                    for (batch, seen) in [(u64::from(visible) / BATCH).wrapping_sub(1), u64::from(visible) / BATCH]
                        .into_iter()
                        .zip([true, false])
                    {
                        let query = batch.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 1;
                        let mut records = None;
                        let _ = memtable.search(visible, (query, 1), &plan, &mut scratch, &mut stats, |entry, _| {
                            memtable.entries_of(entry, visible, &mut own);
                            records = Some(own.len() as u64);
                            ControlFlow::<()>::Continue(())
                        });
                        if batch < BATCHES {
                            assert_eq!(records, seen.then_some(BATCH), "{batch} at {visible}");
                        }
                    }
                }
            });
        }
    });
}
