//! The ring of a sharded store.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use fpring::{ErrorKind, Ring, file};
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
}

#[pymethods]
impl PyRing {
    #[new]
    fn new(#[pyo3(from_py_with = given::path)] path: PathBuf) -> PyResult<Self> {
        let ring = file::read(&path).map_err(|error| of_store(of_ring(&error)))?;
        Ok(Self { ring: Arc::new(ring), path })
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
        self.of_ids(py, ids, move |owners| Some(u32::from(owners.contains(&node)))).map(as_bools)
    }

    /// Of the nodes that have each record of a column of ids, the first one that is `asked`, a list of bool for all
    /// nodes: an array of uint32, numbers of nodes, with a null where none of them is asked.
    ///
    /// >>> circle.first([17], [True] * 3).to_pylist() == [circle.nodes.index(circle.locate(17)[0])]
    /// True
    fn first(&self, py: Python<'_>, ids: &Bound<'_, PyAny>, asked: Vec<bool>) -> PyResult<PyArray> {
        let is_asked = move |node: &u32| asked.get(*node as usize).copied().unwrap_or(false);
        self.of_ids(py, ids, move |owners| owners.iter().copied().find(|node| is_asked(node))).map(PyArray::new)
    }

    /// Of the nodes that are `alive`, a list of bool for all nodes, a few that have all records together, and the
    /// others where there are none: a list of bool, and the share of records that none of these has.
    ///
    /// >>> circle.cover([True, True, False])
    /// ([True, True, False], 0.0)
    /// >>> asked, lost = circle.cover([True, False, False])
    /// >>> asked, 0 < lost < 1
    /// ([True, False, False], True)
    fn cover(&self, alive: Vec<bool>) -> (Vec<bool>, f64) {
        let mut asked: Vec<bool> = (0..self.ring.nodes().len()).map(|node| alive.get(node) == Some(&true)).collect();
        let lost = self.lost(&asked);
        if self.ring.settings().replicas > 1 {
            for node in 0..asked.len() {
                set(&mut asked, node, false);
                if self.lost(&asked) > lost {
                    set(&mut asked, node, alive.get(node) == Some(&true));
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a share has 53 bits")]
        let share = lost as f64 / self.ring.settings().hash.circle() as f64;
        (asked, share)
    }

    fn __repr__(&self) -> String {
        let (nodes, replicas) = (self.ring.nodes().len(), self.ring.settings().replicas);
        format!("<fpstore.ring.Ring {}, {nodes} nodes, replicas={replicas}>", self.path.display())
    }
}

impl PyRing {
    /// Positions of which no node is asked.
    fn lost(&self, asked: &[bool]) -> u128 {
        let is_asked = |node: &u32| asked.get(*node as usize) == Some(&true);
        self.ring.arcs().filter(|arc| !arc.nodes.iter().any(is_asked)).map(|arc| arc.length).sum()
    }

    /// What `make` says of the nodes of each id.
    fn of_ids(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        make: impl Fn(&[u32]) -> Option<u32> + Send + 'static,
    ) -> PyResult<ArrayRef> {
        let (column, ring) = (Source::of("ids", ids)?.whole(py)?, Arc::clone(&self.ring));
        call::run(py, move |_| located(&ring, &column, &make))
    }
}

fn located(ring: &Ring, column: &ArrayRef, make: &impl Fn(&[u32]) -> Option<u32>) -> Result<ArrayRef> {
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
    Ok(Arc::new((0..column.len()).map(of_row).collect::<Result<UInt32Array>>()?))
}

fn as_bools(numbers: ArrayRef) -> PyArray {
    let numbers = arrow_array::cast::AsArray::as_primitive::<arrow_array::types::UInt32Type>(&numbers);
    PyArray::new(Arc::new(numbers.iter().map(|number| number.map(|number| number == 1)).collect::<BooleanArray>()))
}

fn set(values: &mut [bool], at: usize, value: bool) {
    if let Some(slot) = values.get_mut(at) {
        *slot = value;
    }
}

/// An error of a ring as one of the library.
fn of_ring(error: &fpring::Error) -> Error {
    let kind = match error.kind() {
        ErrorKind::NotFound => fpstore::ErrorKind::NotFound,
        ErrorKind::AlreadyExists => fpstore::ErrorKind::AlreadyExists,
        ErrorKind::Damaged => fpstore::ErrorKind::Damaged,
        ErrorKind::Unsupported => fpstore::ErrorKind::Unsupported,
        ErrorKind::InvalidInput => fpstore::ErrorKind::InvalidInput,
        _ => fpstore::ErrorKind::Io,
    };
    let made = Error::new(kind, error.message().to_owned());
    match error.path() {
        Some(path) => made.at_path(path),
        None => made,
    }
}
