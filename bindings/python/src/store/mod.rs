//! A store of fingerprints.
//!
//! * `load.rs`: many records, beyond memory; `write.rs`: single writes; `lookup.rs`: what is near a fingerprint;
//!   `deal.rs`: dividing the records among tasks.
//! * `questions.rs`: work over all records, of stores and of snapshots (`snapshot.rs`), asked through `asked.rs`.

mod asked;
mod deal;
mod load;
mod lookup;
mod questions;
mod snapshot;
mod write;

use std::sync::Arc;

use fpstore_bindings::Handle;
use pyo3::prelude::*;

use crate::arguments::Opening;
use crate::base::PyBaseStore;
use crate::errors::of_store;
use crate::opened::Opened;
use asked::Asked;
pub(crate) use snapshot::PySnapshot;

/// A store of fingerprints, made by `fpstore.create` or opened by `fpstore.open`.
///
/// Any number of threads may use it at the same time. As a context manager it closes at the end.
///
/// Fingerprints are integers, bytes (most significant first) or hexadecimal digits; many of them are an Arrow array or
/// stream, a NumPy array or another buffer, or a sequence. 64-bit fingerprints are uint64 in Arrow and NumPy, wider
/// ones fixed_size_binary(16 or 32), or rows of uint8. `k` is a distance in bits; without it, the one that the store is
/// made for.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store", max_distance=3, id_index=True)
/// >>> store.load([0b0000, 0b0111, 2**64 - 1], ids=[10, 11, 12])["added"]
/// 3
/// >>> [match.id for match in store.query(0b0001, k=2)]
/// [10, 11]
#[pyclass(frozen, extends = PyBaseStore, name = "Store", module = "fpstore")]
pub(crate) struct PyStore(Arc<Opened>);

impl PyStore {
    pub(crate) fn new(handle: Handle, opening: Opening) -> PyClassInitializer<Self> {
        let opened = Arc::new(Opened::new(handle));
        PyClassInitializer::from(PyBaseStore(Arc::clone(&opened), opening)).add_subclass(Self(opened))
    }

    fn asked(&self) -> PyResult<Asked> {
        let handle = self.0.get()?;
        Ok(Asked { snapshot: handle.snapshot().map_err(of_store)?, threads: handle.threads })
    }
}

/// Bits of the fingerprints of a store.
fn width_of(handle: &Handle) -> u32 {
    handle.parameters().width()
}

/// The distance that is asked for, or that the store is made for.
fn distance(handle: &Handle, k: Option<u32>) -> u32 {
    k.unwrap_or_else(|| handle.parameters().max_distance())
}

/// Works with the store of a handle without the lock of the interpreter.
fn within<T: Send>(
    py: Python<'_>,
    handle: &Handle,
    work: impl FnOnce(&fpstore::AnyStore) -> fpstore::Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| work(handle.store()?)).map_err(of_store)
}

#[pymethods]
impl PyStore {
    /// Bits of a fingerprint: 64, 128 or 256.
    ///
    /// >>> store.width
    /// 64
    #[getter]
    fn width(&self) -> PyResult<u32> {
        Ok(width_of(&*self.0.get()?))
    }

    /// The distance in bits for which the store is made.
    ///
    /// >>> store.max_distance
    /// 3
    #[getter]
    fn max_distance(&self) -> PyResult<u32> {
        Ok(self.0.get()?.parameters().max_distance())
    }

    /// The name of the design of the tables.
    ///
    /// >>> store.plan.split("-")[0]
    /// 'tables'
    #[getter]
    fn plan(&self) -> PyResult<String> {
        Ok(self.0.get()?.parameters().design().to_string())
    }

    /// The store as it is now, a `Snapshot`. Later writes do not change it.
    ///
    /// >>> len(store.snapshot())
    /// 3
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<PySnapshot>> {
        Py::new(py, PySnapshot::new(self.asked()?))
    }
}
