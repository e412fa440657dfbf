//! Keys in a column: a list for each record.
//!
//! Numbers are keys as they are; the keys of bytes and texts are their XXH64 with seed 0, as `fpload` makes them.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use fpstore::Result;
use xxhash_rust::xxh64::xxh64;

use super::dictionaries::plain;
use super::errors::{invalid, wrong_type};
use super::fingerprints::visit;

/// The lists of a column.
#[derive(Clone, Debug)]
pub struct KeyLists(ArrayRef);

impl KeyLists {
    /// The keys of a column of lists.
    ///
    /// # Errors
    /// `InvalidInput` if it has others.
    pub fn new(column: &ArrayRef) -> Result<Self> {
        match column.data_type() {
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => Ok(Self(column.clone())),
            other => Err(wrong_type("keys", other, "lists of uint64, binary or strings")),
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts the keys of a row into `keys`; a null has none.
    ///
    /// # Errors
    /// `InvalidInput` if one of them is null or of another type.
    pub fn get(&self, row: usize, keys: &mut Vec<u64>) -> Result<()> {
        keys.clear();
        if self.0.is_null(row) {
            return Ok(());
        }
        let values = match self.0.data_type() {
            DataType::List(_) => self.0.as_list::<i32>().value(row),
            DataType::LargeList(_) => self.0.as_list::<i64>().value(row),
            _ => self.0.as_fixed_size_list().value(row),
        };
        let mut push = |key: Option<u64>| {
            keys.push(key.ok_or_else(|| invalid("a key is null").at_row(row as u64))?);
            Ok(())
        };
        let hash = |bytes: &[u8]| xxh64(bytes, 0);
        let values = plain(&values)?;
        match values.data_type() {
            DataType::Null if values.is_empty() => Ok(()),
            DataType::UInt64 => visit(values.as_primitive::<UInt64Type>(), |_, key| push(key)),
            DataType::Int64 => visit(values.as_primitive::<Int64Type>(), |_, key| push(key.map(i64::cast_unsigned))),
            DataType::Binary => visit(values.as_binary::<i32>(), |_, key| push(key.map(hash))),
            DataType::LargeBinary => visit(values.as_binary::<i64>(), |_, key| push(key.map(hash))),
            DataType::BinaryView => visit(values.as_binary_view(), |_, key| push(key.map(hash))),
            DataType::FixedSizeBinary(_) => visit(values.as_fixed_size_binary(), |_, key| push(key.map(hash))),
            DataType::Utf8 => visit(values.as_string::<i32>(), |_, key| push(key.map(|key| hash(key.as_bytes())))),
            DataType::LargeUtf8 => visit(values.as_string::<i64>(), |_, key| push(key.map(|key| hash(key.as_bytes())))),
            DataType::Utf8View => visit(values.as_string_view(), |_, key| push(key.map(|key| hash(key.as_bytes())))),
            other => Err(wrong_type("keys", other, "uint64, binary or strings").at_row(row as u64)),
        }
    }
}
