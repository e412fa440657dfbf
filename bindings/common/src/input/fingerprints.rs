//! Fingerprints in a column.
//!
//! 64 bits are `uint64`, or `int64` with the same bits, where a system has no unsigned numbers. Wider fingerprints are
//! 16 or 32 bytes, most significant byte first: `fixed_size_binary`, `binary` of this length, or lists of so many
//! `uint8`, which is what NumPy arrays of shape `(n, 16)` become. A null is a record without a fingerprint.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt8Type, UInt64Type};
use arrow_array::{Array, ArrayAccessor};
use arrow_schema::DataType;
use fpstore::{Error, Fingerprint, Result};

use super::errors::{invalid, wrong_type};

/// Bits of the fingerprints in a column of this type; `None` if the type has fingerprints of several widths, or none.
#[must_use]
pub fn width_of(of: &DataType) -> Option<u32> {
    match of {
        DataType::UInt64 | DataType::Int64 => Some(64),
        DataType::FixedSizeBinary(bytes) => width_of_bytes(*bytes),
        DataType::FixedSizeList(values, bytes) if *values.data_type() == DataType::UInt8 => width_of_bytes(*bytes),
        _ => None,
    }
}

fn width_of_bytes(bytes: i32) -> Option<u32> {
    matches!(bytes, 8 | 16 | 32).then(|| 8 * bytes.unsigned_abs())
}

/// Calls `take` with the number and the fingerprint of every row.
///
/// # Errors
/// `InvalidInput` if the column has another type or width; those of `take`.
pub fn each<F: Fingerprint>(column: &dyn Array, mut take: impl FnMut(usize, Option<F>) -> Result<()>) -> Result<()> {
    match column.data_type() {
        DataType::Null => (0..column.len()).try_for_each(|row| take(row, None)),
        DataType::UInt64 if F::WIDTH == 64 => {
            visit(column.as_primitive::<UInt64Type>(), |row, value| take(row, value.map(of_number)))
        }
        DataType::Int64 if F::WIDTH == 64 => {
            let of_signed = |value: i64| of_number(value.cast_unsigned());
            visit(column.as_primitive::<Int64Type>(), |row, value| take(row, value.map(of_signed)))
        }
        DataType::FixedSizeBinary(_) => {
            visit(column.as_fixed_size_binary(), |row, value| take(row, bytes(row, value)?))
        }
        DataType::Binary => visit(column.as_binary::<i32>(), |row, value| take(row, bytes(row, value)?)),
        DataType::LargeBinary => visit(column.as_binary::<i64>(), |row, value| take(row, bytes(row, value)?)),
        DataType::BinaryView => visit(column.as_binary_view(), |row, value| take(row, bytes(row, value)?)),
        DataType::FixedSizeList(values, _) if *values.data_type() == DataType::UInt8 => {
            visit(column.as_fixed_size_list(), |row, value| {
                if value.as_ref().is_some_and(|value| value.null_count() > 0) {
                    return Err(invalid("a byte of the fingerprint is null").at_row(row as u64));
                }
                let value = value.as_ref().map(|value| &**value.as_primitive::<UInt8Type>().values());
                take(row, bytes(row, value)?)
            })
        }
        other => Err(wrong_type("fingerprints", other, &wanted(F::WIDTH))),
    }
}

/// The fingerprints of a column that has no nulls, with the rows that have one.
///
/// # Errors
/// As [`each`].
pub fn all<F: Fingerprint>(column: &dyn Array) -> Result<(Vec<F>, Vec<u64>)> {
    let (mut found, mut rows) = (Vec::with_capacity(column.len()), Vec::new());
    let has_nulls = column.logical_null_count() > 0;
    each::<F>(column, |row, fingerprint| {
        found.extend(fingerprint);
        if has_nulls && fingerprint.is_some() {
            rows.push(row as u64);
        }
        Ok(())
    })?;
    Ok((found, rows))
}

fn wanted(width: u32) -> String {
    if width == 64 {
        "uint64, or int64 with the same bits".to_owned()
    } else {
        format!("fixed_size_binary({0}), or {0} uint8 each", width / 8)
    }
}

fn of_number<F: Fingerprint>(number: u64) -> F {
    F::from_words(|_| number)
}

fn bytes<F: Fingerprint>(row: usize, value: Option<&[u8]>) -> Result<Option<F>> {
    let Some(value) = value else { return Ok(None) };
    let (words, []) = value.as_chunks::<8>() else { return Err(wrong_length::<F>(row, value)) };
    if words.len() != F::WORDS {
        return Err(wrong_length::<F>(row, value));
    }
    Ok(Some(F::from_words(|number| words.get(number).map_or(0, |word| u64::from_be_bytes(*word)))))
}

fn wrong_length<F: Fingerprint>(row: usize, value: &[u8]) -> Error {
    invalid(format!("the fingerprint has {} bytes, those of the store have {}", value.len(), F::BYTES))
        .at_row(row as u64)
}

/// Calls `take` with the value of each row.
fn visit<A: ArrayAccessor>(array: A, mut take: impl FnMut(usize, Option<A::Item>) -> Result<()>) -> Result<()> {
    (0..array.len()).try_for_each(|row| take(row, (!array.is_null(row)).then(|| array.value(row))))
}
