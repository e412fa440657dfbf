//! The similarity of two texts by their sketches.

use fpstore_tools::sketching::{Compared, Method, Side};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::options::{Signature, Simhash, parse};
use crate::errors::{invalid, of_options};
use crate::given;

/// Compares two texts by their sketches, as `fphash compare` does. Returns a dictionary: `distance` (differing bits or
/// places), `similarity` (0 to 1), `standard_error` of an estimate or None, `similar` (whether the similarity reaches
/// the `threshold`, or the usual one of the method), and the sketches `a` and `b` as hexadecimal digits.
///
/// `method` is "simhash" or "minhash"; options are those of `simhash` and `minhash`.
///
/// >>> import fpstore as fp
/// >>> fp.compare("one two three four five six", "one two three four five seven", method="minhash",
/// ...            features="words:1")["similar"]
/// False
#[pyfunction]
#[pyo3(signature = (a, b, *, method="simhash", threshold=None, **options))]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = given::a)] a: String,
    #[pyo3(from_py_with = given::b)] b: String,
    #[pyo3(from_py_with = given::method)] method: &str,
    #[pyo3(from_py_with = given::threshold)] threshold: Option<f64>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let method = match method {
        "simhash" => {
            let Simhash { options, width, .. } = parse(options)?;
            options.simhash(width, false).map(Method::Simhash)
        }
        "minhash" => Method::signatures(&parse::<Signature>(options)?.options),
        other => return Err(invalid(format!("method={other:?}: expected simhash or minhash"))),
    };
    let method = method.map_err(|error| of_options(&error))?;
    let threshold = threshold.unwrap_or_else(|| method.usual_threshold());
    if !(0.0..=1.0).contains(&threshold) {
        return Err(invalid(format!("threshold={threshold}: a similarity is from 0 to 1")));
    }
    let compared = py.detach(|| method.compare(&Side::Document(a), &Side::Document(b)));
    let compared = compared.map_err(|error| of_options(&error))?;
    let similar = method.similar(&compared, threshold);
    let Compared { hex: [a, b], distance, similarity, standard_error } = compared;
    let all = PyDict::new(py);
    all.set_item("distance", distance)?;
    all.set_item("similarity", similarity)?;
    all.set_item("standard_error", standard_error)?;
    all.set_item("similar", similar)?;
    all.set_item("a", a)?;
    all.set_item("b", b)?;
    Ok(all)
}
