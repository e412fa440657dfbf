//! Texts in a column.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::DataType;
use fpstore::Result;

use super::dictionaries::plain;
use super::errors::wrong_type;

/// The texts of a column of one of Arrow's types of strings.
#[derive(Clone, Debug)]
pub enum TextColumn {
    /// `utf8`.
    Small(StringArray),
    /// `large_utf8`.
    Large(LargeStringArray),
    /// `utf8_view`.
    View(StringViewArray),
}

impl TextColumn {
    /// The texts of a column, or of its dictionary; that without a type has nulls alone.
    ///
    /// # Errors
    /// `InvalidInput` if it has others.
    pub fn new(column: &ArrayRef) -> Result<Self> {
        match column.data_type() {
            DataType::Utf8 => Ok(Self::Small(column.as_string().clone())),
            DataType::LargeUtf8 => Ok(Self::Large(column.as_string().clone())),
            DataType::Utf8View => Ok(Self::View(column.as_string_view().clone())),
            DataType::Null => Ok(Self::Small(StringArray::new_null(column.len()))),
            DataType::Dictionary(..) => Self::new(&plain(column)?),
            other => Err(wrong_type("texts", other, "strings")),
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Small(texts) => texts.len(),
            Self::Large(texts) => texts.len(),
            Self::View(texts) => texts.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a row; `None` if it is null, or there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        macro_rules! of {
            ($texts:expr) => {
                (row < $texts.len() && !$texts.is_null(row)).then(|| $texts.value(row))
            };
        }
        match self {
            Self::Small(texts) => of!(texts),
            Self::Large(texts) => of!(texts),
            Self::View(texts) => of!(texts),
        }
    }
}
