//! Single fingerprints, ids and matches.

use fpstore::{AnyFingerprint, Id, IdRef, Match};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyString, PyType};

use crate::errors::{invalid, of_store};
use crate::pickled;
use crate::refused::shown;
use crate::values;

/// A single fingerprint: an integer, bytes with the most significant first, or hexadecimal digits. None if the argument
/// is something else, such as an array.
pub(crate) fn fingerprint(given: &Bound<'_, PyAny>, width: u32) -> PyResult<Option<AnyFingerprint>> {
    if let Ok(text) = given.cast::<PyString>() {
        let text: String = text.extract()?;
        let fingerprint: AnyFingerprint = text.parse().map_err(of_store)?;
        return checked(fingerprint, width).map(Some);
    }
    let bytes = match given.cast::<PyByteArray>() {
        Ok(bytes) => Some(bytes.to_vec()),
        Err(_) => given.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes().to_vec()),
    };
    if let Some(bytes) = bytes {
        let fingerprint = AnyFingerprint::from_be_bytes(&bytes).map_err(of_store)?;
        return checked(fingerprint, width).map(Some);
    }
    if width == 64
        && let Ok(number) = given.extract::<u64>()
    {
        return Ok(Some(number.into()));
    }
    // Numbers of NumPy are integers that are no `int`.
    let integer = if given.is_instance_of::<PyInt>() {
        given.clone()
    } else if given.hasattr("__index__")? && !given.hasattr("__len__")? {
        given.call_method0("__index__")?
    } else {
        return Ok(None);
    };
    let bytes = integer.call_method1("to_bytes", (width / 8, "big"));
    let bytes = bytes.map_err(|_| invalid(format!("{integer} is no fingerprint of {width} bits")))?;
    AnyFingerprint::from_be_bytes(bytes.cast::<PyBytes>()?.as_bytes()).map(Some).map_err(of_store)
}

fn checked(fingerprint: AnyFingerprint, width: u32) -> PyResult<AnyFingerprint> {
    if fingerprint.width() == width {
        return Ok(fingerprint);
    }
    Err(invalid(format!("{fingerprint} has {} bits, the fingerprints of the store have {width}", fingerprint.width())))
}

/// The single fingerprint of an argument.
pub(crate) fn one(given: &Bound<'_, PyAny>, width: u32) -> PyResult<AnyFingerprint> {
    fingerprint(given, width)?.ok_or_else(|| {
        let given = shown(given);
        invalid(format!("expected one fingerprint: an int, bytes, or hexadecimal digits, not {given}"))
    })
}

/// A fingerprint as an integer.
pub(crate) fn to_int(py: Python<'_>, fingerprint: AnyFingerprint) -> PyResult<Bound<'_, PyAny>> {
    let bytes = fingerprint.to_be_bytes();
    match <[u8; 8]>::try_from(bytes.as_slice()) {
        Ok(bytes) => u64::from_be_bytes(bytes).into_bound_py_any(py),
        Err(_) => PyType::new::<PyInt>(py).call_method1("from_bytes", (PyBytes::new(py, &bytes), "big")),
    }
}

/// An id of an argument.
#[derive(Clone, Debug, FromPyObject)]
pub(crate) enum GivenId {
    Number(u64),
    Text(String),
}

impl From<GivenId> for Id {
    fn from(given: GivenId) -> Self {
        match given {
            GivenId::Number(number) => Self::Number(number),
            GivenId::Text(text) => Self::from(&*text),
        }
    }
}

impl GivenId {
    pub(crate) fn as_ref(&self) -> IdRef<'_> {
        match self {
            Self::Number(number) => IdRef::Number(*number),
            Self::Text(text) => IdRef::Text(text),
        }
    }
}

/// The id of an argument, if there is one.
pub(crate) fn id_of(given: Option<&GivenId>) -> IdRef<'_> {
    given.map_or(IdRef::None, GivenId::as_ref)
}

/// An id, or the count in its place.
pub(crate) fn id_to_py<'py>(py: Python<'py>, id: &Id) -> PyResult<Bound<'py, PyAny>> {
    match id {
        Id::Number(number) | Id::Count(number) => number.into_bound_py_any(py),
        Id::Text(text) => (**text).into_bound_py_any(py),
    }
}

/// A record near a query: its distance in bits, its fingerprint as an integer, and its id (a count, where there are no
/// ids). Unpacks as a tuple of these three.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store")
/// >>> store.insert(7, 1)
/// >>> (match,) = store.query(6)
/// >>> distance, fingerprint, id = match
/// >>> match
/// Match(distance=1, fingerprint=0x0000000000000007, id=1)
#[pyclass(frozen, name = "Match", module = "fpstore", eq, hash)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PyMatch(Match<AnyFingerprint>);

impl From<Match<AnyFingerprint>> for PyMatch {
    fn from(found: Match<AnyFingerprint>) -> Self {
        Self(found)
    }
}

#[pymethods]
impl PyMatch {
    /// Number of bits in which the fingerprints differ.
    ///
    /// >>> match.distance
    /// 1
    #[getter]
    fn distance(&self) -> u32 {
        self.0.distance
    }

    /// The fingerprint as an integer.
    ///
    /// >>> match.fingerprint
    /// 7
    #[getter]
    fn fingerprint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_int(py, self.0.fingerprint)
    }

    /// The id, an int or a str; where there are none, how many records the fingerprint has.
    ///
    /// >>> match.id
    /// 1
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        id_to_py(py, &self.0.id)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (self.distance(), self.fingerprint(py)?, self.id(py)?).into_pyobject(py)?.call_method0("__iter__")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (bytes, is_count) = (self.0.fingerprint.to_be_bytes(), matches!(self.0.id, Id::Count(_)));
        pickled::as_call(py, "_match", (self.0.distance, PyBytes::new(py, &bytes), self.id(py)?, is_count))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let id = self.id(py)?.repr()?.to_string();
        Ok(format!("Match(distance={}, fingerprint=0x{}, id={id})", self.0.distance, self.0.fingerprint))
    }
}

/// Matches as a list.
pub(crate) fn matches<'py>(py: Python<'py>, found: Vec<Match<AnyFingerprint>>) -> PyResult<Bound<'py, PyAny>> {
    values::listed(py, found, |one| PyMatch(one).into_bound_py_any(py)).map(Bound::into_any)
}

/// A match of its parts, for pickle.
#[pyfunction]
pub(crate) fn _match(distance: u32, fingerprint: &[u8], id: GivenId, is_count: bool) -> PyResult<PyMatch> {
    let id = match (id, is_count) {
        (GivenId::Number(count), true) => Id::Count(count),
        (id, _) => id.into(),
    };
    let fingerprint = AnyFingerprint::from_be_bytes(fingerprint).map_err(of_store)?;
    Ok(PyMatch(Match { fingerprint, distance, id }))
}
