//! Reads a column of ids, one of lists of keys, and one of sketches if there is one.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::batches::{Batches, LOST};
use super::columns::{Ids, check_id};
use super::table::Table;
use crate::input::header::HEADER_KEY;
use crate::input::keys::names::{BANDS, KEYS, SKETCH};
use crate::input::source::Opened;
use crate::input::{RawId, Source};
use crate::key_lists;
use crate::progress::Progress;

/// Rows of a batch: a row may have many keys.
const BATCH: usize = 1024;

/// The decoded columns.
#[derive(Debug)]
pub(in crate::input) struct KeyLists {
    ids: Option<Ids>,
    lists: ArrayRef,
    sketches: Option<Ids>,
}

impl Batches<KeyLists> {
    /// Opens a file; returns its header, too.
    pub(in crate::input) fn open(
        source: &Source,
        bytes: Opened,
        id: &str,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<(Self, Option<String>)> {
        let table = Table::open(source, bytes, temp_dir, progress)?;
        let header = table.metadata_value(HEADER_KEY).map(str::to_owned);
        let rows = Self::of(table, id).map_err(|message| anyhow!("{}: {message}", source.name()))?;
        Ok((rows, header))
    }

    fn of(table: Table, id: &str) -> Result<Self, String> {
        let lists = match (table.column(KEYS)?, table.column(BANDS)?) {
            (Some(_), Some(_)) => return Err(format!("there are \"{KEYS}\" and \"{BANDS}\"; give one of them")),
            (Some(keys), None) | (None, Some(keys)) => keys,
            (None, None) => return Err(table.missing(KEYS)),
        };
        table.checked(lists, check_list)?;
        let (id, sketches) = (table.column(id)?, table.column(SKETCH)?);
        id.map_or(Ok(()), |id| table.checked(id, check_id))?;
        let is_bytes = |data_type: &DataType| match data_type {
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => Ok(()),
            other => Err(format!("sketches cannot be {other}; give bytes")),
        };
        sketches.map_or(Ok(()), |sketches| table.checked(sketches, is_bytes))?;
        let columns: Vec<usize> = [Some(lists), id, sketches].into_iter().flatten().collect();
        match (id.is_some(), sketches.is_some()) {
            (true, true) => table.batches(&columns, BATCH, |columns| decoded(columns, true, true)),
            (true, false) => table.batches(&columns, BATCH, |columns| decoded(columns, true, false)),
            (false, true) => table.batches(&columns, BATCH, |columns| decoded(columns, false, true)),
            (false, false) => table.batches(&columns, BATCH, |columns| decoded(columns, false, false)),
        }
    }

    /// Reads the keys and the sketch of the row that [`Batches::advance`] came to, and returns its id.
    pub(in crate::input) fn keys(&self, keys: &mut Vec<u64>, sketch: &mut Vec<u8>) -> Result<RawId<'_>, String> {
        let (KeyLists { ids, lists, sketches }, row) = self.row()?;
        keys.clear();
        sketch.clear();
        if lists.is_valid(row) {
            key_lists::push(&key_lists::list_at(lists, row).ok_or(LOST)?, keys)?;
        }
        if let Some(sketches) = sketches
            && let RawId::Text(bytes) = sketches.get(row)?
        {
            sketch.extend_from_slice(bytes);
        }
        ids.as_ref().map_or(Ok(RawId::None), |ids| ids.get(row))
    }
}

fn decoded(columns: &[&ArrayRef], with_id: bool, with_sketches: bool) -> Result<KeyLists, String> {
    let mut columns = columns.iter();
    let lists = Arc::clone(columns.next().ok_or(LOST)?);
    let mut next = |wanted: bool| match wanted {
        true => columns.next().ok_or_else(|| LOST.to_owned()).and_then(|column| Ids::of(column)).map(Some),
        false => Ok(None),
    };
    let (ids, sketches) = (next(with_id)?, next(with_sketches)?);
    Ok(KeyLists { ids, lists, sketches })
}

/// Accepts lists of 64-bit integers, of bytes or of texts.
fn check_list(data_type: &DataType) -> Result<(), String> {
    let item = match data_type {
        DataType::List(item) | DataType::LargeList(item) => item.data_type(),
        other => return Err(format!("keys cannot be {other}; give a list of unsigned 64-bit integers")),
    };
    match item {
        DataType::UInt64
        | DataType::Int64
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View => Ok(()),
        other => Err(format!("keys cannot be {other}; give unsigned 64-bit integers, or bytes, whose hashes count")),
    }
}
