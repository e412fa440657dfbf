//! Answers that come while they are found.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use fpstore::{Error, ErrorKind, Progress};
use fpstore_bindings::Answers;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::batch::PyBatch;
use crate::call::PAUSE;
use crate::capsule;
use crate::errors::{invalid, of_arrow, of_store};
use crate::process::OfProcess;

/// The answers that were started.
pub(crate) fn answers(started: fpstore::Result<Answers>) -> PyResult<PyAnswers> {
    started.map(PyAnswers::new).map_err(of_store)
}

/// A stream of record batches, which are made while they are read.
///
/// Iterate over it for batches, or pass it to `polars.DataFrame`, `pyarrow.table`, `pandas.DataFrame.from_arrow`, DuckDB
/// and others that take Arrow streams. It can be read once. Work that is not read to its end stops when the stream is
/// closed or dropped.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store", max_distance=3)
/// >>> _ = store.load([7, 6, 2**64 - 1], ids=[1, 2, 3])
/// >>> for batch in store.pairs(k=3):
/// ...     batch
/// <fpstore.Batch of 1 rows: id_a, id_b, distance, fp_a, fp_b>
#[pyclass(frozen, name = "Answers", module = "fpstore")]
#[derive(Debug)]
pub(crate) struct PyAnswers {
    schema: SchemaRef,
    progress: Progress,
    skipped: Arc<AtomicU64>,
    /// Set before the answers are taken out: threads that wait for batches then leave them alone, so that they are not
    /// ahead of the thread that closes them again and again.
    is_taken: AtomicBool,
    /// Whether all batches were read: what is asked for all rows after that is refused.
    is_read: AtomicBool,
    answers: OfProcess<Mutex<Option<Answers>>>,
}

impl PyAnswers {
    pub(crate) fn new(answers: Answers) -> Self {
        let (schema, progress) = (answers.schema(), answers.progress().clone());
        let skipped = Arc::clone(answers.skipped_keys());
        let answers = OfProcess::new(Mutex::new(Some(answers)));
        Self { schema, progress, skipped, is_taken: AtomicBool::new(false), is_read: AtomicBool::new(false), answers }
    }

    /// Only for threads that do not hold the lock of the interpreter.
    fn lock(&self) -> fpstore::Result<MutexGuard<'_, Option<Answers>>> {
        let forked = || refused("the answers were made before this process was forked");
        Ok(self.answers.get().ok_or_else(forked)?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the answers; those that are not taken stop without waiting for their end.
    fn take(&self, py: Python<'_>) -> fpstore::Result<Option<Answers>> {
        self.is_taken.store(true, Relaxed);
        py.detach(|| Ok(self.lock()?.take()))
    }

    /// Refuses answers whose end was read: none of their rows are there any more.
    fn check_unread(&self) -> PyResult<()> {
        if self.is_read.load(Relaxed) { Err(invalid(GONE)) } else { Ok(()) }
    }

    fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        loop {
            let waited = py.detach(|| {
                let mut answers = match self.lock() {
                    Ok(answers) => answers,
                    Err(error) => return Ok(Some(Err(error))),
                };
                let next = match &mut *answers {
                    Some(_) if self.is_taken.load(Relaxed) => return Ok(Some(Err(refused(GONE)))),
                    Some(answers) => answers.next_within(PAUSE),
                    None => Ok(Some(Err(refused(GONE)))),
                };
                if matches!(next, Ok(Some(Err(_)))) {
                    // What follows an error is not the end.
                    drop(answers.take());
                }
                next
            });
            match waited {
                Ok(next) => {
                    self.is_read.fetch_or(next.is_none(), Relaxed);
                    return next.transpose().map_err(of_store);
                }
                Err(()) => {
                    if let Err(raised) = py.check_signals() {
                        self.close(py);
                        return Err(raised);
                    }
                }
            }
        }
    }
}

const GONE: &str = "the answers were read or closed already";

fn refused(message: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, message)
}

impl Drop for PyAnswers {
    /// The work stops without being waited for: this thread may hold the lock of the interpreter.
    fn drop(&mut self) {
        if let Ok(mut answers) = self.lock()
            && let Some(answers) = &mut *answers
        {
            answers.stop();
        }
    }
}

#[pymethods]
impl PyAnswers {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyBatch>> {
        Ok(self.next(py)?.map(PyBatch::new))
    }

