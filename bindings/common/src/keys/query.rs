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
            if stopped.is_stopped() {
                return Ok(());
            }
            let rows = first..keys.len().min(first + PART);
            answer(&held, &shape, (&keys, &sketches), rows, how, sender)
        })
    })
}

/// Answers some of the queries.
fn answer(
    snapshot: &KeySnapshot,
    layout: &Layout,
    (keys, sketches): (&KeyLists, &Sketches),
    numbers: std::ops::Range<usize>,
    how: KeyQuery,
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
    let mut is_read = true;
    let make = |first: usize, answers: Vec<Vec<KeyMatch>>| (first, answers);
    let take = |(first, answers): (usize, Vec<Vec<KeyMatch>>)| {
        for (row, found) in (numbers.start + first..).zip(answers) {
            for found in found {
                rows.number(row as u64);
                rows.id(&found.id);
                rows.number(found.shared);
                rows.estimate(found.jaccard);
                rows.end_row();
            }
            if rows.is_full() {
                is_read = sender.send(std::mem::replace(&mut rows, layout.rows()))?.is_continue();
                if !is_read {
                    return Err(Error::new(ErrorKind::Stopped, "the reader has dropped the answers"));
                }
            }
        }
        Ok(())
    };
    let answered = snapshot.searcher().visit_batch(&queries, &how, BatchStrategy::Auto, MEMORY, make, take);
    if is_read {
        answered?;
        let _ = sender.send(rows)?;
    }
    Ok(())
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
