//! Arguments by their names: an error has the name, the value, and what is wanted.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::arguments::Size;
use crate::errors::invalid;
use crate::refused::{not_converted, refused};
use crate::scalar::GivenId;

/// The value of an argument.
fn extracted<'a, 'py, T: FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
    wanted: &str,
) -> PyResult<T> {
    value
        .extract()
        .map_err(|raised: T::Error| not_converted(value.py(), raised.into(), || refused(name, value, wanted)))
}

/// Makes a function for each argument, for `from_py_with`.
macro_rules! arguments {
    ($($wanted:literal: $($name:ident $type:ty),+;)+) => {$($(
        #[allow(clippy::needless_lifetimes, reason = "texts are borrowed, other values are not")]
        pub(crate) fn $name<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<$type> {
            extracted(stringify!($name), value, $wanted)
        }
    )+)+};
}

arguments! {
    "a whole number from 0 to 255": key_bits Option<u8>, sample_bits Option<u8>;
    "a whole number from 0 to 65535": sketch Option<u16>;
    "a whole number from 0 to 4294967295": k Option<u32>, width Option<u32>, max_distance Option<u32>,
        block_size Option<u32>, part Option<u32>, groups u32;
    "a whole number from 0 to 18446744073709551615": count usize, nearest Option<usize>, threads Option<usize>,
        min_shared u64, min_size u64, max_key_frequency Option<u64>;
    "a number": min_jaccard Option<f64>, threshold Option<f64>;
    "a number of bytes from 0 on, or a text such as '4GiB'": memory Option<Size>, filter_memory Option<Size>,
        page_cache Option<Size>;
    "a whole number from 0 to 18446744073709551615, or a str": id GivenId;
    "bytes": sketches Vec<u8>;
    "a str": kind &'a str, ids &'a str, linkage &'a str, durability &'a str, method &'a str, a String, b String,
        plan Option<&'a str>, codec Option<&'a str>, hasher Option<&'a str>, read_mode Option<String>,
        filters Option<String>, fingerprint_column &'a str, keys_column &'a str, id_column Option<&'a str>,
        sketch_column Option<&'a str>;
    "True or False": distinct bool, evidence bool, read_only bool, hard_links bool, yes bool, replace bool, id_index bool;
    "a str or os.PathLike": tmp_dir Option<PathBuf>;
}

/// A number of bytes.
pub(crate) fn bytes(value: &Bound<'_, PyAny>) -> PyResult<Size> {
    extracted("memory", value, "a number of bytes from 0 on, or a text such as '4GiB'")
}

/// The directory for new stores.
pub(crate) fn folder(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    extracted("folder", value, "a str or os.PathLike")
}

/// The path of a store.
pub(crate) fn path(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path: PathBuf = extracted("path", value, "a str or os.PathLike")?;
    if path.as_os_str().is_empty() { Err(invalid("the path is empty")) } else { Ok(path) }
}
