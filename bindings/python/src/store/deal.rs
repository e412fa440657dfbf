//! A store's records divided among many stores.

use std::path::PathBuf;

use fpstore_bindings::Dealt;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use super::PyStore;
use crate::{call, given};

#[pymethods]
impl PyStore {
    /// Divides its records among new stores in `folder`, a directory that exists, so that tasks can find the pairs
    /// within distance `k`, in bits, each for itself: a list of dictionaries with `part`, `group`, `path` and
    /// `records`.
    ///
    /// The work has `k` + 1 parts; each part has `groups` groups. The pairs of a part are between records of the same
    /// group, and those of all parts are all pairs, each once. Of each fingerprint only the record with the smallest
    /// id is there. With one group, all parts have the path of one store. Stores that several calls made of the same
    /// group are joined with `more=` of `pairs` and `clusters`. `fpstore.stages` does this with files and tasks.
    ///
    /// >>> dealt = store.deal(tempfile.mkdtemp(), groups=2, k=3)
    /// >>> sum(one["records"] for one in dealt if one["part"] == 0) == len(store)
    /// True
    /// >>> stores = [(one["part"], fp.open(one["path"], read_only=True)) for one in dealt]
    /// >>> pairs = [pair for part, of_group in stores for pair in of_group.pairs(k=3, part=part).to_pylist()]
    /// >>> pairs == store.pairs(k=3).to_pylist()
    /// True
    #[pyo3(signature = (folder, *, groups, k=None))]
    fn deal<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given::folder)] folder: PathBuf,
        #[pyo3(from_py_with = given::groups)] groups: u32,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let (handle, k) = (self.0.get()?, self.asked()?.k(k));
        let dealt =
            call::change(py, &handle, |_| Ok(()), move |handle| fpstore_bindings::deal(handle, &folder, k, groups))?;
        dealt.into_iter().map(|one| dictionary(py, one)).collect()
    }
}

fn dictionary(py: Python<'_>, Dealt { part, group, path, records }: Dealt) -> PyResult<Bound<'_, PyDict>> {
    let dictionary = [("part", u64::from(part)), ("group", group.into()), ("records", records)].into_py_dict(py)?;
    dictionary.set_item("path", path)?;
    Ok(dictionary)
}