    /// All rows as one batch.
    ///
    /// >>> store.pairs(k=3).read_all()
    /// <fpstore.Batch of 1 rows: id_a, id_b, distance, fp_a, fp_b>
    fn read_all(&self, py: Python<'_>) -> PyResult<PyBatch> {
        self.check_unread()?;
        let mut batches = Vec::new();
        while let Some(batch) = self.next(py)? {
            batches.push(batch);
        }
        py.detach(|| concat_batches(&self.schema, &batches)).map(PyBatch::new).map_err(of_arrow)
    }

    /// All columns as lists, by their names.
    ///
    /// >>> store.pairs(k=3).to_pydict()["distance"]
    /// [1]
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Bound::new(py, self.read_all(py)?)?.call_method0("to_pydict")?.cast_into().map_err(PyErr::from)
    }

    /// All rows as dictionaries.
    ///
    /// >>> store.pairs(k=3).to_pylist()
    /// [{'id_a': 2, 'id_b': 1, 'distance': 1, 'fp_a': 6, 'fp_b': 7}]
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Bound::new(py, self.read_all(py)?)?.call_method0("to_pylist")?.cast_into().map_err(PyErr::from)
    }

    /// Names of the columns.
    ///
    /// >>> store.pairs(k=3).column_names
    /// ['id_a', 'id_b', 'distance', 'fp_a', 'fp_b']
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The share of the work that is done, 0 to 1, where that is known.
    ///
    /// >>> pairs = store.pairs(k=3)
    /// >>> rows = sum(len(batch) for batch in pairs)
    /// >>> pairs.progress
    /// 1.0
    #[getter]
    fn progress(&self) -> f64 {
        self.progress.share()
    }

    /// Keys of a key index that did not count because more than `max_key_frequency` records have them, after all rows
    /// were read.
    ///
    /// >>> index = fp.create(tempfile.mkdtemp() + "/index", kind="keys")
    /// >>> index.load([[1 << 60]] * 3, ids=[1, 2, 3])["added"]
    /// 3
    /// >>> pairs = index.pairs(max_key_frequency=2)
    /// >>> len(pairs.read_all()), pairs.skipped_keys
    /// (0, 1)
    #[getter]
    fn skipped_keys(&self) -> u64 {
        self.skipped.load(Relaxed)
    }

    /// Stops the work; what is not read yet is lost.
    ///
    /// >>> pairs = store.pairs(k=3)
    /// >>> pairs.close()
    /// >>> next(pairs)
    /// Traceback (most recent call last):
    /// ...
    /// fpstore.errors.InvalidInputError: the answers were read or closed already
    fn close(&self, py: Python<'_>) {
        if let Ok(Some(mut answers)) = self.take(py) {
            answers.stop();
        }
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) {
        self.close(py);
    }

    /// Arrow's capsule of the stream, which passes to the caller.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        self.check_unread()?;
        let answers = self.take(py).map_err(of_store)?.ok_or_else(|| invalid(GONE))?;
        capsule::of_stream(py, Box::new(Interruptible { answers, python: thread::current().id() }))
    }

    /// Arrow's capsule of the schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, &self.schema)
    }

    fn __repr__(&self) -> String {
        format!("<fpstore.Answers: {}>", self.column_names().join(", "))
    }
}

/// Answers that another library reads, and that Ctrl-C ends.
struct Interruptible {
    answers: Answers,
    /// The thread that asked for the stream: one of Python. It may wait for the lock of the interpreter, others may not:
    /// that thread may have the lock, and wait for them.
    python: ThreadId,
}

impl Iterator for Interruptible {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Ok(next) = self.answers.next_within(PAUSE) {
                return next.map(|batch| batch.map_err(|error| ArrowError::ExternalError(Box::new(error))));
            }
            if thread::current().id() == self.python && Python::attach(|py| py.check_signals().is_err()) {
                self.answers.stop();
                // The other library reports an error of its own; then Ctrl-C comes again.
                capsule::interrupt_again();
                let stopped = Error::new(ErrorKind::Stopped, "interrupted");
                return Some(Err(ArrowError::ExternalError(Box::new(stopped))));
            }
        }
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        self.answers.stop();
    }
}

impl RecordBatchReader for Interruptible {
    fn schema(&self) -> SchemaRef {
        self.answers.schema()
    }
}
