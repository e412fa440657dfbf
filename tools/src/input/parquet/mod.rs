//! Parquet files, of which only the columns are read that matter.
//!
//! What the file itself says of a column's type counts, not what the program that wrote it noted beside:
//!
//! | column | types |
//! |---|---|
//! | fingerprint | UINT64 or INT64 (the 64 bits as they are, unless `--fingerprint-format dec` says that none is negative), for 64-bit fingerprints |
//! | | FIXED_LEN_BYTE_ARRAY or BYTE_ARRAY of exactly as many bytes: **big-endian**, the order of the hex digits |
//! | | STRING: hexadecimal digits, or what `--fingerprint-format` says |
//! | id | any integer (a negative one is refused), STRING, BYTE_ARRAY (read as UTF-8); null is as good as none |
//! | quality | any integer, FLOAT, DOUBLE |
//!
//! Encodings (dictionaries, too) and compression are the file's own affair; Brotli and LZO are not supported.
//!
//! Memory is bounded by the pages of the file, not by its row groups: pages are read one after another, and
//! [`BATCH`] rows of two columns are decoded at a time; texts stay in the pages that they came in.
//!
//! Parquet is read from its end, so a file that is compressed as a whole, or a pipe, is first copied to a temporary file
//! that has no name and goes away with the program.

mod batches;
pub(crate) mod columns;
mod file;
mod guard;
mod id_column;
mod labels;
mod numbers;
mod table;

use std::marker::PhantomData;
use std::path::Path;

use anyhow::anyhow;
use arrow_array::ArrayRef;
use fpstore::Fingerprint;

pub(crate) use self::batches::Batches;
use self::columns::{Fingerprints, Ids};
pub(super) use self::id_column::IdColumn;
pub(super) use self::labels::Labels;
use self::numbers::Numbers;
pub(crate) use self::table::Table;
use super::source::Opened;
use super::{Digits, Entry, HEADER_KEY, Quality, RawId, Selection, Source};
use crate::progress::Progress;

/// Rows that are decoded at a time.
const BATCH: usize = 8192;

/// A file whose columns are known to be readable.
#[derive(Debug)]
pub(super) struct Parquet {
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
    /// Opens an input and looks at its columns.
    pub(super) fn open(
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

    /// The width of the fingerprints, if the type of their column tells it.
    pub(super) fn width(&self) -> Option<u32> {
        self.width
    }

    /// What the file's metadata says in place of a first line.
    pub(super) fn header(&self) -> Option<&str> {
        self.table.metadata_value(HEADER_KEY)
    }

    /// Number of rows, as the file says.
    pub(super) fn row_count(&self) -> Option<u64> {
        self.table.row_count()
    }

    /// The rows.
    pub(super) fn rows<F: Fingerprint>(self) -> Result<Rows<F>, String> {
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

const LOST: &str = "the file has lost a column";

fn decode(fingerprints: &ArrayRef, ids: Option<&ArrayRef>, qualities: Option<&ArrayRef>) -> Result<Columns, String> {
    Ok(Columns {
        fingerprints: Fingerprints::of(fingerprints)?,
        ids: ids.map_or(Ok(Ids::None), Ids::of)?,
        qualities: qualities.map(Numbers::of).transpose()?,
    })
}

/// The rows of a file.
#[derive(Debug)]
pub(super) struct Rows<F> {
    batches: Batches<Columns>,
    selection: Selection,
    /// The names of the other columns, if there is none of ids.
    others: Option<String>,
    width: PhantomData<F>,
}

impl<F: Fingerprint> Rows<F> {
    /// Number of the row that [`Self::advance`] came to last, or failed on; the first is 1.
    pub(super) fn number(&self) -> u64 {
        self.batches.number()
    }

    /// Goes on to the next row; `false` at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, String> {
        self.batches.advance()
    }

    /// The row that [`Self::advance`] came to.
    pub(super) fn entry(&self, digits: Option<Digits>) -> Result<Entry<'_, F>, String> {
        let (Columns { fingerprints, ids, .. }, row) = self.batches.row()?;
        let fingerprint = fingerprints.get(row, digits)?;
        let id = ids.get(row)?;
        self.selection.check_id(id.is_none())?;
        Ok(Entry { fingerprint, id })
    }

    /// The quality of that row; none if it is null, or there is no such column.
    pub(super) fn quality(&self) -> Result<Option<f64>, String> {
        let (Columns { qualities, .. }, row) = self.batches.row()?;
        Ok(qualities.as_ref().and_then(|qualities| qualities.get(row)))
    }

    /// The names of the other columns, if there is none of ids.
    pub(super) fn others(&self) -> Option<&str> {
        self.others.as_deref()
    }
}

#[cfg(test)]
mod tests;
