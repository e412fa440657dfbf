//! What is near a fingerprint, or each of many.

use fpstore::AnyFingerprint;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::asked::within_distance;
use super::{PyStore, distance, width_of, within};
use crate::scalar::{GivenId, fingerprint as single, id_to_py, matches, one, to_int};
use crate::{call, given, values};

#[pymethods]
impl PyStore {
    /// All records within distance `k`, in bits, by distance, then fingerprint, then id. Of one fingerprint a list of
    /// `Match`; of many a stream (`Answers`) with `query_row`, `fingerprint`, `distance` and `id`, or `count` where
    /// there are no ids.
    ///
    /// >>> store.query(0b0011, k=1)
    /// [Match(distance=1, fingerprint=0x0000000000000007, id=11)]
    /// >>> store.query([0b0011, 2**64 - 1], k=1).to_pylist()[1]
    /// {'query_row': 1, 'fingerprint': 18446744073709551615, 'distance': 0, 'id': 12}
    #[pyo3(signature = (fingerprint, k=None))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.0.get()?;
        let Some(one) = single(fingerprint, width_of(&handle))? else {
            return self.asked()?.query_many(fingerprint, k)?.into_bound_py_any(py);
        };
        let most = handle.parameters().max_distance();
        let k = k.unwrap_or(most);
        if k <= most {
            return matches(py, within(py, &handle, |store| store.query(one, k))?);
        }
        // May read the whole store.
        matches(py, call::run(py, move |_| handle.store()?.query(one, k))?)
    }

    /// The `count` nearest records, at any distance or up to `k` bits; a list or a stream as of `query`.
    ///
    /// >>> [match.distance for match in store.nearest(0b0001, 2)]
    /// [1, 2]
    #[pyo3(signature = (fingerprint, count=10, *, k=None))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = given::count)] count: usize,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.0.get()?;
        let Some(one) = single(fingerprint, width_of(&handle))? else {
            return self.asked()?.nearest_many(fingerprint, count, k)?.into_bound_py_any(py);
        };
        let within = within_distance(k, width_of(&handle))?;
        matches(py, within(call::run(py, move |_| handle.store()?.nearest(one, count))?))
    }

    /// Whether there is a record within distance `k`, in bits: True or False, of many an array of bool.
    ///
    /// >>> store.contains_near(0b0001, k=1), store.contains_near([1, 2**32], k=0).to_pylist()
    /// (True, [False, False])
    #[pyo3(signature = (fingerprint, k=None))]
    fn contains_near(
        &self,
        py: Python<'_>,
        fingerprint: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = given::k)] k: Option<u32>,
    ) -> PyResult<Py<PyAny>> {
        let handle = self.0.get()?;
        let Some(one) = single(fingerprint, width_of(&handle))? else {
            return self.asked()?.contains_many(fingerprint, k);
        };
        let k = distance(&handle, k);
        let found = if k <= handle.parameters().max_distance() {
            within(py, &handle, |store| store.contains_near(one, k))?
        } else {
            // May read the whole store.
            call::run(py, move |_| handle.store()?.contains_near(one, k))?
        };
        found.is_some().into_py_any(py)
    }

    fn __contains__(&self, py: Python<'_>, fingerprint: &Bound<'_, PyAny>) -> PyResult<bool> {
        let handle = self.0.get()?;
        let one = one(fingerprint, width_of(&handle))?;
        Ok(!within(py, &handle, |store| store.get(one))?.is_empty())
    }

    /// The ids of a fingerprint, a list; where there are no ids, how many records it has.
    ///
    /// >>> store.get(0b0111), store.get(5)
    /// ([11], [])
    fn get<'py>(&self, py: Python<'py>, fingerprint: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let handle = self.0.get()?;
        let one = one(fingerprint, width_of(&handle))?;
        values::listed(py, within(py, &handle, |store| store.get(one))?, |id| id_to_py(py, &id))
    }

    /// The fingerprints of an id, a list of integers. The store needs an id index, or it raises UnsupportedError.
    ///
    /// >>> store.get_id(11)
    /// [7]
    fn get_id<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given::id)] id: GivenId,
    ) -> PyResult<Bound<'py, PyList>> {
        let handle = self.0.get()?;
        let found: Vec<AnyFingerprint> = within(py, &handle, |store| store.get_id(id.as_ref()))?;
        values::listed(py, found, |one| to_int(py, one))
    }
}
