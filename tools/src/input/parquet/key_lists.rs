//! Reads a column of ids, one of lists of keys, and one of sketches if there is one.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use xxhash_rust::xxh64::xxh64;

use super::batches::{Batches, LOST};
use super::columns::{Ids, check_id};
use super::table::Table;
use crate::input::header::HEADER_KEY;
use crate::input::keys::names::{BANDS, KEYS, SKETCH};
use crate::input::source::Opened;
use crate::input::{RawId, Source};
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
            push_keys(&list_at(lists, row)?, keys)?;
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

fn list_at(lists: &ArrayRef, row: usize) -> Result<ArrayRef, String> {
    match lists.data_type() {
        DataType::List(_) => Ok(lists.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Ok(lists.as_list::<i64>().value(row)),
        _ => Err(LOST.to_owned()),
    }
}

/// Appends the keys of a list. Signed integers are the same 64 bits; bytes and texts count by their XXH64.
fn push_keys(list: &ArrayRef, keys: &mut Vec<u64>) -> Result<(), String> {
    if list.null_count() > 0 {
        return Err("a key is null".to_owned());
    }
    let hashed = |bytes: &[u8]| xxh64(bytes, 0);
    match list.data_type() {
        DataType::UInt64 => keys.extend_from_slice(list.as_primitive::<UInt64Type>().values()),
        DataType::Int64 => keys.extend(list.as_primitive::<Int64Type>().values().iter().map(|key| key.cast_unsigned())),
        DataType::Binary => keys.extend(list.as_binary::<i32>().iter().flatten().map(hashed)),
        DataType::LargeBinary => keys.extend(list.as_binary::<i64>().iter().flatten().map(hashed)),
        DataType::BinaryView => keys.extend(list.as_binary_view().iter().flatten().map(hashed)),
        DataType::Utf8 => keys.extend(list.as_string::<i32>().iter().flatten().map(|text| hashed(text.as_bytes()))),
        DataType::LargeUtf8 => {
            keys.extend(list.as_string::<i64>().iter().flatten().map(|text| hashed(text.as_bytes())))
        }
        DataType::Utf8View => keys.extend(list.as_string_view().iter().flatten().map(|text| hashed(text.as_bytes()))),
        other => return Err(format!("keys cannot be {other}")),
    }
    Ok(())
}
