//! Many queries together: the answers of one by one, whichever way they are found, in any memory, on any threads.

use super::model::*;
use crate::support::*;
use fpstore::keys::{KeyMatch, KeyQuery, QueryKeys};
use fpstore::{BatchStrategy, ErrorKind, Id, IdKind, KeyFormat, KeyIndex, Maintenance, Options, Result};

const WAYS: [BatchStrategy; 3] = [BatchStrategy::Always, BatchStrategy::Auto, BatchStrategy::Never];

fn options(threads: usize) -> Options {
    Options::new().with_maintenance(Maintenance::Manual).with_threads(threads)
}

/// Queries from the records of a model and beside: without keys, with keys that no record has, with repeated ones.
fn queries(model: &Model, random: &mut Random) -> Vec<KeyRecord> {
    let mut queries: Vec<KeyRecord> = model.records.values().cloned().collect();
    for query in &mut queries {
        match random.below(8) {
            0 => query.keys.clear(),
            1 => query.keys.iter_mut().for_each(|key| *key = random.next()),
            2 => query.keys.extend(query.keys.clone()),
            _ => query.keys.retain(|_| random.below(4) > 0),
        }
    }
    queries
}

fn asked(queries: &[KeyRecord], with_sketches: bool) -> Vec<QueryKeys<'_>> {
    let sketches = queries.iter().map(|query| if with_sketches { &query.sketch[..] } else { &[] });
    queries.iter().zip(sketches).map(|(query, sketch)| QueryKeys { keys: &query.keys, sketch }).collect()
}

/// The answers that `visit_batch` passes on, which must come in order.
fn visited(
    index: &KeyIndex,
    queries: &[QueryKeys<'_>],
    how: &KeyQuery,
    batch: BatchStrategy,
    memory: u64,
) -> Result<Vec<Vec<KeyMatch>>> {
    let mut all = Vec::new();
    let make = |first: usize, answers: Vec<Vec<KeyMatch>>| (first, answers);
    index.searcher().visit_batch(queries, how, batch, memory, make, |(first, answers)| -> Result<()> {
        assert_eq!(first, all.len());
        assert!(!answers.is_empty());
        all.extend(answers);
        Ok(())
    })?;
    Ok(all)
}

#[test]
fn batches_answer_as_the_model_and_as_single_queries() {
    let formats = [KeyFormat::default(), KeyFormat::default().with_key_bits(20).with_sketch(64, 2)];
    for (format, ids) in formats.into_iter().zip([IdKind::Number, IdKind::Text]) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let mut model = Model::new(format);
        let index = KeyIndex::create(&path, &parameters(format, ids), &options(2)).unwrap();
        for run in 0..4 {
            // Half of the records share keys with those of an earlier run.
            let mut records = records(250, 5, format, ids, run);
            for (record, known) in records.iter_mut().zip(model.records.values()).step_by(2) {
                record.keys.clone_from(&known.keys);
            }
            index.load(sorted(&path, &options(2), format, &records)).unwrap();
            model.add(&records);
        }
        let gone: Vec<Id> = model.records.keys().step_by(5).cloned().collect();
        remove(&index, &gone);
        model.remove(&gone);
        index.close().unwrap();
        let queries = queries(&model, &mut Random(7));
        let has_sketches = format.sketch_bits() > 0;
        let asked = asked(&queries, has_sketches);
        for threads in [1, 2] {
            let index = KeyIndex::open(&path, &options(threads)).unwrap();
            for (min_shared, min_jaccard, nearest) in
                [(1, 0.0, None), (2, 0.4, None), (1, 0.0, Some(2)), (9, 0.0, None)]
            {
                let wanted = Wanted { min_shared, min_jaccard: if has_sketches { min_jaccard } else { 0.0 }, nearest };
                let how = wanted.query();
                let mut searcher = index.searcher();
                let single: Vec<Vec<KeyMatch>> =
                    asked.iter().map(|query| searcher.query(query.keys, query.sketch, &how).unwrap()).collect();
                for (query, single) in queries.iter().zip(&single).step_by(11) {
                    let sketch = if has_sketches { &query.sketch[..] } else { &[] };
                    assert_eq!(*single, model.query(&query.keys, sketch, &wanted));
                }
                for way in WAYS {
                    assert_eq!(searcher.query_batch(&asked, &how, way).unwrap(), single, "{way:?}");
                    // The least memory: parts of one query, answers that do not fit.
                    for memory in [1, 40_000] {
                        assert_eq!(visited(&index, &asked, &how, way, memory).unwrap(), single, "{way:?} {memory}");
                    }
                }
            }
            // A snapshot's searcher answers from its state.
            let before = index.snapshot();
            let expected = before.searcher().query_batch(&asked, &KeyQuery::new(), BatchStrategy::Never).unwrap();
            let more: Vec<Id> = model.records.keys().skip(1).step_by(5).cloned().collect();
            remove(&index, &more);
            model.remove(&more);
            let of_snapshot = before.searcher().query_batch(&asked, &KeyQuery::new(), BatchStrategy::Always);
            assert_eq!(of_snapshot.unwrap(), expected);
            let now = index.searcher().query_batch(&asked, &KeyQuery::new(), BatchStrategy::Always).unwrap();
            assert_ne!(now, expected);
            drop(before);
            assert!(index.compact().unwrap());
            let compacted = index.searcher().query_batch(&asked, &KeyQuery::new(), BatchStrategy::Always).unwrap();
            assert_eq!(compacted, now);
            assert_eq!(now[30], model.query(&queries[30].keys, asked[30].sketch, &Wanted::all()));
        }
    }
}

