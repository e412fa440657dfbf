//! Tries every order in which a writing thread and readers may see each other's writes, with loom
//! (<https://docs.rs/loom>): `RUSTFLAGS="--cfg fpstore_loom" cargo test -p fpstore --lib memtable::checked`.

use super::table::*;
use super::*;
use crate::format::Parameters;
use crate::memtable::{MemtablePlan, MemtableScratch};
use crate::plan::Design;
use crate::query_stats::QueryStats;
use loom::thread;
use std::ops::ControlFlow;

/// A fingerprint, one near it, and one in the same chains of some tables.
const HERE: u64 = 0x0123_4567_89ab_cdef;
const NEAR: u64 = HERE ^ 1;
const BESIDE: u64 = HERE ^ 0xffff;

fn memtable() -> Arc<Memtable> {
    let parameters = Parameters::new(1).with_design(Design::Tables { parts: 2 }).with_id_index(true);
    let shape = Arc::new(MemtableShape::new(&parameters, 0).unwrap());
    Arc::new(Memtable::new(&shape, 0).unwrap())
}

fn push(memtable: &Memtable, batch: &[(u64, u64, bool)]) {
    for &(fingerprint, id, is_tombstone) in batch {
        memtable.push(fingerprint, &Id::Number(id), is_tombstone).unwrap();
    }
    memtable.publish();
}

/// The visible fingerprints within distance 1 of [`HERE`] with their ids, by probing or by a scan.
fn found(memtable: &Memtable, visible: u32, scans: bool) -> Vec<(u64, Vec<u64>)> {
    let mut plan = if scans { MemtablePlan::scan() } else { MemtablePlan::new(&memtable.shape, 1) };
    // With so few fingerprints, the search would scan.
    plan.masks = 0;
    let (mut found, mut entries) = (Vec::new(), Vec::new());
    let (mut scratch, mut stats) = (MemtableScratch::default(), QueryStats::default());
    let _ = memtable.search(visible, (HERE, 1), &plan, &mut scratch, &mut stats, |entry, fingerprint| {
        memtable.entries_of(entry, visible, &mut entries);
        let ids =
            entries.drain(..).filter(|(_, is_tombstone)| !is_tombstone).filter_map(|(id, _)| id.number()).collect();
        found.push((fingerprint, ids));
        ControlFlow::<()>::Continue(())
    });
    found.sort_unstable();
    found.dedup();
    found
}

/// One thread writes the batches while another reads twice. Each read must see the state of one moment, the second not
/// an earlier one.
fn check(batches: &'static [&'static [(u64, u64, bool)]], scans: bool) {
    loom::model(move || {
        let memtable = memtable();
        let writer = {
            let memtable = Arc::clone(&memtable);
            thread::spawn(move || batches.iter().for_each(|batch| push(&memtable, batch)))
        };
        let mut before = 0;
        for _ in 0..2 {
            let visible = memtable.visible();
            assert!(visible >= before);
            before = visible;
            assert_eq!(found(&memtable, visible, scans), expected(batches, visible));
            let mut by_id: Vec<u64> =
                memtable.entries_of_id(&Id::Number(1), visible).map(|entry| memtable.fingerprint(entry)).collect();
            by_id.sort_unstable();
            let mut written = std::collections::BTreeMap::new();
            for &(fingerprint, id, is_tombstone) in
                batches.concat().iter().take(visible as usize).filter(|one| one.1 == 1)
            {
                written.insert(fingerprint, is_tombstone);
                let entry = memtable.find(fingerprint).unwrap();
                assert!(memtable.is_removed(entry, &Id::Number(id), visible).is_some());
            }
            let live: Vec<u64> = written.into_iter().filter(|one| !one.1).map(|one| one.0).collect();
            assert_eq!(by_id, live);
        }
        writer.join().unwrap();
    });
}

/// The near fingerprints after whole batches of this many records.
fn expected(batches: &[&[(u64, u64, bool)]], visible: u32) -> Vec<(u64, Vec<u64>)> {
    let ends: Vec<usize> = batches
        .iter()
        .scan(0, |sum, batch| {
            *sum += batch.len();
            Some(*sum)
        })
        .collect();
    assert!(visible == 0 || ends.contains(&(visible as usize)), "a part of a batch is visible");
    let mut near = std::collections::BTreeMap::<u64, std::collections::BTreeSet<u64>>::new();
    for &(fingerprint, id, is_tombstone) in batches.concat().iter().take(visible as usize) {
        if (fingerprint ^ HERE).count_ones() <= 1 {
            let ids = near.entry(fingerprint).or_default();
            if is_tombstone {
                ids.remove(&id)
            } else {
                ids.insert(id)
            };
        }
    }
    near.into_iter().map(|(fingerprint, ids)| (fingerprint, ids.into_iter().collect())).collect()
}

#[test]
fn new_fingerprints_are_seen_whole_or_not_at_all() {
    for scans in [false, true] {
        check(&[&[(HERE, 1, false)], &[(BESIDE, 2, false), (NEAR, 1, false)]], scans);
    }
}

#[test]
fn the_newest_visible_entry_counts() {
    for scans in [false, true] {
        check(&[&[(HERE, 1, false)], &[(HERE, 2, false), (HERE, 1, true)]], scans);
    }
}

#[test]
fn two_readers_of_the_latest_state() {
    loom::model(|| {
        let memtable = memtable();
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let memtable = Arc::clone(&memtable);
                thread::spawn(move || {
                    let visible = memtable.visible();
                    assert_eq!(found(&memtable, visible, false).len() as u32, visible);
                })
            })
            .collect();
        push(&memtable, &[(HERE, 1, false)]);
        push(&memtable, &[(NEAR, 1, false)]);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}
