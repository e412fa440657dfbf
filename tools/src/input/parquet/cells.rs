//! Columns of values of any type that has an order.

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, make_array};
use arrow_schema::DataType;

use super::columns::Ids;
use super::numbers::Numbers;
use crate::ranks::Value;

/// The values of a batch.
#[derive(Debug)]
pub(crate) enum Cells {
    /// Integers, texts and bytes.
    Plain(Ids),
    Booleans(BooleanArray),
    Floats(Numbers),
    Decimals(Decimal128Array),
}

/// Returns the integer type that stores dates and times of this type.
fn stored(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Date32 | DataType::Time32(_) => Some(DataType::Int32),
        DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => {
            Some(DataType::Int64)
        }
        _ => None,
    }
}

impl Cells {
    /// Rejects columns of other types.
    pub(crate) fn check(data_type: &DataType) -> Result<(), String> {
        match data_type {
            DataType::Null | DataType::Boolean | DataType::Decimal128(..) => Ok(()),
            DataType::Utf8 | DataType::Binary | DataType::FixedSizeBinary(_) => Ok(()),
            number if number.is_integer() || number.is_floating() || stored(number).is_some() => Ok(()),
            other => Err(format!("expected numbers, texts, booleans, dates or times, these are {other}")),
        }
    }

    pub(crate) fn of(column: &ArrayRef) -> Result<Self, String> {
        if let Some(integers) = stored(column.data_type()) {
            let data = column.to_data().into_builder().data_type(integers).build();
            return Ok(Self::Plain(Ids::of(&make_array(data.map_err(|error| error.to_string())?))?));
        }
        Ok(match column.data_type() {
            DataType::Boolean => Self::Booleans(column.as_boolean().clone()),
            DataType::Decimal128(..) => Self::Decimals(column.as_primitive::<Decimal128Type>().clone()),
            float if float.is_floating() => Self::Floats(Numbers::of(column)?),
            _ => Self::Plain(Ids::of(column)?),
        })
    }

    /// Returns the value of a row of the batch. Decimals of one column are integers, as they have one scale.
    pub(crate) fn get(&self, row: usize) -> Value<'_> {
        match self {
            Self::Plain(Ids::Unsigned(column)) if column.is_valid(row) => Value::Integer(column.value(row).into()),
            Self::Plain(Ids::Signed(column)) if column.is_valid(row) => Value::Integer(column.value(row).into()),
            Self::Plain(Ids::Fixed(column)) if column.is_valid(row) => Value::Text(column.value(row)),
            Self::Plain(Ids::Bytes(column)) if column.is_valid(row) => Value::Text(column.value(row)),
            Self::Plain(Ids::Text(column)) if column.is_valid(row) => Value::Text(column.value(row).as_bytes()),
            Self::Booleans(column) if column.is_valid(row) => Value::Integer(column.value(row).into()),
            Self::Decimals(column) if column.is_valid(row) => Value::Integer(column.value(row)),
            Self::Floats(column) => column.get(row).map_or(Value::None, Value::Float),
            _ => Value::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Date32Array, Date64Array, Float32Array, Int8Array, Time64MicrosecondArray, TimestampMillisecondArray,
        TimestampNanosecondArray, UInt64Array,
    };
    use std::sync::Arc;

    #[test]
    fn every_type() {
        let decimals = Decimal128Array::from(vec![Some(-15), None]).with_precision_and_scale(38, 2).unwrap();
        let columns: [(ArrayRef, Value<'_>); 10] = [
            (Arc::new(Int8Array::from(vec![Some(-7), None])), Value::Integer(-7)),
            (Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])), Value::Integer(u64::MAX.into())),
            (Arc::new(Float32Array::from(vec![Some(0.5), None])), Value::Float(0.5)),
            (Arc::new(BooleanArray::from(vec![Some(true), None])), Value::Integer(1)),
            (Arc::new(decimals), Value::Integer(-15)),
            (Arc::new(Date32Array::from(vec![Some(-3), None])), Value::Integer(-3)),
            (Arc::new(Date64Array::from(vec![Some(86_400_000), None])), Value::Integer(86_400_000)),
            (Arc::new(Time64MicrosecondArray::from(vec![Some(5), None])), Value::Integer(5)),
            (Arc::new(TimestampMillisecondArray::from(vec![Some(-1), None])), Value::Integer(-1)),
            (Arc::new(TimestampNanosecondArray::from(vec![Some(9), None]).with_timezone("+01:00")), Value::Integer(9)),
        ];
        for (column, expected) in columns {
            Cells::check(column.data_type()).unwrap();
            let cells = Cells::of(&column).unwrap();
            assert_eq!((cells.get(0), cells.get(1)), (expected, Value::None), "{}", column.data_type());
        }
        assert!(Cells::check(&DataType::Decimal256(60, 0)).unwrap_err().contains("these are Decimal256"));
    }
}
