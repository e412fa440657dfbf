//! The exact number of records, after repeated and redundant writes.

use crate::support::*;
use fpstore::admin::BackupMode;
use fpstore::{Durability, Maintenance, Parameters, ReadMode, Record, Records, Store};

const BUFFERED: Durability = Durability::Buffered;

fn counted(store: &Store) -> (u64, u64) {
    (store.statistics().records, store.snapshot().statistics().records)
}

#[test]
fn a_removal_that_hides_nothing_is_not_subtracted() {
    let fixture = Fixture::new(ReadMode::Pread);
    let store = fixture.load(&Parameters::new(3), &numbered(&uniform(10, 1)), 1);
    for n in 100..107 {
        store.insert(n, n, BUFFERED).unwrap();
        assert!(store.remove(n, n, BUFFERED).unwrap());
    }
    assert_eq!(counted(&store), (10, 10));
    let report = store.backup("copy", BackupMode::Copy).unwrap();
    assert_eq!(report.records, 10);
    store.flush().unwrap();
    let statistics = store.statistics();
    assert_eq!((statistics.records, statistics.tombstones, statistics.runs), (10, 0, 1), "nothing is written of them");
    let removed = store.bulk_remove(Records::WithIds(vec![Record::new(5, 5)])).unwrap();
    assert_eq!((removed.removed, removed.left), (0, 10));
    drop(store);
    assert_eq!(counted(&Store::open(&fixture.path, &fixture.options).unwrap()), (10, 10));
}

#[test]
fn what_is_said_again_is_counted_once() {
    for maintenance in [Maintenance::Manual, Maintenance::Foreground] {
        let mut fixture = Fixture::new(ReadMode::Pread);
        fixture.options = fixture.options.with_maintenance(maintenance);
        let records = numbered(&real()[..500]);
        let store = fixture.load(&Parameters::new(3), &records, 3);
        for round in 0..4 {
            for record in records.iter().step_by(2) {
                store.insert(record.fingerprint, &record.id, BUFFERED).unwrap();
            }
            for record in records.iter().skip(round).step_by(7) {
                assert!(store.remove(record.fingerprint, &record.id, BUFFERED).unwrap());
                if round % 2 == 0 {
                    store.flush().unwrap();
                }
                store.insert(record.fingerprint, &record.id, BUFFERED).unwrap();
            }
            assert_eq!(counted(&store), (500, 500));
            store.flush().unwrap();
            assert_eq!(counted(&store), (500, 500));
        }
        drop(store);
        let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
        assert_eq!(counted(&store), (500, 500));
        store.compact().unwrap();
        assert_eq!((counted(&store), store.records().count()), ((500, 500), 500));
    }
}

#[test]
fn removals_of_new_records_are_no_reason_to_merge() {
    let mut fixture = Fixture::new(ReadMode::Pread);
    fixture.options = fixture.options.with_maintenance(Maintenance::Foreground).with_memtable_memory(0);
    let store = fixture.load(&Parameters::new(3), &numbered(&uniform(400, 1)), 1);
    let before = store.statistics().written.compacted;
    for n in 1000..1300 {
        store.insert(n, n, BUFFERED).unwrap();
        store.remove(n, n, BUFFERED).unwrap();
    }
    store.flush().unwrap();
    let statistics = store.statistics();
    assert_eq!((statistics.written.compacted, statistics.runs, statistics.records), (before, 1, 400));
}
