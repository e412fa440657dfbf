//! Clusters of vertices, shares of records and digests in common, for the stages.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use fpring::Hash;
use fpstore::{IdRef, Result};
use fpstore_bindings::input::{IdColumn, invalid};
use pyo3::prelude::*;

use crate::arguments::{self, Size};
use crate::array::PyArray;
use crate::source::Source;
use crate::{call, given};

/// The keeper of each vertex from 0 to `count` - 1, an array of uint32, given two columns with all pairs of near
/// vertices. Smaller numbers are kept first. `linkage` as of `Store.clusters`.
#[pyfunction]
#[pyo3(signature = (count, a, b, *, linkage))]
pub(crate) fn linked(
    py: Python<'_>,
    count: u32,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = given::linkage)] linkage: &str,
) -> PyResult<PyArray> {
    let linkage = arguments::linkage(linkage)?;
    let (a, b) = (Source::of("a", a)?.whole(py)?, Source::of("b", b)?.whole(py)?);
    call::run(py, move |_| fpstore_bindings::linked(linkage, count, &a, &b)).map(PyArray::new)
}

/// The share, from 0 to `count` - 1, of the record of each id of a column: an array of uint32.
#[pyfunction]
pub(crate) fn shares(py: Python<'_>, ids: &Bound<'_, PyAny>, count: u32) -> PyResult<PyArray> {
    let column = Source::of("ids", ids)?.whole(py)?;
    call::run(py, move |_| shares_of(&column, count)).map(PyArray::new)
}

/// Shares are arcs of the same length of the circle of 2^64 positions of XXH64.
fn shares_of(column: &ArrayRef, count: u32) -> Result<ArrayRef> {
    let ids = IdColumn::new(Some(column))?;
    let of_row = |row| {
        let position = match ids.get(row)? {
            IdRef::Number(number) => Hash::Xxh64.position(&number.to_le_bytes()),
            IdRef::Text(text) => Hash::Xxh64.position(text.as_bytes()),
            IdRef::None => return Err(invalid("a record without an id has no share")),
        };
        #[expect(clippy::cast_possible_truncation, reason = "it is less than `count`")]
        let share = ((u128::from(position) * u128::from(count)) >> 64) as u32;
        Ok(share)
    };
    Ok(Arc::new(UInt32Array::from((0..column.len()).map(of_row).collect::<Result<Vec<_>>>()?)))
}

/// How many of some ascending ids are at most each id of a column: an array of uint32.
#[pyfunction]
pub(crate) fn ranges(py: Python<'_>, ids: &Bound<'_, PyAny>, bounds: &Bound<'_, PyAny>) -> PyResult<PyArray> {
    let (ids, bounds) = (Source::of("ids", ids)?.whole(py)?, Source::of("bounds", bounds)?.whole(py)?);
    call::run(py, move |_| ranges_of(&ids, &bounds)).map(PyArray::new)
}

fn ranges_of(ids: &ArrayRef, bounds: &ArrayRef) -> Result<ArrayRef> {
    let (column, bounds_column) = (IdColumn::new(Some(ids))?, IdColumn::new(Some(bounds))?);
    let bounds = (0..bounds.len()).map(|row| bounds_column.get(row)).collect::<Result<Vec<_>>>()?;
    let range_of = |row| {
        let id = column.get(row)?;
        let before = bounds.partition_point(|bound| match (bound, id) {
            (IdRef::Number(bound), IdRef::Number(id)) => *bound <= id,
            (IdRef::Text(bound), IdRef::Text(id)) => *bound <= id,
            _ => false,
        });
        u32::try_from(before).map_err(|_| invalid("there are too many bounds"))
    };
    Ok(Arc::new(UInt32Array::from((0..ids.len()).map(range_of).collect::<Result<Vec<_>>>()?)))
}

/// The holders of keys after star linkage of some records with them: an array of uint32 with nulls. See
/// `fpstore_bindings::claimed`.
#[pyfunction]
pub(crate) fn claimed(
    py: Python<'_>,
    records: &Bound<'_, PyAny>,
    keys: &Bound<'_, PyAny>,
    holders: &Bound<'_, PyAny>,
) -> PyResult<PyArray> {
    of_rows(py, records, keys, holders, fpstore_bindings::claimed)
}

/// The keeper of the record of each row that is a reason to remove it: an array of uint32 with nulls. See
/// `fpstore_bindings::reasons`.
#[pyfunction]
pub(crate) fn reasons(
    py: Python<'_>,
    records: &Bound<'_, PyAny>,
    keys: &Bound<'_, PyAny>,
    holders: &Bound<'_, PyAny>,
) -> PyResult<PyArray> {
    of_rows(py, records, keys, holders, fpstore_bindings::reasons)
}

fn of_rows(
    py: Python<'_>,
    records: &Bound<'_, PyAny>,
    keys: &Bound<'_, PyAny>,
    holders: &Bound<'_, PyAny>,
    work: fn(&ArrayRef, &ArrayRef, &UInt32Array) -> Result<ArrayRef>,
) -> PyResult<PyArray> {
    let (records, keys) = (Source::of("records", records)?.whole(py)?, Source::of("keys", keys)?.whole(py)?);
    let holders = Source::of("holders", holders)?.whole(py)?;
    let of_numbers = move |_: &_| {
        let holders = holders.as_primitive_opt::<UInt32Type>().ok_or_else(|| invalid("expected a column of uint32"))?;
        work(&records, &keys, holders)
    };
    call::run(py, of_numbers).map(PyArray::new)
}

/// Whether each number of a column is in an ascending one: an array of bool, given two columns of uint64.
#[pyfunction]
pub(crate) fn in_sorted(py: Python<'_>, values: &Bound<'_, PyAny>, ascending: &Bound<'_, PyAny>) -> PyResult<PyArray> {
    let (values, ascending) =
        (Source::of("values", values)?.whole(py)?, Source::of("ascending", ascending)?.whole(py)?);
    call::run(py, move |_| are_known(&values, &ascending)).map(PyArray::new)
}

fn are_known(values: &ArrayRef, ascending: &ArrayRef) -> Result<ArrayRef> {
    let known = numbers(ascending)?;
    let are_known: Vec<bool> = numbers(values)?.iter().map(|value| known.binary_search(value).is_ok()).collect();
    Ok(Arc::new(BooleanArray::from(are_known)))
}

/// The numbers of a column without nulls.
fn numbers(column: &ArrayRef) -> Result<&[u64]> {
    let numbers = column.as_primitive_opt::<UInt64Type>().filter(|numbers| numbers.null_count() == 0);
    numbers.map(|numbers| &**numbers.values()).ok_or_else(|| invalid("expected a column of uint64 without nulls"))
}

/// The bytes of an argument such as `4GiB`.
#[pyfunction]
pub(crate) fn bytes_of(#[pyo3(from_py_with = given::bytes)] memory: Size) -> PyResult<u64> {
    memory.bytes()
}
