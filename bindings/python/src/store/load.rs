//! Loads of many records, beyond memory if need be.

use fpstore_bindings::Deed;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{PyStore, width_of};
use crate::source::{Source, Together};
use crate::{given, loading};

impl PyStore {
    /// Loads, replaces or removes the records of columns.
    fn bulk<'py>(
        &self,
        py: Python<'py>,
        deed: Deed,
        records: &Bound<'py, PyAny>,
        ids: Option<&Bound<'py, PyAny>>,
        (fingerprint_column, id_column): (&str, Option<&str>),
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let handle = self.0.get()?;
        let source = Source::of_fingerprints("records", records, width_of(&handle))?;
        source.check_hasher(handle.parameters().hasher())?;
        let is_table = source.is_table();
        let ids = ids.map(|ids| Source::of("ids", ids)).transpose()?;
        let has_ids = ids.is_some();
        let names = (fingerprint_column.to_owned(), id_column.map(str::to_owned));
        let pieces = Together::new(vec![("records", Some(source)), ("ids", ids)]).map(move |piece| {
            let mut piece = piece?.into_iter();
            let (Some(records), ids) = (piece.next().flatten(), piece.next().flatten()) else {
                return Err(fpstore_bindings::input::invalid("there are no records"));
            };
            if !is_table {
                return Ok((records, ids));
            }
            let fingerprints = Source::column(&records, &names.0)?;
            Ok((fingerprints, if has_ids { ids } else { Source::named(&records, names.1.as_deref(), "id")? }))
        });
        loading::load(py, &handle, progress, move |handle, seen| fpstore_bindings::load(handle, deed, pieces, seen))
    }
}

/// Methods that load, replace or remove.
macro_rules! loads {
    ($($(#[$doc:meta])+ $name:ident $deed:ident;)+) => {
        #[pymethods]
        impl PyStore {$(
            $(#[$doc])+
            #[pyo3(signature = (records, ids=None, *, fingerprint_column="fingerprint", id_column=None, progress=None))]
            fn $name<'py>(
                &self,
                py: Python<'py>,
                records: &Bound<'py, PyAny>,
                ids: Option<&Bound<'py, PyAny>>,
                #[pyo3(from_py_with = given::fingerprint_column)] fingerprint_column: &str,
                #[pyo3(from_py_with = given::id_column)] id_column: Option<&str>,
                progress: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyDict>> {
                self.bulk(py, Deed::$deed, records, ids, (fingerprint_column, id_column), progress)
            }
        )+}
    };
}

loads! {
    /// Adds many records, all or nothing, beyond memory if need be; records that are there already are counted. Returns
    /// a dictionary: `records`, `added`, `removed`, and `nulls`, the records without a fingerprint, which are left out.
    ///
    /// `records` is a column of fingerprints, or a table (also a dictionary of columns) with `fingerprint_column` and,
    /// unless `ids` are given, `id_column`, or "id" if there is such a column. `progress` is True for a bar of tqdm, or
    /// a function that is called with the number of records read. Ctrl-C leaves the store as it was.
    ///
    /// Raises InvalidInputError, with the `row` of the whole input, if a fingerprint or an id is refused.
    ///
    /// >>> store.load({"fingerprint": [5, 2**64 - 1], "id": [20, 12]})
    /// {'records': 2, 'added': 1, 'removed': 0, 'nulls': 0}
    load Add;

    /// Adds many records, and removes other fingerprints of the same ids. As `load`; the store needs an id index.
    ///
    /// >>> store.load_replace([0b1000], ids=[10])["removed"], store.get_id(10)
    /// (1, [8])
    load_replace Replace;

    /// Removes many records, all or nothing. As `load`.
    ///
    /// >>> store.load_remove([0b0000, 5], ids=[10, 11])["removed"], len(store)
    /// (1, 2)
    load_remove Remove;
}
