//! fpstore for Python: the native part of the package `fpstore`. It converts arguments and answers; the work is done by
//! the library and, for Arrow, by `bindings/common`.
//!
//! * `array.rs`, `batch.rs`, `table.rs`, `answers.rs`: what Python gets, with the PyCapsule protocols of Arrow.
//! * `source.rs`, `of_python.rs`, `pandas.rs`: what Python gives: Arrow, NumPy and other buffers, sequences, pandas.
//!   `given.rs`: other arguments; `refused.rs`: what is wrong with one; `wording.rs`: options of programs as arguments.
//! * `call.rs`: long calls release the interpreter lock and end soon after Ctrl-C; `running.rs`: at the latest before
//!   the interpreter does.
//! * `base.rs`: what stores of fingerprints (`store/`) and key indexes (`key_index/`) share; `open.rs` makes them.
//! * `sketch/`: fingerprints, signatures and keys of texts. `graph.rs`, `ring.rs`: what `fpstore.stages` and
//!   `fpstore.ring` are made of.
//!
//! The lock of the interpreter is released in everything that takes more than some microseconds, and no lock of this
//! crate is held while it is taken.

mod answers;
mod arguments;
mod array;
mod base;
mod batch;
mod call;
mod capsule;
mod errors;
mod given;
mod graph;
mod key_index;
mod loading;
mod log;
mod of_python;
mod open;
mod opened;
mod pandas;
mod pickled;
mod process;
mod refused;
mod reports;
mod ring;
mod running;
mod scalar;
mod sketch;
mod source;
mod store;
mod table;
mod values;
mod wording;

use pyo3::prelude::*;

/// The native part of fpstore. Import `fpstore` instead.
#[pymodule(gil_used = false)]
mod _native {
    use super::{Bound, PyModule, PyResult};

    #[pymodule_export]
    use crate::answers::PyAnswers;
    #[pymodule_export]
    use crate::array::{_array, PyArray};
    #[pymodule_export]
    use crate::base::{PyBaseSnapshot, PyBaseStore};
    #[pymodule_export]
    use crate::batch::{_batch, PyBatch};
    #[pymodule_export]
    use crate::graph::{bytes_of, claimed, in_sorted, linked, ranges, reasons, shares};
    #[pymodule_export]
    use crate::key_index::{_key_match, PyKeyIndex, PyKeyMatch, PyKeySnapshot};
    #[pymodule_export]
    use crate::open::{create, open, repair, verify};
    #[pymodule_export]
    use crate::ring::{PyRing, PyRingLock};
    #[pymodule_export]
    use crate::scalar::{_match, PyMatch};
    #[pymodule_export]
    use crate::sketch::{bands, compare, health, lucene_min_hash, minhash, simhash};
    #[pymodule_export]
    use crate::store::{PySnapshot, PyStore};
    #[pymodule_export]
    use crate::table::{_table, PyTable, renamed};

    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::process::watch_forks(module)?;
        crate::running::watch_exit(module)
    }
}
