//! Reads documents in Parquet files, decoding only the two columns that matter.
//!
//! | column | types |
//! |---|---|
//! | text | STRING, BYTE_ARRAY (read as UTF-8) |
//! | tokens | LIST of those |
//! | id | any integer (negative ones are rejected), STRING, BYTE_ARRAY; null counts as no id |
//!
//! A batch has about as many rows as make some megabytes on average; texts stay in the pages that hold them until they
//! are returned. A page is in memory as a whole, so memory is bounded by the pages of a file.

mod values;
mod whole;

use std::path::Path;
use std::str;
use std::sync::Arc;

use anyhow::anyhow;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray, ListArray, StringViewArray};
use arrow_schema::DataType;

use super::content::{Columns, Kind, check_tokens};
use super::fault::{not_text, too_long};
use super::item::Raw;
use super::limits::{BATCH, BATCH_BYTES};
use super::{DOCUMENT_LIMIT, DocumentId, Fault, FaultKind};
use crate::input::parquet::columns::{Ids, check_id};
use crate::input::parquet::{Batches, LOST, Table};
use crate::input::source::Opened;
use crate::input::{Selection, Source};
use crate::progress::Progress;
pub(super) use values::Values;
pub(super) use whole::{Piece, Shape, Whole, Writer};

/// The rows of a file.
#[derive(Debug)]
pub(super) struct Rows {
    batches: Batches<(Contents, Ids)>,
    kind: Kind,
    selection: Selection,
}

impl Rows {
    /// Opens an input and examines its columns.
    pub(super) fn open(
        source: &Source,
        bytes: Opened,
        columns: &Columns,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let table = Table::open(source, bytes, temp_dir, progress)?;
        Self::of(table, columns).map_err(|message| anyhow!("{}: {message}", source.name()))
    }

    fn of(table: Table, Columns { kind, selection }: &Columns) -> Result<Self, String> {
        let (value, id) = table.find(selection)?;
        table.checked(value, |data_type| check(*kind, data_type))?;
        if let Some(id) = id {
            table.checked(id, check_id)?;
        }
        let wanted: Vec<usize> = [value].into_iter().chain(id).collect();
        let rows = BATCH_BYTES / table.bytes_per_row(&wanted).max(1);
        let rows = usize::try_from(rows).map_or(BATCH, |rows| rows.clamp(1, BATCH));
        let batches = table.batches(&wanted, rows, |columns| match columns {
            [value, id] => Ok((Contents::of(value)?, Ids::of(id)?)),
            [value] => Ok((Contents::of(value)?, Ids::None)),
            _ => Err(LOST.to_owned()),
        })?;
        Ok(Self { batches, kind: *kind, selection: selection.clone() })
    }

    /// Number of the row that [`Self::next_raw`] returned last, or failed on; the first is 1.
    pub(super) fn number(&self) -> u64 {
        self.batches.number()
    }

    /// Memory of the longest page so far, in bytes and approximately.
    pub(super) fn page_memory(&self) -> u64 {
        self.batches.page_memory()
    }

    /// Returns the next row.
    pub(super) fn next_raw(&mut self) -> Result<Option<Raw>, String> {
        if !self.batches.advance()? {
            return Ok(None);
        }
        let ((contents, ids), row) = self.batches.row()?;
        let id = ids.get(row).and_then(|id| self.selection.check_id(id.is_none()).and_then(|()| DocumentId::typed(id)));
        let raw = id.map_err(|message| Fault::new(FaultKind::Id, message)).and_then(|id| match contents {
            Contents::Texts(texts) => text(texts.get(row).ok_or_else(|| self.kind.null())?, id),
            Contents::Tokens(lists, texts) if lists.is_valid(row) => tokens(lists, texts, row, id),
            Contents::Tokens(..) => Err(self.kind.null()),
        });
        Ok(Some(raw.unwrap_or_else(Raw::Bad)))
    }
}

/// Rejects types that documents cannot have.
fn check(kind: Kind, data_type: &DataType) -> Result<(), String> {
    let is_text = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::Binary);
    match (kind, data_type) {
        (Kind::Text, text) if is_text(text) => Ok(()),
        (Kind::Tokens, DataType::List(item)) if is_text(item.data_type()) => Ok(()),
        (Kind::Text, DataType::List(_)) => {
            Err("documents are texts, these are lists; ready-made tokens are read with --tokens-column".to_owned())
        }
        (Kind::Text, other) => Err(format!("documents are texts, these are {other}")),
        (Kind::Tokens, other) => Err(format!("tokens are lists of texts, these are {other}")),
    }
}

/// The documents of a batch.
#[derive(Debug)]
enum Contents {
    Texts(Texts),
    Tokens(ListArray, Texts),
}

impl Contents {
    fn of(column: &ArrayRef) -> Result<Self, String> {
        match column.data_type() {
            DataType::List(_) => {
                let lists = column.as_list::<i32>();
                Ok(Self::Tokens(lists.clone(), Texts::of(lists.values())?))
            }
            _ => Texts::of(column).map(Self::Texts),
        }
    }
}

/// A column of texts.
#[derive(Debug)]
enum Texts {
    Text(StringViewArray),
    Bytes(BinaryViewArray),
}

impl Texts {
    fn of(column: &Arc<dyn Array>) -> Result<Self, String> {
        match column.data_type() {
            DataType::Utf8View => Ok(Self::Text(column.as_string_view().clone())),
            DataType::BinaryView => Ok(Self::Bytes(column.as_binary_view().clone())),
            other => Err(format!("documents cannot be {other}")),
        }
    }

    /// Returns the text of a row; `None` if it is null.
    fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Text(column) if row < column.len() && column.is_valid(row) => Some(column.value(row).as_bytes()),
            Self::Bytes(column) if row < column.len() && column.is_valid(row) => Some(column.value(row)),
            _ => None,
        }
    }
}

/// Returns the document of a text.
fn text(text: &[u8], id: DocumentId) -> Result<Raw, Fault> {
    if text.len() > DOCUMENT_LIMIT { Err(too_long()) } else { Ok(Raw::Cells(id, text.to_vec())) }
}

/// Returns the document of a list of tokens.
fn tokens(lists: &ListArray, texts: &Texts, row: usize, id: DocumentId) -> Result<Raw, Fault> {
    let offset = |row: usize| lists.offsets().get(row).and_then(|offset| usize::try_from(*offset).ok()).unwrap_or(0);
    let range = offset(row)..offset(row + 1);
    check_tokens(range.len()).map_err(|message| Fault::new(FaultKind::TooLong, message))?;
    let mut length = 0;
    let mut tokens = Vec::with_capacity(range.len());
    for number in range {
        let token = texts.get(number).ok_or_else(|| Fault::new(FaultKind::Null, "a token is null"))?;
        // A short page can repeat one long token many times.
        length += token.len();
        if length > DOCUMENT_LIMIT {
            return Err(too_long());
        }
        let token = str::from_utf8(token).map_err(|error| not_text(token, 0, error.valid_up_to(), " of a token"))?;
        tokens.push(token.to_owned());
    }
    Ok(Raw::Tokens(id, tokens))
}

#[cfg(test)]
mod tests;
