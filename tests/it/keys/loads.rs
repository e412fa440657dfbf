//! Loads: within any memory, all or nothing.

use super::model::*;
use crate::hooked::{Hooked, Op};
use crate::points::points;
use fpstore::env::FileSystem;
use fpstore::{IdKind, KeyFormat, KeyIndex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn little_memory_and_few_threads_change_no_answer() {
    let format = KeyFormat::default().with_sketch(128, 1);
    for ids in [IdKind::Number, IdKind::Text] {
        let all = records(30_000, 14, format, ids, 5);
        let mut model = Model::new(format);
        model.add(&all);
        for (memory, threads) in [(1 << 30, 2), (8 << 20, 1), (8 << 20, 2)] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("store");
            let options = options().with_load_memory(memory).with_threads(threads);
            let index = KeyIndex::create(&path, &parameters(format, ids), &options).unwrap();
            for part in all.chunks(20_000) {
                index.load(sorted(&path, &options, format, part)).unwrap();
            }
            assert!(index.compact().unwrap());
            model.check(&index, 20, &format!("{memory} bytes"));
            assert!(fpstore::admin::verify(&path, &options).unwrap().damages.is_empty());
        }
    }
}

#[test]
fn ids_that_come_twice_are_counted_and_the_first_counts() {
    let format = KeyFormat::default();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut all = records(1000, 4, format, IdKind::Text, 9);
    for number in 0..100 {
        all[number * 7 + 300].id = all[number * 3].id.clone();
    }
    let mut model = Model::new(format);
    model.add(&all);
    let parameters = parameters(format, IdKind::Text);
    let input = sorted(&path, &options(), format, &all);
    let (index, report) = KeyIndex::create_loaded(&path, &parameters, &options(), input).unwrap();
    assert_eq!((report.added, report.repeated), (model.records.len() as u64, 1000 - model.records.len() as u64));
    assert!(report.repeated >= 90);
    model.check(&index, 200, "repeated ids");
    let again = index.load(sorted(&path, &options(), format, &all)).unwrap();
    assert_eq!((again.added, again.repeated, again.segment_bytes), (0, report.repeated, 0));
    assert_eq!(again.already_present, report.added);
}

#[test]
fn each_operation_fails_in_turn_and_a_load_is_there_whole_or_not_at_all() {
    let format = KeyFormat::default().with_sketch(64, 1);
    let first = records(300, 5, format, IdKind::Number, 1);
    let mut second = records(300, 5, format, IdKind::Number, 2);
    second[..50].iter_mut().zip(&first).for_each(|(record, known)| record.id = known.id.clone());
    let mut before = Model::new(format);
    before.add(&first);
    let mut after = before.clone();
    after.replace(&second);
    let mut failures = 0;
    for point in points(0..) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let input = sorted(&path, &options(), format, &first);
        drop(KeyIndex::create_loaded(&path, &parameters(format, IdKind::Number), &options(), input).unwrap());
        let count = Arc::new(AtomicU64::new(0));
        let env = {
            let count = Arc::clone(&count);
            Hooked::behind(Arc::new(FileSystem), move |op: Op, _| {
                let fails = count.fetch_add(1, Ordering::SeqCst) == point && !matches!(op, Op::Remove);
                if fails { Err(std::io::Error::from_raw_os_error(28)) } else { Ok(()) }
            })
        };
        let failing = options().with_env(env);
        let worked = KeyIndex::open(&path, &failing).and_then(|index| {
            index.replace(sorted(&path, &failing, format, &second))?;
            index.compact()
        });
        failures += u64::from(worked.is_err());
        let index = KeyIndex::open(&path, &options()).unwrap();
        let known = index.query(&second[60].keys, &[], &fpstore::keys::KeyQuery::new()).unwrap();
        let model = if known.iter().any(|found| found.id == second[60].id) { &after } else { &before };
        model.check(&index, 20, &format!("operation {point}"));
        assert!(fpstore::admin::verify(&path, &options()).unwrap().damages.is_empty(), "operation {point}");
        if count.load(Ordering::SeqCst) <= point {
            assert!(worked.is_ok());
            break;
        }
    }
    assert!(failures > 8, "{failures}");
}
