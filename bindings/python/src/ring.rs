//! The ring of a sharded store.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use fpring::file::{self, Lock};
use fpring::{ErrorKind, Ring};
use fpstore::{Error, IdRef, Result};
use fpstore_bindings::input::{IdColumn, invalid};
use pyo3::prelude::*;

use crate::array::PyArray;
use crate::call;
use crate::errors::of_store;
use crate::given;
use crate::scalar::GivenId;
use crate::source::Source;

/// Which nodes share the records of a sharded store: a ring file, as `fpring` writes it.
///
/// >>> import tempfile
/// >>> from fpstore import ring
/// >>> file = tempfile.mkdtemp() + "/ring.json"
/// >>> _ = open(file, "w").write('{"format": "fpstore ring", "version": 1, "hash": "xxh64", "virtual": 128, '
/// ...     '"replicas": 2, "nodes": [{"name": "a", "weight": 1}, {"name": "b", "weight": 1}, {"name": "c", "weight": 2}]}')
/// >>> circle = ring.Ring(file)
/// >>> circle.nodes, circle.replicas
/// (['a', 'b', 'c'], 2)
#[pyclass(frozen, name = "Ring", module = "fpstore.ring")]
pub(crate) struct PyRing {
    ring: Arc<Ring>,
    path: PathBuf,
    /// Each set of nodes that has records, and the number of positions of these on the circle.
    owners: BTreeMap<Vec<u32>, u128>,
}

#[pymethods]
impl PyRing {
    #[new]
    fn new(#[pyo3(from_py_with = given::path)] path: PathBuf) -> PyResult<Self> {
        let ring = file::read(&path).map_err(|error| of_ring(&error))?;
        let mut owners = BTreeMap::new();
        for mut arc in ring.arcs() {
            arc.nodes.sort_unstable();
            *owners.entry(arc.nodes).or_default() += arc.length;
        }
        Ok(Self { ring: Arc::new(ring), path, owners })
    }

    /// The names of the nodes.
    ///
    /// >>> circle.nodes
    /// ['a', 'b', 'c']
    #[getter]
    fn nodes(&self) -> Vec<&str> {
        self.ring.nodes().iter().map(fpring::Node::name).collect()
    }

    /// The directories of the nodes' stores.
    ///
    /// >>> [directory.name for directory in circle.directories]
    /// ['a', 'b', 'c']
    #[getter]
    fn directories(&self) -> Vec<PathBuf> {
        self.ring.nodes().iter().map(|node| node.directory(&self.path)).collect()
    }

    /// The number of nodes that have each record.
    ///
    /// >>> circle.replicas
    /// 2
    #[getter]
    fn replicas(&self) -> u32 {
        self.ring.settings().replicas
    }

    /// The nodes that have the record of an id, a list of names. As `fpring locate`.
    ///
    /// >>> circle.locate(17) == circle.locate("17"), len(set(circle.locate("https://example.org/")))
    /// (True, 2)
    fn locate(&self, #[pyo3(from_py_with = given::id)] id: GivenId) -> Vec<String> {
        let nodes = match &id {
            GivenId::Number(number) => self.ring.locate_id(*number),
            GivenId::Text(text) => self.ring.locate(text.as_bytes()),
        };
        nodes.into_iter().map(|node| node.name().to_owned()).collect()
    }

    /// Whether a node has the records of the ids of a column: an array of bool. `node` is a number, a place in `nodes`.
    ///
    /// >>> sum(sum(circle.has(range(100), node).to_pylist()) for node in range(3))
    /// 200
    fn has(&self, py: Python<'_>, ids: &Bound<'_, PyAny>, node: u32) -> PyResult<PyArray> {
        let found = self.of_ids(py, ids, move |owners| owners.contains(&node))?;
        Ok(PyArray::new(Arc::new(BooleanArray::from(found))))
    }

    /// Of the nodes that have each record of a column of ids, the first one that is `asked`, a list of bool for all
    /// nodes: an array of uint32, numbers of nodes, with a null where none of them is asked.
    ///
    /// >>> circle.first([17], [True] * 3).to_pylist() == [circle.nodes.index(circle.locate(17)[0])]
    /// True
    fn first(&self, py: Python<'_>, ids: &Bound<'_, PyAny>, asked: Vec<bool>) -> PyResult<PyArray> {
        let is_asked = move |node: &u32| asked.get(*node as usize).copied().unwrap_or(false);
        let found = self.of_ids(py, ids, move |owners| owners.iter().copied().find(|node| is_asked(node)))?;
        Ok(PyArray::new(Arc::new(UInt32Array::from(found))))
    }

