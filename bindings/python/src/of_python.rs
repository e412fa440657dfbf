//! Arrays of values of Python: what a sequence or another iterable holds.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, FixedSizeBinaryBuilder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyList, PyString};

use crate::errors::{in_row, of_arrow};
use crate::refused::{not_converted, refused_in_column};
use crate::scalar;
use crate::values::rows;

/// Values of an argument, each of which may be None, which is a null.
#[derive(Clone, Copy)]
struct Values<'a, 'py> {
    name: &'a str,
    list: &'a Bound<'py, PyList>,
}

impl<'py> Values<'_, 'py> {
    /// Every value as a `T`; an error names the row.
    fn each<T: FromPyObjectOwned<'py>>(self, wanted: &'static str) -> impl Iterator<Item = PyResult<Option<T>>> {
        self.with(move |value| {
            value.extract().map_err(|raised: T::Error| {
                not_converted(value.py(), raised.into(), || refused_in_column(value, wanted))
            })
        })
    }

    /// What `make` makes of every value that is not None; an error names the row.
    fn with<T>(self, make: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>) -> impl Iterator<Item = PyResult<Option<T>>> {
        rows(self.list.py(), self.list.len()).zip(self.list).map(move |(row, value)| {
            let row = row?;
            let made = if value.is_none() { Ok(None) } else { make(&value).map(Some) };
            made.map_err(|error| in_row(value.py(), error, self.name, row))
        })
    }
}

/// An array of Python values: integers, strings, bytes of one length, or lists of integers or strings. None is a null.
pub(crate) fn of_values(name: &str, list: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let values = Values { name, list };
    let Some(first) = list.iter().find(|value| !value.is_none()) else {
        return Ok(Arc::new(NullArray::new(list.len())));
    };
    if first.is_instance_of::<PyString>() {
        let mut texts = StringBuilder::new();
        for text in values.each::<String>("a str") {
            texts.append_option(text?);
        }
        return Ok(Arc::new(texts.finish()));
    }
    if let Ok(bytes) = first.cast::<PyBytes>() {
        let length = i32::try_from(bytes.as_bytes().len()).unwrap_or(i32::MAX);
        let mut rows = FixedSizeBinaryBuilder::new(length);
        for (row, bytes) in values.each::<Vec<u8>>("bytes").enumerate() {
            match bytes? {
                Some(bytes) => {
                    rows.append_value(bytes).map_err(|error| in_row(list.py(), of_arrow(error), name, row))?
                }
                None => rows.append_null(),
            }
        }
        return Ok(Arc::new(rows.finish()));
    }
    // Of other types too, such as arrays of NumPy.
    if first.len().is_ok() && !first.is_instance_of::<PyByteArray>() {
        return lists(values);
    }
    if first.is_instance_of::<PyBool>() {
        return Ok(Arc::new(values.each::<bool>("True or False").collect::<PyResult<BooleanArray>>()?));
    }
    if list.iter().any(|value| value.is_instance_of::<PyFloat>()) {
        return Ok(Arc::new(values.each::<f64>("a number").collect::<PyResult<Float64Array>>()?));
    }
    if list.iter().any(|value| value.extract::<i64>().is_ok_and(|value| value < 0)) {
        return Ok(Arc::new(values.each::<i64>("an integer of 64 bits").collect::<PyResult<Int64Array>>()?));
    }
    let mut numbers = UInt64Builder::new();
    for number in values.each::<u64>("an integer of 64 bits, 0 or more") {
        numbers.append_option(number?);
    }
    Ok(Arc::new(numbers.finish()))
}

/// An array of fingerprints: integers, bytes or hexadecimal digits. None is a null.
pub(crate) fn of_fingerprints(name: &str, list: &Bound<'_, PyList>, width: u32) -> PyResult<ArrayRef> {
    let mut words = UInt64Builder::new();
    let mut rows = FixedSizeBinaryBuilder::new((width / 8).cast_signed());
    let all = Values { name, list }.with(|value| scalar::one(value, width));
    for fingerprint in all {
        match fingerprint?.map(|fingerprint| fingerprint.to_be_bytes()) {
            Some(bytes) if width == 64 => words.append_option(bytes.try_into().ok().map(u64::from_be_bytes)),
            Some(bytes) => rows.append_value(bytes).map_err(of_arrow)?,
            None if width == 64 => words.append_null(),
            None => rows.append_null(),
        }
    }
    Ok(if width == 64 { Arc::new(words.finish()) } else { Arc::new(rows.finish()) })
}

/// Lists of integers, of bytes or of strings.
fn lists(values: Values<'_, '_>) -> PyResult<ArrayRef> {
    let first = values.list.iter().find_map(|list| list.try_iter().ok()?.next()?.ok());
    if first.as_ref().is_some_and(|first| first.is_instance_of::<PyString>()) {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for list in values.each::<Vec<String>>("a list of str") {
            lists.append_option(list?.map(|list| list.into_iter().map(Some)));
        }
        return Ok(Arc::new(lists.finish()));
    }
    if first.is_some_and(|first| first.is_instance_of::<PyBytes>()) {
        let mut lists = ListBuilder::new(BinaryBuilder::new());
        for list in values.each::<Vec<Vec<u8>>>("a list of bytes") {
            lists.append_option(list?.map(|list| list.into_iter().map(Some)));
        }
        return Ok(Arc::new(lists.finish()));
    }
    let mut lists = ListBuilder::new(UInt64Builder::new());
    for list in values.each::<Vec<u64>>("a list of integers of 64 bits, 0 or more") {
        lists.append_option(list?.map(|list| list.into_iter().map(Some)));
    }
    Ok(Arc::new(lists.finish()))
}
