//! Lists of keys in Arrow arrays.
//!
//! Integers of 64 bits are keys as they are; the keys of bytes and texts are their XXH64 with seed 0.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use xxhash_rust::xxh64::xxh64;

/// The list of a row; `None` if the column has no lists.
#[must_use]
pub fn list_at(lists: &dyn Array, row: usize) -> Option<ArrayRef> {
    match lists.data_type() {
        DataType::List(_) => Some(lists.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Some(lists.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => Some(lists.as_fixed_size_list().value(row)),
        _ => None,
    }
}

/// Appends the keys of a list.
///
/// # Errors
///
/// A text that says that a key is null, or of another type.
pub fn push(list: &ArrayRef, keys: &mut Vec<u64>) -> Result<(), String> {
    if list.logical_null_count() > 0 {
        return Err("a key is null".to_owned());
    }
    let hashed = |bytes: &[u8]| xxh64(bytes, 0);
    let of_text = |text: &str| hashed(text.as_bytes());
    match list.data_type() {
        DataType::Null => {}
        DataType::UInt64 => keys.extend_from_slice(list.as_primitive::<UInt64Type>().values()),
        DataType::Int64 => keys.extend(list.as_primitive::<Int64Type>().values().iter().map(|key| key.cast_unsigned())),
        DataType::Binary => keys.extend(list.as_binary::<i32>().iter().flatten().map(hashed)),
        DataType::LargeBinary => keys.extend(list.as_binary::<i64>().iter().flatten().map(hashed)),
        DataType::BinaryView => keys.extend(list.as_binary_view().iter().flatten().map(hashed)),
        DataType::FixedSizeBinary(_) => keys.extend(list.as_fixed_size_binary().iter().flatten().map(hashed)),
        DataType::Utf8 => keys.extend(list.as_string::<i32>().iter().flatten().map(of_text)),
        DataType::LargeUtf8 => keys.extend(list.as_string::<i64>().iter().flatten().map(of_text)),
        DataType::Utf8View => keys.extend(list.as_string_view().iter().flatten().map(of_text)),
        other => return Err(format!("keys cannot be {other}; give 64-bit integers, bytes or strings")),
    }
    Ok(())
}
