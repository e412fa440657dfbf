//! The threads of a store: as many as its options say, all named, none of them the caller's.

use crate::hooked::{EIO, Hooked, Op};
use crate::support::*;
use fpstore::{
    BatchStrategy, Durability, ErrorKind, Filters, IdKind, Maintenance, Options, Parameters, Record, Records, Store,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_function_of_the_caller_may_use_the_store_that_calls_it() {
    let values = families(1000, 20, 3);
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new().with_threads(2).with_maintenance(Maintenance::Foreground).with_filters(Filters::Off);
    let (path, loaded) = (directory.path().join("store"), Records::WithIds(numbered(&values)));
    let (store, _) = Store::<u64>::create_loaded(path, &Parameters::new(3), &options, loaded).unwrap();
    // On the thread that takes results, and on the threads that produce them, all of which wait for it.
    let mut next = 1_000_000;
    for pair in store.pairs(3).unwrap().distinct().unwrap().take(200) {
        next += 1;
        store.insert(pair.unwrap().a, next, Durability::Buffered).unwrap();
        if next % 50 == 0 {
            store.flush().unwrap();
            store.searcher().query_batch(&values[..2000], 3, BatchStrategy::Always).unwrap();
        }
    }
    let make = |first: usize, answers: Vec<Option<Vec<fpstore::Match>>>| {
        let id = 2_000_000 + first as u64;
        store.bulk_load(Records::WithIds(vec![Record::new(id, id)])).unwrap();
        store.compact().unwrap();
        answers.len()
    };
    let mut answered = 0;
    let take = |some| {
        answered += some;
        store.flush()
    };
    assert!(store.searcher().visit_batch(&values[..5000], 3, u64::MAX / 4, make, take).unwrap());
    assert_eq!(answered, 5000);
    store.close().unwrap();
}

#[test]
fn closing_tells_what_dropping_cannot() {
    let fixture = Fixture::new(fpstore::ReadMode::Pread);
    let parameters = Parameters::new(3).with_ids(IdKind::Number);
    let store = Store::<u64>::create(&fixture.path, &parameters, &fixture.options).unwrap();
    store.insert(1, 1, Durability::Buffered).unwrap();
    store.close().unwrap();
    // Buffered writes are durable now.
    fixture.env.crash();
    let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
    assert_eq!(store.get(1).unwrap(), [fpstore::Id::Number(1)]);
    drop(store);
    let reader = Store::<u64>::open_read_only(&fixture.path, &fixture.options).unwrap();
    reader.close().unwrap();
    // The caller gets the error of a failed sync.
    let fails = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&fails);
    let env = Hooked::behind(Arc::new(fixture.env.clone()), move |op, _| match op {
        Op::Sync if told.load(Ordering::SeqCst) => Err(io::Error::from_raw_os_error(EIO)),
        _ => Ok(()),
    });
    let store = Store::<u64>::open(&fixture.path, &fixture.options.clone().with_env(env)).unwrap();
    store.insert(2, 2, Durability::Buffered).unwrap();
    fails.store(true, Ordering::SeqCst);
    let error = store.close().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::Poisoned), "{error}");
}
