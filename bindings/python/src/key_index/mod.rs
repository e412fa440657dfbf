//! A key index.
//!
//! * `questions.rs`: queries and work over all records, of indexes and of snapshots (`snapshot.rs`).
//! * `found.rs`: a record that a query finds.

mod found;
mod questions;
mod snapshot;

use std::sync::Arc;

use fpstore::keys::KeySnapshot;
use fpstore_bindings::{Deed, Handle};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::Opening;
use crate::base::PyBaseStore;
use crate::errors::of_store;
use crate::opened::Opened;
use crate::source::{Source, Together};
use crate::{given, loading};
pub(crate) use found::{_key_match, PyKeyMatch};
pub(crate) use snapshot::PyKeySnapshot;

/// An index of records with several keys each, such as MinHash bands: made by `fpstore.create(kind="keys")`, or opened
/// by `fpstore.open`. Loads and removals are durable when they return.
///
/// Keys are integers of 64 bits; those of bytes and strings are their XXH64. A column of keys has a list for each
/// record. A sketch, if the index has them, is bytes; `fpstore.bands(..., sketch=BITS)` makes both.
///
/// >>> import fpstore as fp, tempfile
/// >>> index = fp.create(tempfile.mkdtemp() + "/index", kind="keys")
/// >>> index.load([[1 << 60, 2 << 60], [2 << 60, 3 << 60]], ids=[7, 8])["added"]
/// 2
/// >>> index.query([2 << 60, 3 << 60])
/// [KeyMatch(id=8, shared=2, jaccard=None), KeyMatch(id=7, shared=1, jaccard=None)]
#[pyclass(frozen, extends = PyBaseStore, name = "KeyIndex", module = "fpstore")]
pub(crate) struct PyKeyIndex(Arc<Opened>);

impl PyKeyIndex {
    pub(crate) fn new(handle: Handle, opening: Opening) -> PyClassInitializer<Self> {
        let opened = Arc::new(Opened::new(handle));
        PyClassInitializer::from(PyBaseStore(Arc::clone(&opened), opening)).add_subclass(Self(opened))
    }

    fn asked(&self) -> PyResult<KeySnapshot> {
        self.0.get()?.keys().map(fpstore::KeyIndex::snapshot).map_err(of_store)
    }
}

#[pymethods]
impl PyKeyIndex {
    /// Bits of a stored key.
    ///
    /// >>> index.key_bits
    /// 48
    #[getter]
    fn key_bits(&self) -> PyResult<u8> {
        Ok(self.0.get()?.parameters().keys().unwrap_or_default().key_bits())
    }

    /// Bits of a sketch; 0 without sketches.
    ///
    /// >>> index.sketch_bits
    /// 0
    #[getter]
    fn sketch_bits(&self) -> PyResult<u16> {
        Ok(self.0.get()?.parameters().keys().unwrap_or_default().sketch_bits())
    }

    /// Adds many records, all or nothing, beyond memory if need be; records whose id is there already are left out, or
    /// with replace=True take the place of the earlier ones. `records` is a column of lists of keys, or a table with
    /// the named columns. As `Store.load`.
    ///
    /// >>> index.load([[3 << 60], [4 << 60]], ids=[8, 9], replace=True)
    /// {'records': 2, 'added': 2, 'removed': 1, 'nulls': 0}
    #[pyo3(signature = (
        records, ids=None, sketches=None, *, replace=false, keys_column="keys", id_column=None, sketch_column=None,
        progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn load<'py>(
        &self,
        py: Python<'py>,
        records: &Bound<'py, PyAny>,
        ids: Option<&Bound<'py, PyAny>>,
        sketches: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = given::replace)] replace: bool,
        #[pyo3(from_py_with = given::keys_column)] keys_column: &str,
        #[pyo3(from_py_with = given::id_column)] id_column: Option<&str>,
        #[pyo3(from_py_with = given::sketch_column)] sketch_column: Option<&str>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let handle = self.0.get()?;
        let deed = if replace { Deed::Replace } else { Deed::Add };
        let source = Source::of("records", records)?;
        source.check_hasher(handle.parameters().hasher())?;
        let is_table = source.is_table();
        let ids = ids.map(|ids| Source::of("ids", ids)).transpose()?;
        let sketches = sketches.map(|sketches| Source::of("sketches", sketches)).transpose()?;
        let [id_column, sketch_column] = [id_column, sketch_column].map(|name| name.map(str::to_owned));
        let keys_column = keys_column.to_owned();
        let together = vec![("records", Some(source)), ("ids", ids), ("sketches", sketches)];
        let pieces = Together::new(together).map(move |piece| {
            let mut piece = piece?.into_iter();
            let mut next = || piece.next().flatten();
            let (records, ids, sketches) = (next(), next(), next());
            let records = records.ok_or_else(|| fpstore_bindings::input::invalid("there are no records"))?;
            if !is_table {
                return Ok((records, ids, sketches));
            }
            let own_ids = Source::named(&records, id_column.as_deref(), "id")?;
            let own_sketches = Source::named(&records, sketch_column.as_deref(), "sketch")?;
            Ok((Source::column(&records, &keys_column)?, ids.or(own_ids), sketches.or(own_sketches)))
        });
        loading::load(py, &handle, progress, move |handle, seen| fpstore_bindings::key_load(handle, deed, pieces, seen))
    }

    /// The index as it is now, a `KeySnapshot`. Later loads do not change it.
    ///
    /// >>> len(index.snapshot())
    /// 2
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<PyKeySnapshot>> {
        Py::new(py, PyKeySnapshot::new(self.asked()?))
    }
}
