//! Columns whose values are numbers of entries of a dictionary: categories of pandas and polars.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_select::take::take;
use fpstore::Result;

use super::errors::invalid;

/// The column with the entries themselves; one without a dictionary as it is.
///
/// # Errors
/// `InvalidInput` if the entries together are larger than a column can be.
pub fn plain(column: &ArrayRef) -> Result<ArrayRef> {
    match column.as_any_dictionary_opt() {
        Some(numbers) => take(&**numbers.values(), numbers.keys(), None).map_err(|error| invalid(error.to_string())),
        None => Ok(Arc::clone(column)),
    }
}
