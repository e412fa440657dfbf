//! The types of the columns of fingerprints and ids, and their values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, BinaryViewArray, FixedSizeBinaryArray, Int64Array, StringViewArray, UInt64Array};
use arrow_schema::DataType;
use fpstore::{AnyFingerprint, Fingerprint};

use crate::input::Digits;
use crate::input::RawId;

/// Returns the width that a type of fingerprints implies, if any; an error if fingerprints cannot have the type.
pub(super) fn width(data_type: &DataType) -> Result<Option<u32>, String> {
    match data_type {
        DataType::UInt64 | DataType::Int64 => Ok(Some(64)),
        DataType::Utf8 | DataType::Binary => Ok(None),
        DataType::FixedSizeBinary(bytes) => {
            let width = AnyFingerprint::WIDTHS.into_iter().find(|width| i64::from(*width) == i64::from(*bytes) * 8);
            width.map(Some).ok_or_else(|| format!("fingerprints have 8, 16 or 32 bytes, these have {bytes}"))
        }
        other => Err(format!("fingerprints are 64-bit integers, bytes or hexadecimal texts, these are {other}")),
    }
}

/// Rejects types that ids cannot have.
pub(crate) fn check_id(data_type: &DataType) -> Result<(), String> {
    match data_type {
        DataType::Null | DataType::Utf8 | DataType::Binary => Ok(()),
        integer if integer.is_integer() => Ok(()),
        other => Err(format!("ids are integers or texts, these are {other}")),
    }
}

/// The fingerprints of a batch.
#[derive(Debug)]
pub(super) enum Fingerprints {
    Unsigned(UInt64Array),
    Signed(Int64Array),
    Fixed(FixedSizeBinaryArray),
    Bytes(BinaryViewArray),
    Text(StringViewArray),
}

impl Fingerprints {
    pub(super) fn of(column: &Arc<dyn Array>) -> Result<Self, String> {
        Ok(match column.data_type() {
            DataType::UInt64 => Self::Unsigned(column.as_primitive::<UInt64Type>().clone()),
            DataType::Int64 => Self::Signed(column.as_primitive::<Int64Type>().clone()),
            DataType::FixedSizeBinary(_) => Self::Fixed(column.as_fixed_size_binary().clone()),
            DataType::BinaryView => Self::Bytes(column.as_binary_view().clone()),
            DataType::Utf8View => Self::Text(column.as_string_view().clone()),
            other => return Err(format!("fingerprints cannot be {other}")),
        })
    }

    /// Returns the fingerprint of a row of the batch.
    #[inline]
    pub(super) fn get<F: Fingerprint>(&self, row: usize, digits: Option<Digits>) -> Result<F, String> {
        const NULL: &str = "there is no fingerprint (null)";
        match self {
            Self::Unsigned(column) if column.is_valid(row) => {
                Digits::unsigned(digits, column.value(row)).and_then(of_64_bits)
            }
            // By default all 64 bits count, because most systems have no unsigned integers.
            Self::Signed(column) if column.is_valid(row) => match column.value(row) {
                value @ 0.. => Digits::unsigned(digits, value.cast_unsigned()).and_then(of_64_bits),
                value => Digits::negative(digits.or(Some(Digits::Signed)), value),
            },
            Self::Fixed(column) if column.is_valid(row) => bytes(column.value(row)),
            Self::Bytes(column) if column.is_valid(row) => bytes(column.value(row)),
            Self::Text(column) if column.is_valid(row) => digits.unwrap_or_default().read(column.value(row).as_bytes()),
            _ => Err(NULL.to_owned()),
        }
    }
}

/// Rejects columns of 64 bits for wider fingerprints.
#[inline]
fn of_64_bits<F: Fingerprint>(fingerprint: F) -> Result<F, String> {
    if F::WIDTH == 64 { Ok(fingerprint) } else { Err(format!("expected {} bits, found 64", F::WIDTH)) }
}

/// Converts big-endian bytes.
#[inline]
fn bytes<F: Fingerprint>(bytes: &[u8]) -> Result<F, String> {
    if bytes.len() != F::BYTES {
        return Err(format!("expected {} bytes (a {}-bit fingerprint), found {}", F::BYTES, F::WIDTH, bytes.len()));
    }
    let (words, _) = bytes.as_chunks::<8>();
    Ok(F::from_words(|i| words.get(i).map_or(0, |word| u64::from_be_bytes(*word))))
}

/// The ids of a batch.
#[derive(Debug)]
pub(crate) enum Ids {
    None,
    Unsigned(UInt64Array),
    Signed(Int64Array),
    /// Fingerprints in place of ids.
    Fixed(FixedSizeBinaryArray),
    Bytes(BinaryViewArray),
    Text(StringViewArray),
}

impl Ids {
    pub(crate) fn of(column: &Arc<dyn Array>) -> Result<Self, String> {
        Ok(match column.data_type() {
            DataType::Null => Self::None,
            DataType::UInt64 => Self::Unsigned(column.as_primitive::<UInt64Type>().clone()),
            DataType::UInt32 => Self::Unsigned(unsigned::<UInt32Type>(column)),
            DataType::UInt16 => Self::Unsigned(unsigned::<UInt16Type>(column)),
            DataType::UInt8 => Self::Unsigned(unsigned::<UInt8Type>(column)),
            DataType::Int64 => Self::Signed(column.as_primitive::<Int64Type>().clone()),
            DataType::Int32 => Self::Signed(signed::<Int32Type>(column)),
            DataType::Int16 => Self::Signed(signed::<Int16Type>(column)),
            DataType::Int8 => Self::Signed(signed::<Int8Type>(column)),
            DataType::FixedSizeBinary(_) => Self::Fixed(column.as_fixed_size_binary().clone()),
            DataType::BinaryView => Self::Bytes(column.as_binary_view().clone()),
            DataType::Utf8View => Self::Text(column.as_string_view().clone()),
            other => return Err(format!("ids cannot be {other}")),
        })
    }

    /// Returns the id of a row of the batch.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Result<RawId<'_>, String> {
        Ok(match self {
            Self::Unsigned(column) if column.is_valid(row) => RawId::Number(column.value(row)),
            Self::Signed(column) if column.is_valid(row) => {
                let id = column.value(row);
                RawId::Number(u64::try_from(id).map_err(|_| format!("the id {id} is negative"))?)
            }
            Self::Fixed(column) if column.is_valid(row) => RawId::Text(column.value(row)),
            Self::Bytes(column) if column.is_valid(row) => RawId::Text(column.value(row)),
            Self::Text(column) if column.is_valid(row) => RawId::Text(column.value(row).as_bytes()),
            _ => RawId::None,
        })
    }
}

/// Widens a column of narrow integers.
fn unsigned<T: ArrowPrimitiveType<Native: Into<u64>>>(column: &Arc<dyn Array>) -> UInt64Array {
    column.as_primitive::<T>().iter().map(|id| id.map(Into::into)).collect()
}

/// Widens a column of narrow integers.
fn signed<T: ArrowPrimitiveType<Native: Into<i64>>>(column: &Arc<dyn Array>) -> Int64Array {
    column.as_primitive::<T>().iter().map(|id| id.map(Into::into)).collect()
}
