//! Loads of fingerprints from Arrow arrays.

use arrow_array::ArrayRef;
use fpstore::bulk::{LoadReport, RecordSorter, RemoveReport, ReplaceReport, SortedRecords};
use fpstore::{Fingerprint, IdKind, Result};

use crate::input::{IdColumn, fingerprints, in_row};
use crate::open::{Handle, with_store};

/// Columns of fingerprints and of ids, of the same length.
pub type Columns = (ArrayRef, Option<ArrayRef>);

/// What a load does with the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Adds them.
    Add,
    /// Adds them, and removes other fingerprints of the same ids.
    Replace,
    /// Removes them.
    Remove,
}

/// The result of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Records that were given, those without a fingerprint among them.
    pub records: u64,
    /// Records that were added.
    pub added: u64,
    /// Records that were removed.
    pub removed: u64,
    /// Records without a fingerprint (null), which were left out.
    pub nulls: u64,
}

/// Loads the records of all batches, durably and all or nothing. Calls `seen` with the number of records read so far.
///
/// # Errors
/// `InvalidInput` that names the row, counted over all batches, if a column is not of fingerprints or ids of the store;
/// those of `batches`, of `seen`, and of [`fpstore::Store::bulk_load`].
pub fn load(
    handle: &Handle,
    deed: Deed,
    batches: impl Iterator<Item = Result<Columns>>,
    seen: impl FnMut(u64) -> Result<()>,
) -> Result<Loaded> {
    with_store!(handle.store()?, store => {
        let sorter = RecordSorter::new(handle.path(), &handle.options);
        let sorter = if store.parameters().ids() == IdKind::None { sorter.counted() } else { sorter };
        let (sorted, loaded) = sort(handle, sorter, batches, seen)?;
        match deed {
            Deed::Add => {
                let report: LoadReport = store.bulk_load(sorted)?;
                Ok(Loaded { added: report.added(), ..loaded })
            }
            Deed::Replace => {
                let report: ReplaceReport = store.bulk_replace(sorted)?;
                Ok(Loaded { added: report.loaded.added(), removed: report.removed, ..loaded })
            }
            Deed::Remove => {
                let report: RemoveReport = store.bulk_remove(sorted)?;
                Ok(Loaded { removed: report.removed, ..loaded })
            }
        }
    })
}

fn sort<F: Fingerprint>(
    handle: &Handle,
    mut sorter: RecordSorter<F>,
    batches: impl Iterator<Item = Result<Columns>>,
    mut seen: impl FnMut(u64) -> Result<()>,
) -> Result<(SortedRecords<F>, Loaded)> {
    /// Records between two looks at whether the work is to end.
    const PIECE: u64 = 1 << 16;
    let mut loaded = Loaded::default();
    for batch in batches {
        handle.stop.check()?;
        let first = loaded.records;
        let mut push = |(column, ids): Columns| {
            let ids = IdColumn::new(ids.as_ref())?;
            ids.check_length(column.len())?;
            fingerprints::each(&*column, |row, fingerprint| {
                loaded.records += 1;
                if loaded.records.is_multiple_of(PIECE) {
                    handle.stop.check()?;
                    seen(loaded.records)?;
                }
                match fingerprint {
                    Some(fingerprint) => sorter.push(fingerprint, ids.get(row)?).map_err(in_row(row)),
                    None => {
                        loaded.nulls += 1;
                        Ok(())
                    }
                }
            })
        };
        batch.and_then(&mut push).map_err(|error| error.after_rows(first))?;
        seen(loaded.records)?;
    }
    handle.stop.check()?;
    Ok((sorter.finish()?, loaded))
}
