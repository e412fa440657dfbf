//! Parquet files, of which only the two columns are read that matter.
//!
//! What the file itself says of a column's type counts, not what the program that wrote it noted beside:
//!
//! | column | types |
//! |---|---|
//! | fingerprint | UINT64 or INT64 (the 64 bits as they are), for 64-bit fingerprints |
//! | | FIXED_LEN_BYTE_ARRAY or BYTE_ARRAY of exactly as many bytes: **big-endian**, the order of the hex digits |
//! | | STRING: hexadecimal digits |
//! | id | any integer (a negative one is refused), STRING, BYTE_ARRAY (read as UTF-8); null is as good as none |
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
mod labels;
mod table;

use std::marker::PhantomData;
use std::path::Path;

use anyhow::anyhow;
use fpstore::Fingerprint;

pub(crate) use self::batches::Batches;
use self::columns::{Fingerprints, Ids};
pub(super) use self::labels::Labels;
pub(crate) use self::table::Table;
use super::{Entry, RawId, Selection, Source};
use crate::progress::Progress;

/// Rows that are decoded at a time.
const BATCH: usize = 8192;

/// A file whose columns are known to be readable.
#[derive(Debug)]
pub(super) struct Parquet {
    table: Table,
    fingerprint: usize,
    id: Option<usize>,
    selection: Selection,
    width: Option<u32>,
}

impl Parquet {
    /// Opens an input and looks at its columns.
    pub(super) fn open(
        source: &Source,
        selection: &Selection,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let table = Table::open(source, temp_dir, progress)?;
        Self::of(table, selection).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(table: Table, selection: &Selection) -> Result<Self, String> {
        let (fingerprint, id) = table.find(selection)?;
        let width = table.checked(fingerprint, columns::width)?;
        if let Some(id) = id {
            table.checked(id, columns::check_id)?;
        }
        Ok(Self { table, fingerprint, id, selection: selection.clone(), width })
    }

    /// The width of the fingerprints, if the type of their column tells it.
    pub(super) fn width(&self) -> Option<u32> {
        self.width
    }

    /// Number of rows, as the file says.
    pub(super) fn row_count(&self) -> Option<u64> {
        self.table.row_count()
    }

    /// The rows.
    pub(super) fn rows<F: Fingerprint>(self) -> Result<Rows<F>, String> {
        let columns: Vec<usize> = [self.fingerprint].into_iter().chain(self.id).collect();
        let batches = self.table.batches(&columns, BATCH, |columns| match columns {
            [fingerprints, id] => Ok((Fingerprints::of(fingerprints)?, Ids::of(id)?)),
            [fingerprints] => Ok((Fingerprints::of(fingerprints)?, Ids::None)),
            _ => Err("the file has lost a column".to_owned()),
        })?;
        Ok(Rows { batches, selection: self.selection, width: PhantomData })
    }
}

/// The rows of a file.
#[derive(Debug)]
pub(super) struct Rows<F> {
    batches: Batches<(Fingerprints, Ids)>,
    selection: Selection,
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
    pub(super) fn entry(&self) -> Result<Entry<'_, F>, String> {
        let ((fingerprints, ids), row) = self.batches.row()?;
        let fingerprint = fingerprints.get(row)?;
        let id = ids.get(row)?;
        self.selection.check_id(id.is_none())?;
        Ok(Entry { fingerprint, id })
    }
}

#[cfg(test)]
mod tests;
