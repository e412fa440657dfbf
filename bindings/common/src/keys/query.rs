//! Many queries of a key index.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use fpstore::keys::{KeyMatch, KeyQuery, KeySnapshot, QueryKeys};
use fpstore::{BatchStrategy, Error, ErrorKind, Progress, Result};

use crate::input::KeyLists;
use crate::output::{Answers, Kind, Layout, Sender};

/// Queries that are answered from one copy of their keys.
const PART: usize = 1 << 16;
/// Memory of a part.
const MEMORY: u64 = 512 << 20;

/// The records that share keys with each row of a column of lists: `query_row`, `id`, `shared`, `jaccard`, those that
/// share most first.
///
/// # Errors
/// `InvalidInput` if the columns are not of keys and sketches; those of [`fpstore::keys::KeySearcher::query`] come as the
/// last batch.
pub fn key_queries(
    snapshot: &KeySnapshot,
    keys: &ArrayRef,
    sketches: Option<&ArrayRef>,
    how: KeyQuery,
) -> Result<Answers> {
    let kind = snapshot.parameters().ids();
    let (keys, sketches) = (KeyLists::new(keys)?, Sketches::new(sketches, keys.len())?);
    let layout = Layout::new(&[
        ("query_row", Kind::Number),
        ("id", Kind::Id(kind)),
        ("shared", Kind::Number),
        ("jaccard", Kind::Estimate),
    ]);
    let (progress, held, shape) = (Progress::default(), snapshot.clone(), layout.clone());
    let stopped = progress.clone();
    Answers::start(&layout, progress, move |sender| {
        (0..keys.len()).step_by(PART).try_for_each(|first| {
            let rows = first..keys.len().min(first + PART);
            answer(&held, &shape, (&keys, &sketches), rows, (how, &stopped), sender)
        })
    })
}

/// Answers some of the queries.
fn answer(
    snapshot: &KeySnapshot,
    layout: &Layout,
    (keys, sketches): (&KeyLists, &Sketches),
    numbers: std::ops::Range<usize>,
    (how, stopped): (KeyQuery, &Progress),
    sender: &Sender,
) -> Result<()> {
    let (mut all, mut ends, mut one) = (Vec::new(), Vec::new(), Vec::new());
    for row in numbers.clone() {
        keys.get(row, &mut one)?;
        all.extend_from_slice(&one);
        ends.push(all.len());
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let queries: Vec<_> = starts
        .zip(&ends)
        .zip(numbers.clone())
        .map(|((start, &end), row)| QueryKeys {
            keys: all.get(start..end).unwrap_or_default(),
            sketch: sketches.get(row),
        })
        .collect();
    let mut rows = layout.rows();
    let ended = || Error::new(ErrorKind::Stopped, "stopped before the end");
    let make = |first: usize, answers: Vec<Vec<KeyMatch>>| (first, answers);
    let take = |(first, answers): (usize, Vec<Vec<KeyMatch>>)| {
        // Queries that find nothing send nothing.
        if stopped.is_stopped() {
            return Err(ended());
        }
        for (row, found) in (numbers.start + first..).zip(answers) {
            for found in found {
                rows.number(row as u64);
                rows.id(&found.id);
                rows.number(found.shared);
                rows.estimate(found.jaccard);
                rows.end_row();
                if rows.is_full() && sender.send(std::mem::replace(&mut rows, layout.rows()))?.is_break() {
                    return Err(ended());
                }
            }
        }
        Ok(())
    };
    snapshot.searcher().visit_batch(&queries, &how, BatchStrategy::Auto, MEMORY, make, take)?;
    sender.send(rows).map(drop)
}

/// The sketches of a column of bytes.
#[derive(Clone, Debug)]
pub(super) struct Sketches(Option<ArrayRef>);

impl Sketches {
    pub(super) fn new(column: Option<&ArrayRef>, records: usize) -> Result<Self> {
        let Some(column) = column else { return Ok(Self(None)) };
        if column.len() != records {
            return Err(crate::input::invalid(format!("there are {records} records and {} sketches", column.len())));
        }
        match column.data_type() {
            DataType::FixedSizeBinary(_) | DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
                Ok(Self(Some(Arc::clone(column))))
            }
            other => Err(crate::input::wrong_type("sketches", other, "binary")),
        }
    }

    /// The sketch of a row; empty if it has none.
    pub(super) fn get(&self, row: usize) -> &[u8] {
        let Some(column) = self.0.as_ref().filter(|column| !column.is_null(row)) else { return &[] };
        match column.data_type() {
            DataType::FixedSizeBinary(_) => column.as_fixed_size_binary().value(row),
            DataType::Binary => column.as_binary::<i32>().value(row),
            DataType::LargeBinary => column.as_binary::<i64>().value(row),
            _ => column.as_binary_view().value(row),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::output::BATCH;
    use arrow_array::ListArray;
    use arrow_array::types::UInt64Type;
    use fpstore::keys::KeySorter;
    use fpstore::{IdRef, KeyFormat, KeyIndex, Options, Parameters};

    const KEY: u64 = 1 << 60;

    fn queries(keys: &[u64]) -> ArrayRef {
        Arc::new(ListArray::from_iter_primitive::<UInt64Type, _, _>(keys.iter().map(|key| Some([Some(*key)]))))
    }

    #[test]
    fn batches_are_bounded_and_a_stop_is_seen_before_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let (path, format, options) = (directory.path().join("index"), KeyFormat::default(), Options::new());
        let mut sorter = KeySorter::new(&path, &options, format);
        let records = 2 * BATCH + 1;
        (0..records as u64).for_each(|id| sorter.push(IdRef::Number(id), &[KEY], &[]).unwrap());
        let sorted = sorter.finish().unwrap();
        let index = KeyIndex::create_loaded(&path, &Parameters::of_keys(format), &options, sorted).unwrap().0;
        // A query that all records match.
        let answers = key_queries(&index.snapshot(), &queries(&[KEY]), None, KeyQuery::new()).unwrap();
        let rows: Vec<usize> = answers.map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(rows, [BATCH, BATCH, 1]);
        // Queries that match none.
        let (keys, sketches, progress) =
            (KeyLists::new(&queries(&[2 * KEY; 10])).unwrap(), Sketches(None), Progress::default());
        progress.stop();
        let stopping = progress.clone();
        let (snapshot, layout, stopped) = (index.snapshot(), Layout::new(&[]), progress.clone());
        let find = move |sender: &Sender| {
            answer(&snapshot, &Layout::new(&[]), (&keys, &sketches), 0..10, (KeyQuery::new(), &stopped), sender)
        };
        let ended: Vec<_> = Answers::start(&layout, progress, find).unwrap().collect();
        assert!(matches!(ended.as_slice(), [Err(_)]), "{ended:?}");
        // All records, which are sorted first.
        let failed = index.snapshot().visit_records(&stopping, |_, _, _| true).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Stopped);
    }
}
