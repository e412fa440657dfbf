//! Columns of numbers of any type.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array};
use arrow_schema::DataType;

/// Rejects columns of other types.
pub(super) fn check(data_type: &DataType) -> Result<(), String> {
    match data_type {
        float if float.is_floating() => Ok(()),
        integer if integer.is_integer() => Ok(()),
        other => Err(format!("expected numbers, these are {other}")),
    }
}

/// The numbers of a batch.
#[derive(Debug)]
pub(crate) struct Numbers(Float64Array);

impl Numbers {
    #[allow(clippy::cast_precision_loss, reason = "compared with a number of a few digits")]
    pub(super) fn of(column: &ArrayRef) -> Result<Self, String> {
        Ok(Self(match column.data_type() {
            DataType::Float64 => column.as_primitive::<Float64Type>().clone(),
            DataType::Float32 => widened::<Float32Type>(column),
            DataType::Float16 => widened::<Float16Type>(column),
            DataType::Int8 => widened::<Int8Type>(column),
            DataType::Int16 => widened::<Int16Type>(column),
            DataType::Int32 => widened::<Int32Type>(column),
            DataType::UInt8 => widened::<UInt8Type>(column),
            DataType::UInt16 => widened::<UInt16Type>(column),
            DataType::UInt32 => widened::<UInt32Type>(column),
            DataType::Int64 => column.as_primitive::<Int64Type>().unary(|number| number as f64),
            DataType::UInt64 => column.as_primitive::<UInt64Type>().unary(|number| number as f64),
            other => return Err(format!("expected numbers, these are {other}")),
        }))
    }

    /// Returns the number of a row; `None` if it is null.
    pub(super) fn get(&self, row: usize) -> Option<f64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

fn widened<T: ArrowPrimitiveType<Native: Into<f64>>>(column: &ArrayRef) -> Float64Array {
    column.as_primitive::<T>().unary(Into::into)
}