#[test]
fn a_key_of_all_records_and_many_keys_in_one_query() {
    let format = KeyFormat::default().with_sketch(32, 1);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let sketch = vec![7; format.sketch_bytes()];
    let record = |number: u64, keys: Vec<u64>| KeyRecord { id: Id::from(number), keys, sketch: sketch.clone() };
    let mut random = Random(4);
    // More equal keys in the batch than are looked up at a time.
    let mut all: Vec<KeyRecord> = (0..2000)
        .map(|number| record(number, vec![1 << 63, random.next(), (number / 2) << 40, u64::MAX - number]))
        .collect();
    all.push(record(2000, (0..30_000).map(|key| key << 30).collect()));
    all.extend((2001..2010).map(|number| record(number, Vec::new())));
    let input = sorted(&path, &options(2), format, &all);
    let (index, _) = KeyIndex::create_loaded(&path, &parameters(format, IdKind::Number), &options(2), input).unwrap();
    let mut model = Model::new(format);
    model.add(&all);
    let all: Vec<KeyRecord> = all.into_iter().skip(700).collect();
    let asked = asked(&all, true);
    for nearest in [1, 3] {
        let wanted = Wanted { min_shared: 2, min_jaccard: 0.5, nearest: Some(nearest) };
        let how = wanted.query();
        let merged = index.searcher().query_batch(&asked, &how, BatchStrategy::Always).unwrap();
        assert_eq!(merged.len(), all.len());
        for (number, record) in all.iter().enumerate().filter(|(number, _)| number % 200 == 0 || *number >= 1299) {
            assert_eq!(merged[number], model.query(&record.keys, &record.sketch, &wanted), "{number}");
        }
        assert_eq!(visited(&index, &asked, &how, BatchStrategy::Always, 1 << 20).unwrap(), merged);
    }
    // Answers of all records: far more than the memory.
    let all_have_it = vec![QueryKeys { keys: &[1 << 63], sketch: &[] }; 40];
    for way in WAYS {
        let answers = visited(&index, &all_have_it, &KeyQuery::new(), way, 100_000).unwrap();
        assert!(answers.len() == 40 && answers.iter().all(|answer| answer.len() == 2000));
    }
    assert_eq!(
        index.searcher().query_batch(&[], &KeyQuery::new(), BatchStrategy::Always).unwrap(),
        Vec::<Vec<_>>::new()
    );
}

#[test]
fn answers_before_a_wrong_query_are_given() {
    let format = KeyFormat::default().with_sketch(64, 1);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let all = records(40, 3, format, IdKind::Number, 5);
    let input = sorted(&path, &options(2), format, &all);
    let (index, _) = KeyIndex::create_loaded(&path, &parameters(format, IdKind::Number), &options(2), input).unwrap();
    let mut asked = asked(&all, true);
    asked[23].sketch = &[1, 2, 3];
    for way in WAYS {
        let mut taken = 0;
        let make = |_, answers: Vec<Vec<KeyMatch>>| answers.len();
        let how = KeyQuery::new().with_min_jaccard(0.1);
        let result = index.searcher().visit_batch(&asked, &how, way, 1 << 20, make, |answers| -> Result<()> {
            taken += answers;
            Ok(())
        });
        let error = result.unwrap_err();
        assert_eq!((error.kind(), taken), (ErrorKind::InvalidInput, 23), "{error}");
        assert!(index.searcher().query_batch(&asked, &how, way).is_err());
        // An error of the caller ends the batch.
        let stopped = index
            .searcher()
            .visit_batch(&asked, &how, way, 1 << 20, make, |_| Err(fpstore::Error::new(ErrorKind::Stopped, "enough")));
        assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Stopped);
    }
}
