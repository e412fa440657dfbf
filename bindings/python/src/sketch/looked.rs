//! Whether every bit of fingerprints is useful.

use arrow_schema::DataType;
use fpstore::{Fingerprint, Result, U256};
use fpstore_bindings::Stop;
use fpstore_bindings::input::fingerprints;
use fpstore_tools::health::{BATCH, Gathered, Report};
use pyo3::prelude::*;

use crate::errors::invalid;
use crate::source::Source;
use crate::{call, given, process};

/// Looks at the bits of fingerprints, as `fphash health` does: dead, constant, mirrored and biased ones, frequent
/// values, distances. Returns a dictionary with the fields of `fphash health --json`; `sound` is None for too few
/// fingerprints.
///
/// `width` is needed where the type of the column does not tell it.
///
/// >>> import fpstore as fp, random
/// >>> rng = random.Random(1)
/// >>> fp.health([rng.getrandbits(64) & ~1 for _ in range(5000)])["sound"]
/// False
#[pyfunction]
#[pyo3(signature = (fingerprints, *, width=None))]
pub(crate) fn health(
    py: Python<'_>,
    fingerprints: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = given::width)] width: Option<u32>,
) -> PyResult<Py<PyAny>> {
    let source = match width {
        Some(width @ (64 | 128 | 256)) => Source::of_fingerprints("fingerprints", fingerprints, width)?,
        _ => Source::of("fingerprints", fingerprints)?,
    };
    let width = width.map_or_else(|| width_of(&source.data_type), Ok)?;
    let work = move |stop: &Stop| match width {
        64 => process::pool()?.install(|| look::<u64>(source, stop)),
        128 => process::pool()?.install(|| look::<u128>(source, stop)),
        256 => process::pool()?.install(|| look::<U256>(source, stop)),
        other => Err(fpstore_bindings::input::invalid(format!("width={other}: expected 64, 128 or 256"))),
    };
    let report = call::run(py, work)?;
    let json = serde_json::to_string(&report).map_err(|error| invalid(error.to_string()))?;
    py.import("json")?.call_method1("loads", (json,)).map(Bound::unbind)
}

/// Bits of the fingerprints of a column by its type.
fn width_of(column: &DataType) -> PyResult<u32> {
    const SAY: &str = "say width=64, 128 or 256";
    match column {
        // A column of nothing, or of nulls, has fingerprints of no width.
        DataType::Null => Ok(64),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            Err(invalid(format!("the column does not tell how many bits a fingerprint has: {SAY}")))
        }
        other => fingerprints::width_of(other).ok_or_else(|| {
            invalid(format!("expected fingerprints, not a column of {other}; for those of hexadecimal digits, {SAY}"))
        }),
    }
}

fn look<F: Fingerprint>(source: Source, stop: &Stop) -> Result<Report> {
    let (mut gathered, mut batch) = (Gathered::<F>::new(), Vec::with_capacity(BATCH));
    for piece in source.pieces {
        fingerprints::each::<F>(&*piece?, |_, fingerprint| {
            batch.extend(fingerprint);
            if batch.len() >= BATCH {
                stop.check()?;
                gathered.add(&mut batch);
            }
            Ok(())
        })?;
    }
    gathered.add(&mut batch);
    Ok(Report::new(&gathered))
}
