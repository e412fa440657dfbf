use super::*;
use crate::fingerprint::{IdKind, Mention, Record, U256};
use crate::format::Parameters;
use crate::plan::Design;
use crate::search::Work;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fingerprints in families: some near others, some equal.
fn families<F: Fingerprint>(count: usize, seed: u64) -> Vec<F> {
    let mut state = seed;
    let mut all: Vec<F> = Vec::new();
    while all.len() < count {
        let fresh = F::from_words(|_| random(&mut state));
        let mut one = all.get(random(&mut state) as usize % (2 * all.len() + 1)).copied().unwrap_or(fresh);
        for _ in 0..random(&mut state) % 5 {
            one = one.flipped(random(&mut state) as u32 % F::WIDTH);
        }
        all.push(one);
    }
    all
}

fn memtable<F: Fingerprint>(parameters: &Parameters, records: usize) -> Memtable<F> {
    let shape = Arc::new(MemtableShape::new(parameters, 0).unwrap());
    Memtable::new(&shape, records).unwrap()
}

/// What is found within `k`, in order, each once.
fn found<F: Fingerprint>(memtable: &Memtable<F>, visible: u32, query: F, k: u32) -> Vec<F> {
    let plan = MemtablePlan::new(&memtable.shape, k);
    let mut found = Vec::new();
    let (mut scratch, mut work) = (MemtableScratch::default(), Work::default());
    let all = memtable.search(visible, (query, k), &plan, &mut scratch, &mut work, |entry, fingerprint| {
        assert_eq!(memtable.fingerprint(entry), fingerprint);
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
    let memtable = memtable::<F>(parameters, count);
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
    let mut state = 99;
    for k in [0, 1, parameters.max_distance(), parameters.max_distance() + 2, F::WIDTH] {
        for step in 0..40 {
            let mut query = all[step * 131 % count];
            for _ in 0..step % 4 {
                query = query.flipped(random(&mut state) as u32 % F::WIDTH);
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
fn the_last_word_counts_at_every_moment() {
    for ids in [IdKind::Number, IdKind::Text] {
        let parameters = Parameters::new(3).with_ids(ids).with_id_index(true);
        let memtable = memtable::<u64>(&parameters, 4000);
        let (mut state, mut model) = (5, BTreeMap::new());
        let mut moments = Vec::new();
        for step in 0..4000 {
            let (fingerprint, number) = (random(&mut state) % 50, random(&mut state) % 9);
            let id = if ids == IdKind::Text { Id::Text(format!("id {number}").into()) } else { Id::Number(number) };
            let removed = random(&mut state).is_multiple_of(3);
            memtable.push(fingerprint, &id, removed).unwrap();
            model.insert(Record { fingerprint, id }, removed);
            if step % 500 == 3 {
                memtable.publish();
                moments.push((memtable.visible(), model.clone()));
            }
        }
        let one_more = Mention { record: Record::new(1, 1), removed: false };
        assert!(!memtable.has_room(&[one_more]));
        for (visible, model) in moments {
            let expected: Vec<Mention> =
                model.iter().map(|(record, &removed)| Mention { record: record.clone(), removed }).collect();
            assert_eq!(memtable.mentions(visible), expected);
            for (record, _) in model {
                let entries = memtable.entries_of_id(&record.id, visible);
                assert!(entries.map(|entry| memtable.fingerprint(entry)).any(|found| found == record.fingerprint));
            }
        }
    }
}

#[test]
fn counts_are_added_up() {
    let memtable = memtable::<u64>(&Parameters::new(3).with_ids(IdKind::None), 100);
    for (fingerprint, count, removed) in [(7, 5, false), (7, 2, true), (8, 1, false), (8, 1, true), (9, 4, true)] {
        memtable.push(fingerprint, &Id::Count(count), removed).unwrap();
    }
    memtable.publish();
    let mention =
        |fingerprint, count, removed| Mention { record: Record { fingerprint, id: Id::Count(count) }, removed };
    assert_eq!(memtable.mentions(memtable.visible()), [mention(7, 3, false), mention(9, 4, true)]);
    // No store counts so far; nothing overflows all the same.
    (0..2).for_each(|_| memtable.push(10, &Id::Count(u64::MAX), false).unwrap());
    memtable.publish();
    assert_eq!(memtable.counts(memtable.visible()), (u64::MAX, 7));
}

#[test]
fn readers_see_batches_whole_while_somebody_writes() {
    const BATCH: u64 = 5;
    // Miri is some thousand times slower.
    const BATCHES: u64 = if cfg!(miri) { 30 } else { 10_000 };
    let parameters = Parameters::new(3);
    let memtable = memtable::<u64>(&parameters, (BATCHES * BATCH) as usize);
    let plan = MemtablePlan::new(&memtable.shape, 3);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for batch in 0..BATCHES {
                // All of a batch have the same fingerprint, spread over all buckets from batch to batch.
                let fingerprint = batch.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (0..BATCH).for_each(|id| memtable.push(fingerprint, &Id::Number(id), false).unwrap());
                memtable.publish();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut scratch, mut work, mut own) = (MemtableScratch::default(), Work::default(), Vec::new());
                while u64::from(memtable.visible()) < BATCHES * BATCH {
                    let visible = memtable.visible();
                    assert_eq!(u64::from(visible) % BATCH, 0);
                    // The newest batch there is, and the one after it, which is not there yet.
                    for (batch, seen) in [(u64::from(visible) / BATCH).wrapping_sub(1), u64::from(visible) / BATCH]
                        .into_iter()
                        .zip([true, false])
                    {
                        let query = batch.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 1;
                        let mut records = None;
                        let _ = memtable.search(visible, (query, 1), &plan, &mut scratch, &mut work, |entry, _| {
                            own.clear();
                            memtable.mentions_of(entry, visible, &mut own);
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
