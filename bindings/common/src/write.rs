//! Single writes of many records: durable when the call returns.

use arrow_array::{ArrayRef, RecordBatch};
use fpstore::{Durability, Error, Fingerprint, IdKind, IdRef, InsertOutcome, Result, Store, WriteBatch};

use crate::input::{IdColumn, fingerprints};
use crate::open::{Handle, Stop, with_store};
use crate::output::{Kind, Layout};

/// Inserts the records of two columns, all or nothing; `stop` ends it before anything is written. Returns how many were
/// given; those without a fingerprint do not count.
///
/// # Errors
/// `InvalidInput` that names the row, or those of [`fpstore::Store::write`].
pub fn insert(
    handle: &Handle,
    column: &ArrayRef,
    ids: Option<&ArrayRef>,
    durability: Durability,
    stop: &Stop,
) -> Result<u64> {
    with_store!(handle.store()?, store => {
        let (batch, given) = batch(column, ids, stop, |batch, fingerprint, id| batch.insert(fingerprint, id))?;
        store.write(&batch, durability)?;
        Ok(given)
    })
}

/// Removes the records of two columns, all or nothing; returns how many there were.
///
/// # Errors
/// As [`insert`].
pub fn remove(
    handle: &Handle,
    column: &ArrayRef,
    ids: Option<&ArrayRef>,
    durability: Durability,
    stop: &Stop,
) -> Result<u64> {
    with_store!(handle.store()?, store => {
        let (batch, _) = batch(column, ids, stop, |batch, fingerprint, id| batch.remove(fingerprint, id))?;
        Ok(store.write(&batch, durability)?.removed)
    })
}

/// The writes of two columns, and the number of records.
fn batch<F: Fingerprint>(
    column: &ArrayRef,
    ids: Option<&ArrayRef>,
    stop: &Stop,
    write: impl Fn(&mut WriteBatch<F>, F, IdRef<'_>),
) -> Result<(WriteBatch<F>, u64)> {
    let ids = IdColumn::new(ids)?;
    ids.check_length(column.len())?;
    let (mut batch, mut given) = (WriteBatch::new(), 0);
    fingerprints::each(&**column, |row, fingerprint| {
        stop.check()?;
        if let Some(fingerprint) = fingerprint {
            write(&mut batch, fingerprint, ids.get(row)?);
            given += 1;
        }
        Ok(())
    })?;
    Ok((batch, given))
}

/// Inserts each record of two columns that has no record with another id within distance `k`, one after the other:
/// `inserted`, `number` of the record if the store numbers its records, and where it was not inserted `id` and
/// `distance` of the reason: the same record, or else the nearest one with another id. A row without a fingerprint is
/// not inserted. Texts are `large_utf8`: the batch has as many rows as the columns.
///
/// # Errors
/// Those of [`fpstore::Store::insert_if_new`] and `Stopped`, each with its row. The rows before it were inserted, with
/// this durability. Those of [`fpstore::Store::sync`].
pub fn insert_if_new(
    handle: &Handle,
    column: &ArrayRef,
    ids: Option<&ArrayRef>,
    k: u32,
    durability: Durability,
    stop: &Stop,
) -> Result<RecordBatch> {
    with_store!(handle.store()?, store => insert_each_if_new(store, column, ids, k, durability, stop))
}

fn insert_each_if_new<F: Fingerprint>(
    store: &Store<F>,
    column: &ArrayRef,
    ids: Option<&ArrayRef>,
    k: u32,
    durability: Durability,
    stop: &Stop,
) -> Result<RecordBatch> {
    let kind = store.parameters().ids();
    let ids = IdColumn::new(ids)?;
    ids.check_length(column.len())?;
    let layout = Layout::new(&[
        ("inserted", Kind::Flag),
        ("number", Kind::Number),
        (if kind == IdKind::None { "count" } else { "id" }, Kind::LargeId(kind)),
        ("distance", Kind::Distance),
    ]);
    let mut rows = layout.rows();
    let insert = |row, fingerprint| {
        stop.check()?;
        store.insert_if_new(fingerprint, ids.get(row)?, k, Durability::Buffered)
    };
    let done = fingerprints::each::<F>(&**column, |row, fingerprint| {
        let outcome = fingerprint.map(|fingerprint| insert(row, fingerprint)).transpose();
        let outcome = outcome.map_err(|error| error.at_row(row as u64))?;
        rows.flag(outcome.as_ref().is_some_and(|outcome| outcome.inserted));
        rows.number(outcome.as_ref().and_then(|outcome| outcome.number));
        let near = outcome.as_ref().filter(|outcome| !outcome.inserted);
        let reason = |outcome: &InsertOutcome<F>| {
            // Another fingerprint of the same id is no reason.
            let same = outcome.own.first().filter(|own| own.distance == 0);
            same.or(outcome.duplicates.first()).cloned()
        };
        match near.and_then(reason) {
            Some(near) => {
                rows.id(&near.id);
                rows.distance(near.distance);
            }
            None => {
                rows.no_id();
                rows.distance(None);
            }
        }
        rows.end_row();
        Ok(())
    });
    // One sync makes all of them durable, those before an error too.
    let synced = store.sync(durability);
    synced.map_err(|error| match done.as_ref().err().and_then(Error::row) {
        Some(row) => error.at_row(row),
        None => error,
    })?;
    done?;
    rows.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use arrow_array::UInt64Array;
    use fpstore::env::{Memory, ReadMode};
    use fpstore::{ErrorKind, Options, Parameters};
    use std::sync::Arc;

    fn numbers(numbers: Vec<Option<u64>>) -> ArrayRef {
        Arc::new(UInt64Array::from(numbers))
    }

    /// A refused row, and a stop, are errors with their row; the rows before it survive a power failure.
    #[test]
    fn rows_before_an_error_are_durable() {
        let memory = Arc::new(Memory::default());
        let options = Options::new().with_env(memory.clone()).with_read_mode(ReadMode::Pread);
        let store = Store::<u64>::create("store", &Parameters::new(3), &options).unwrap();
        let (column, ids) = (numbers(vec![Some(1), None, Some(1 << 40)]), numbers(vec![Some(1), None, None]));
        let insert = |stop: &Stop| {
            insert_each_if_new(&store, &column, Some(&ids), 3, Durability::SyncData, stop).map(drop).unwrap_err()
        };
        let refused = insert(&Stop::default());
        assert_eq!((refused.kind(), refused.row()), (ErrorKind::InvalidInput, Some(2)));
        let stop = Stop::default();
        stop.set(true);
        let stopped = insert(&stop);
        assert_eq!((stopped.kind(), stopped.row()), (ErrorKind::Stopped, Some(0)));
        memory.crash();
        assert_eq!(Store::<u64>::open_read_only("store", &options).unwrap().statistics().records, 1);
    }
}
