//! Reads records of fingerprints in a Parquet file.

use std::marker::PhantomData;
use std::path::Path;

use anyhow::anyhow;
use arrow_array::ArrayRef;
use fpstore::Fingerprint;

use super::batches::{BATCH, Batches, LOST};
use super::columns::{self, Fingerprints, Ids};
use super::numbers::{self, Numbers};
use super::table::Table;
use crate::input::source::Opened;
use crate::input::{Digits, Entry, HEADER_KEY, Quality, Selection, Source};
use crate::progress::Progress;

/// A file whose columns were checked to be readable.
#[derive(Debug)]
pub(in crate::input) struct Parquet {
    table: Table,
    fingerprint: usize,
    id: Option<usize>,
    quality: Option<usize>,
    selection: Selection,
    width: Option<u32>,
}

/// The columns of a batch.
#[derive(Debug)]
struct Columns {
    fingerprints: Fingerprints,
    ids: Ids,
    qualities: Option<Numbers>,
}

impl Parquet {
    /// Opens an input and examines its columns.
    pub(in crate::input) fn open(
        source: &Source,
        bytes: Opened,
        selection: &Selection,
        quality: Option<&Quality>,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let table = Table::open(source, bytes, temp_dir, progress)?;
        Self::of(table, selection, quality).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(table: Table, selection: &Selection, quality: Option<&Quality>) -> Result<Self, String> {
        let (fingerprint, id) = table.find(selection)?;
        let width = table.checked(fingerprint, columns::width)?;
        if let Some(id) = id {
            table.checked(id, columns::check_id)?;
        }
        let find = |quality: &Quality| {
            let column = table.column(&quality.column)?.ok_or_else(|| table.missing(&quality.column))?;
            table.checked(column, numbers::check).map(|()| column)
        };
        let quality = quality.map(find).transpose()?;
        Ok(Self { table, fingerprint, id, quality, selection: selection.clone(), width })
    }

    /// Width of the fingerprints, if the type of their column implies it.
    pub(in crate::input) fn width(&self) -> Option<u32> {
        self.width
    }

    /// The header in the file's metadata.
    pub(in crate::input) fn header(&self) -> Option<&str> {
        self.table.metadata_value(HEADER_KEY)
    }

    /// Number of rows, according to the file.
    pub(in crate::input) fn row_count(&self) -> Option<u64> {
        self.table.row_count()
    }

    /// Starts reading the rows.
    pub(in crate::input) fn rows<F: Fingerprint>(self) -> Result<Rows<F>, String> {
        let columns: Vec<usize> = [self.fingerprint].into_iter().chain(self.id).chain(self.quality).collect();
        let others = self.id.is_none().then(|| self.table.list_but(self.fingerprint));
        let decode: Decode = match (self.id, self.quality) {
            (None, Some(_)) => |columns| match columns {
                [fingerprints, quality] => decode(fingerprints, None, Some(quality)),
                _ => Err(LOST.to_owned()),
            },
            _ => |columns| match columns {
                [fingerprints] => decode(fingerprints, None, None),
                [fingerprints, id] => decode(fingerprints, Some(id), None),
                [fingerprints, id, quality] => decode(fingerprints, Some(id), Some(quality)),
                _ => Err(LOST.to_owned()),
            },
        };
        let batches = self.table.batches(&columns, BATCH, decode)?;
        Ok(Rows { batches, selection: self.selection, others, width: PhantomData })
    }
}

type Decode = fn(&[&ArrayRef]) -> Result<Columns, String>;

fn decode(fingerprints: &ArrayRef, ids: Option<&ArrayRef>, qualities: Option<&ArrayRef>) -> Result<Columns, String> {
    Ok(Columns {
        fingerprints: Fingerprints::of(fingerprints)?,
        ids: ids.map_or(Ok(Ids::None), Ids::of)?,
        qualities: qualities.map(Numbers::of).transpose()?,
    })
}

/// The rows of a file.
#[derive(Debug)]
pub(in crate::input) struct Rows<F> {
    batches: Batches<Columns>,
    selection: Selection,
    /// The names of the other columns, if there is no column of ids.
    others: Option<String>,
    width: PhantomData<F>,
}

impl<F: Fingerprint> Rows<F> {
    /// Number of the row that [`Self::advance`] came to last, or failed on; the first is 1.
    pub(in crate::input) fn number(&self) -> u64 {
        self.batches.number()
    }

    /// Advances to the next row; `false` at the end of the file.
    pub(in crate::input) fn advance(&mut self) -> Result<bool, String> {
        self.batches.advance()
    }

    /// Returns the row that [`Self::advance`] came to.
    pub(in crate::input) fn entry(&self, digits: Option<Digits>) -> Result<Entry<'_, F>, String> {
        let (Columns { fingerprints, ids, .. }, row) = self.batches.row()?;
        let fingerprint = fingerprints.get(row, digits)?;
        let id = ids.get(row)?;
        self.selection.check_id(id.is_none())?;
        Ok(Entry { fingerprint, id })
    }

    /// Returns the quality of that row; `None` if it is null, or there is no such column.
    pub(in crate::input) fn quality(&self) -> Result<Option<f64>, String> {
        let (Columns { qualities, .. }, row) = self.batches.row()?;
        Ok(qualities.as_ref().and_then(|qualities| qualities.get(row)))
    }

    /// The names of the other columns, if there is no column of ids.
    pub(in crate::input) fn others(&self) -> Option<&str> {
        self.others.as_deref()
    }
}
