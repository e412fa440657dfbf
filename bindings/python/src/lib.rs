//! fpstore for Python: the native part of the package `fpstore`. It converts arguments and answers; the work is done by
//! the library and, for Arrow, by `bindings/common`.
//!
//! * `array.rs`, `batch.rs`, `table.rs`, `answers.rs`: what Python gets, with the PyCapsule protocols of Arrow.
//! * `source.rs`, `pandas.rs`: what Python gives: Arrow, NumPy and other buffers, pandas, sequences.
//! * `call.rs`: long calls release the interpreter lock and end soon after Ctrl-C.
//! * `store.rs`, `key_index.rs`, `jobs.rs`: a store, a key index, the work over all records.
//! * `sketch/`: fingerprints, signatures and keys of texts.
//!
//! The lock of the interpreter is released in everything that takes more than some microseconds, and no lock of this
//! crate is held while it is taken.

mod answers;
mod arguments;
mod array;
mod batch;
mod call;
mod capsule;
mod errors;
mod jobs;
mod key_index;
mod open;
mod opened;
mod pandas;
mod process;
mod reports;
mod scalar;
mod sketch;
mod snapshot;
mod source;
mod store;
mod table;
mod values;

use pyo3::prelude::*;

/// The native part of fpstore. Import `fpstore` instead.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::answers::PyAnswers;
    #[pymodule_export]
    use crate::array::PyArray;
    #[pymodule_export]
    use crate::batch::PyBatch;
    #[pymodule_export]
    use crate::key_index::{PyKeyIndex, PyKeyMatch};
    #[pymodule_export]
    use crate::open::{create, open, repair, verify};
    #[pymodule_export]
    use crate::scalar::PyMatch;
    #[pymodule_export]
    use crate::sketch::{bands, compare, health, lucene_min_hash, minhash, simhash};
    #[pymodule_export]
    use crate::snapshot::PySnapshot;
    #[pymodule_export]
    use crate::store::PyStore;
    #[pymodule_export]
    use crate::table::{PyTable, renamed};
}