    /// Of the nodes that are `alive`, a list of bool for all nodes, a few that have as many records together as all of
    /// them: a list of bool, and the share of records that none of these has. Readers that `begin` at different nodes
    /// ask different ones.
    ///
    /// >>> circle.cover([True, True, False])
    /// ([True, True, False], 0.0)
    /// >>> asked, lost = circle.cover([True, False, False])
    /// >>> asked, 0 < lost < 1
    /// ([True, False, False], True)
    #[pyo3(signature = (alive, begin=0))]
    fn cover(&self, mut alive: Vec<bool>, begin: usize) -> (Vec<bool>, f64) {
        let count = self.ring.nodes().len();
        alive.resize(count, false);
        let lost = self.lost(&alive);
        for node in (0..count).map(|number| begin.wrapping_add(number) % count) {
            let Some(asked) = alive.get_mut(node).filter(|asked| **asked) else { continue };
            *asked = false;
            if self.lost(&alive) > lost {
                alive.get_mut(node).into_iter().for_each(|asked| *asked = true);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a share has 53 bits")]
        let share = lost as f64 / self.ring.settings().hash.circle() as f64;
        (alive, share)
    }

    /// Takes the right to change the records of the ring's nodes, until it is released: a context manager. Raises
    /// LockedError while `fpring rebalance` has it, and after a rebalance was interrupted.
    ///
    /// >>> with circle.lock():
    /// ...     pass
    fn lock(&self) -> PyResult<PyRingLock> {
        let lock = Lock::take(&self.path).and_then(|lock| lock.check_settled().map(|()| lock));
        Ok(PyRingLock(Mutex::new(Some(lock.map_err(|error| of_ring(&error))?))))
    }

    fn __repr__(&self) -> String {
        let (nodes, replicas) = (self.ring.nodes().len(), self.ring.settings().replicas);
        format!("<fpstore.ring.Ring {}, {nodes} nodes, replicas={replicas}>", self.path.display())
    }
}

impl PyRing {
    /// Positions of whose nodes none is asked.
    fn lost(&self, asked: &[bool]) -> u128 {
        let is_asked = |node: &u32| asked.get(*node as usize) == Some(&true);
        self.owners.iter().filter(|(nodes, _)| !nodes.iter().any(is_asked)).map(|(_, length)| length).sum()
    }

    /// The result of `make` for the nodes of each id.
    fn of_ids<T: Send + 'static>(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        make: impl Fn(&[u32]) -> T + Send + 'static,
    ) -> PyResult<Vec<T>> {
        let (column, ring) = (Source::of("ids", ids)?.whole(py)?, Arc::clone(&self.ring));
        call::run(py, move |_| located(&ring, &column, &make))
    }
}

fn located<T>(ring: &Ring, column: &ArrayRef, make: &impl Fn(&[u32]) -> T) -> Result<Vec<T>> {
    let (ids, mut owners) = (IdColumn::new(Some(column))?, Vec::new());
    let of_row = |row| {
        let position = match ids.get(row)? {
            IdRef::Number(number) => ring.position_of_id(number),
            IdRef::Text(text) => ring.position(text.as_bytes()),
            IdRef::None => return Err(invalid("a record without an id has no node")),
        };
        ring.locate_position(position, &mut owners);
        Ok(make(&owners))
    };
    (0..column.len()).map(of_row).collect()
}

/// The right to change the records of a ring's nodes: `Ring.lock()`.
///
/// >>> lock = pages.ring.lock()
/// >>> lock.release()
#[pyclass(frozen, name = "RingLock", module = "fpstore.ring")]
pub(crate) struct PyRingLock(Mutex<Option<Lock>>);

#[pymethods]
impl PyRingLock {
    /// Gives the right back. A second call does nothing.
    ///
    /// >>> lock.release()
    fn release(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, PyAny>) {
        self.release();
    }
}

/// The exception of an error of a ring.
fn of_ring(error: &fpring::Error) -> PyErr {
    let kind = match error.kind() {
        ErrorKind::NotFound => fpstore::ErrorKind::NotFound,
        ErrorKind::AlreadyExists => fpstore::ErrorKind::AlreadyExists,
        ErrorKind::Damaged => fpstore::ErrorKind::Damaged,
        ErrorKind::Unsupported => fpstore::ErrorKind::Unsupported,
        ErrorKind::InvalidInput => fpstore::ErrorKind::InvalidInput,
        ErrorKind::Locked => fpstore::ErrorKind::Locked,
        _ => fpstore::ErrorKind::Io,
    };
    let made = Error::new(kind, error.message().to_owned());
    of_store(match error.path() {
        Some(path) => made.at_path(path),
        None => made,
    })
}
