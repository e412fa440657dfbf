//! Clusters of vertices whose pairs are columns of numbers.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array};
use fpstore::clusters::{Linkage, linked as linked_pairs};
use fpstore::{IdRef, Result};

use crate::input::{IdColumn, invalid};

/// The keeper of each vertex from 0 to `count - 1`: [`fpstore::clusters::linked`] of the pairs in two columns of
/// integers.
///
/// # Errors
/// `InvalidInput` if the columns are not of the same length, or a vertex is not one.
pub fn linked(linkage: Linkage, count: u32, a: &ArrayRef, b: &ArrayRef) -> Result<ArrayRef> {
    let columns = (IdColumn::new(Some(a))?, IdColumn::new(Some(b))?);
    columns.0.check_length(b.len())?;
    let vertex = |column: &IdColumn, row| match column.get(row)? {
        IdRef::Number(number) => u32::try_from(number).map_err(|_| invalid(format!("{number} is no vertex"))),
        _ => Err(invalid("vertices are numbers")),
    };
    let pair = |row| Ok((vertex(&columns.0, row)?, vertex(&columns.1, row)?));
    let mut pairs = (0..a.len()).map(pair).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(UInt32Array::from(linked_pairs(linkage, count, &mut pairs)?)))
}
