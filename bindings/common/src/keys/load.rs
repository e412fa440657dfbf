//! Loads of records with keys from Arrow arrays.

use arrow_array::ArrayRef;
use fpstore::bulk::IdSorter;
use fpstore::keys::KeySorter;
use fpstore::{KeyFormat, Result};

use super::query::Sketches;
use crate::input::{IdColumn, KeyLists, in_row};
use crate::load::{Deed, Loaded};
use crate::open::Handle;

/// Columns of keys, of ids and of sketches, of the same length.
pub type KeyColumns = (ArrayRef, Option<ArrayRef>, Option<ArrayRef>);

/// Loads the records of all batches, durably and all or nothing. Calls `seen` with the number of records read so far.
///
/// # Errors
/// `InvalidInput` that names the row, if a column is not of keys, ids or sketches of the index; those of `batches`, of
/// `seen`, and of [`fpstore::KeyIndex::load`].
pub fn key_load(
    handle: &Handle,
    deed: Deed,
    batches: impl Iterator<Item = Result<KeyColumns>>,
    mut seen: impl FnMut(u64) -> Result<()>,
) -> Result<Loaded> {
    let index = handle.keys()?;
    let format: KeyFormat = index.parameters().keys().unwrap_or_default();
    let mut sorter = KeySorter::new(handle.path(), &handle.options, format);
    let (mut loaded, mut keys) = (Loaded::default(), Vec::new());
    for batch in batches {
        handle.stop.check()?;
        let mut push = |(lists, ids, sketches): KeyColumns| {
            let (lists, ids) = (KeyLists::new(&lists)?, IdColumn::new(ids.as_ref())?);
            ids.check_length(lists.len())?;
            let sketches = Sketches::new(sketches.as_ref(), lists.len())?;
            for row in 0..lists.len() {
                if row.is_multiple_of(1 << 12) {
                    handle.stop.check()?;
                }
                lists.get(row, &mut keys)?;
                sorter.push(ids.get(row)?, &keys, sketches.get(row)).map_err(in_row(row))?;
            }
            Ok(lists.len() as u64)
        };
        let read = batch.and_then(&mut push).map_err(|error| error.after_rows(loaded.records))?;
        loaded.records += read;
        seen(loaded.records)?;
    }
    handle.stop.check()?;
    let report = match deed {
        Deed::Replace => index.replace(sorter.finish()?)?,
        _ => index.load(sorter.finish()?)?,
    };
    Ok(Loaded { added: report.added, removed: report.replaced, ..loaded })
}

/// Removes the records of the ids of all batches, durably and all or nothing, of a store with an id index or of a key
/// index. Returns their number.
///
/// # Errors
/// `InvalidInput` that names the row; those of [`fpstore::Store::bulk_remove_ids`].
pub fn remove_ids(handle: &Handle, batches: impl Iterator<Item = Result<ArrayRef>>) -> Result<u64> {
    let mut sorter = IdSorter::new(handle.path(), &handle.options);
    let mut first = 0;
    for batch in batches {
        let mut push = |column: ArrayRef| {
            let ids = IdColumn::new(Some(&column))?;
            (0..column.len()).try_for_each(|row| sorter.push(ids.get(row)?).map_err(in_row(row)))?;
            Ok(column.len() as u64)
        };
        first += batch.and_then(&mut push).map_err(|error| error.after_rows(first))?;
        handle.stop.check()?;
    }
    let sorted = sorter.finish()?;
    let report = match &handle.index {
        crate::open::AnyIndex::Keys(index) => index.remove_ids(&sorted)?,
        crate::open::AnyIndex::Store(store) => {
            crate::open::with_store!(store, store => store.bulk_remove_ids(&sorted)?)
        }
    };
    Ok(report.removed)
}
