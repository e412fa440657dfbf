//! Keys in a column: a list for each record.
//!
//! Keys are those of `fpload`: [`fpstore_tools::key_lists`].

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use fpstore::Result;
use fpstore_tools::key_lists;

use super::dictionaries::plain;
use super::errors::{invalid, wrong_type};

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
        let list = key_lists::list_at(&*self.0, row).ok_or_else(|| invalid("the column has no lists"))?;
        key_lists::push(&plain(&list)?, keys).map_err(|message| invalid(message).at_row(row as u64))
    }
}
