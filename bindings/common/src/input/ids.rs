//! Ids in a column: numbers or texts.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, UInt64Array};
use arrow_schema::DataType;
use fpstore::{IdKind, IdRef, Result};

use super::dictionaries::plain;
use super::errors::{invalid, wrong_type};
use super::texts::TextColumn;

/// The ids of a column.
#[derive(Clone, Debug)]
pub enum IdColumn {
    /// The records have no ids.
    None,
    /// Numbers.
    Numbers(UInt64Array),
    /// Texts.
    Texts(TextColumn),
}

/// Numbers of another type as those of 64 bits; a negative one is an error.
macro_rules! widened {
    ($column:expr, $type:ty) => {{
        let numbers: &PrimitiveArray<$type> = $column.as_primitive();
        let widened = numbers.try_unary::<_, UInt64Type, _>(|value| {
            u64::try_from(value).map_err(|_| {
                let row = numbers.iter().position(|number| number == Some(value)).unwrap_or(0);
                invalid(format!("the id {value} is negative; ids are 0 or more")).at_row(row as u64)
            })
        });
        widened.map(IdColumn::Numbers)
    }};
}

impl IdColumn {
    /// The ids of a column, if there is one.
    ///
    /// # Errors
    /// `InvalidInput` if the values are neither numbers nor texts, or negative.
    pub fn new(column: Option<&ArrayRef>) -> Result<Self> {
        let Some(column) = column else { return Ok(Self::None) };
        match column.data_type() {
            DataType::UInt64 => Ok(Self::Numbers(column.as_primitive::<UInt64Type>().clone())),
            DataType::UInt32 => widened!(column, UInt32Type),
            DataType::UInt16 => widened!(column, UInt16Type),
            DataType::UInt8 => widened!(column, UInt8Type),
            DataType::Int64 => widened!(column, Int64Type),
            DataType::Int32 => widened!(column, Int32Type),
            DataType::Int16 => widened!(column, Int16Type),
            DataType::Int8 => widened!(column, Int8Type),
            DataType::Dictionary(..) => Self::new(Some(&plain(column)?)),
            _ => match TextColumn::new(column) {
                Ok(texts) => Ok(Self::Texts(texts)),
                Err(_) => Err(wrong_type("ids", column.data_type(), "integers or strings")),
            },
        }
    }

    /// The kind of ids that a new store has for these; `None` where there are none to tell it.
    #[must_use]
    pub fn kind(&self) -> Option<IdKind> {
        match self {
            Self::None => None,
            Self::Numbers(_) => Some(IdKind::Number),
            Self::Texts(_) => Some(IdKind::Text),
        }
    }

    /// The id of a row.
    ///
    /// # Errors
    /// `InvalidInput` if it is null.
    #[inline]
    pub fn get(&self, row: usize) -> Result<IdRef<'_>> {
        let null = || invalid("the id is null").at_row(row as u64);
        match self {
            Self::None => Ok(IdRef::None),
            Self::Numbers(numbers) if numbers.is_null(row) => Err(null()),
            Self::Numbers(numbers) => Ok(IdRef::Number(numbers.value(row))),
            Self::Texts(texts) => texts.get(row).map(IdRef::Text).ok_or_else(null),
        }
    }

    /// Refuses a column of another length than that of the records.
    ///
    /// # Errors
    /// `InvalidInput` with both lengths.
    pub fn check_length(&self, records: usize) -> Result<()> {
        let ids = match self {
            Self::None => return Ok(()),
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
        };
        if ids == records { Ok(()) } else { Err(invalid(format!("there are {records} records and {ids} ids"))) }
    }
}
