//! Creating and opening stores; work on a path.

use std::path::PathBuf;

use fpstore::{IdKind, KeyFormat, Parameters};
use fpstore_bindings::{AnyIndex, Handle, Stop};
use pyo3::prelude::*;

use crate::arguments::{Opening, Size, parsed};
use crate::call;
use crate::errors::{invalid, of_store};
use crate::given;
use crate::key_index::PyKeyIndex;
use crate::log::log;
use crate::reports;
use crate::store::PyStore;

/// Creates an empty store of fingerprints, or with kind="keys" a key index, at a path where there is nothing.
///
/// Parameters
/// ----------
/// path : where the store is made, a directory
/// kind : "fingerprints" or "keys"
/// width : of fingerprints: their bits, 64 (the default), 128 or 256
/// max_distance : of fingerprints: the distance in bits for which the tables are made, 3 by default; larger ones are
///     answered too, only slower
/// ids : "u64", "text" or "none"; with "u64" the store numbers records that come without ids
/// plan : of fingerprints: "auto" (the default), "auto:space", "auto:latency", "auto:disk", or the name of a design
///     such as "tables-4"
/// codec, block_size : as `fpload` has them
/// id_index : keep an index of the ids, for work by id
/// hasher : what makes the fingerprints; others are refused then
/// key_bits, sketch, sample_bits : of a key index: bits of a stored key, of a sketch (0, the default: none) and of its
///     samples (1)
/// read_mode, page_cache, filters, filter_memory, memory, tmp_dir, threads : as of `open`
///
/// Raises AlreadyExistsError if there is something at the path, InvalidInputError if an argument is refused.
///
/// >>> import fpstore as fp, tempfile
/// >>> store = fp.create(tempfile.mkdtemp() + "/store", max_distance=6, ids="text")
/// >>> store.insert(0x832fe9f6aa2f461a, "https://example.org/a")
/// >>> store.query(0x832fe9f6aa2f461b, k=3)
/// [Match(distance=1, fingerprint=0x832fe9f6aa2f461a, id='https://example.org/a')]
#[pyfunction]
#[pyo3(signature = (
    path, *, kind="fingerprints", width=None, max_distance=None, ids="u64", plan=None, codec=None, block_size=None,
    id_index=false, hasher=None, key_bits=None, sketch=None, sample_bits=None, read_mode=None, page_cache=None,
    filters=None, filter_memory=None, memory=None, tmp_dir=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn create(
    py: Python<'_>,
    #[pyo3(from_py_with = given::path)] path: PathBuf,
    #[pyo3(from_py_with = given::kind)] kind: &str,
    #[pyo3(from_py_with = given::width)] width: Option<u32>,
    #[pyo3(from_py_with = given::max_distance)] max_distance: Option<u32>,
    #[pyo3(from_py_with = given::ids)] ids: &str,
    #[pyo3(from_py_with = given::plan)] plan: Option<&str>,
    #[pyo3(from_py_with = given::codec)] codec: Option<&str>,
    #[pyo3(from_py_with = given::block_size)] block_size: Option<u32>,
    #[pyo3(from_py_with = given::id_index)] id_index: bool,
    #[pyo3(from_py_with = given::hasher)] hasher: Option<&str>,
    #[pyo3(from_py_with = given::key_bits)] key_bits: Option<u8>,
    #[pyo3(from_py_with = given::sketch)] sketch: Option<u16>,
    #[pyo3(from_py_with = given::sample_bits)] sample_bits: Option<u8>,
    #[pyo3(from_py_with = given::read_mode)] read_mode: Option<String>,
    #[pyo3(from_py_with = given::page_cache)] page_cache: Option<Size>,
    #[pyo3(from_py_with = given::filters)] filters: Option<String>,
    #[pyo3(from_py_with = given::filter_memory)] filter_memory: Option<Size>,
    #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
    #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
    #[pyo3(from_py_with = given::threads)] threads: Option<usize>,
) -> PyResult<Py<PyAny>> {
    let opening = Opening { read_mode, page_cache, filters, filter_memory, memory, tmp_dir, threads };
    let of_keys =
        [("key_bits", key_bits.is_some()), ("sketch", sketch.is_some()), ("sample_bits", sample_bits.is_some())];
    let of_fingerprints =
        [("width", width.is_some()), ("max_distance", max_distance.is_some()), ("plan", plan.is_some())];
    let mut parameters = match kind {
        "fingerprints" => {
            refuse(kind, of_keys)?;
            let (width, max_distance) = (width.unwrap_or(64), max_distance.unwrap_or(3));
            let plan = plan.unwrap_or("auto");
            let block_size = block_size.unwrap_or(Parameters::BLOCK_SIZE);
            let design = fpstore_bindings::design(plan, width, max_distance, block_size).map_err(of_store)?;
            Parameters::new(max_distance).with_width(width).with_design(design)
        }
        "keys" => {
            refuse(kind, of_fingerprints)?;
            let format = KeyFormat::default().with_sketch(sketch.unwrap_or(0), sample_bits.unwrap_or(1));
            Parameters::of_keys(key_bits.map_or(format, |bits| format.with_key_bits(bits)))
        }
        other => return Err(invalid(format!("kind={other:?}: expected fingerprints or keys"))),
    };
    parameters = parameters.with_ids(parsed::<IdKind>(ids)?).with_id_index(id_index).with_hasher(hasher);
    if let Some(codec) = codec {
        parameters = parameters.with_codec(parsed(codec)?);
    }
    if let Some(bytes) = block_size {
        parameters = parameters.with_block_size(bytes);
    }
    let (options, threads) = opening.options()?;
    let handle = py.detach(|| Handle::create(&path, &parameters, options, threads)).map_err(of_store)?;
    opened(py, handle, opening)
}

/// Opens a store of fingerprints or a key index.
///
/// Parameters
/// ----------
/// path : the directory
/// read_only : change nothing, and let another process write; such a store can be pickled
/// read_mode : "mmap" (the fastest) or "pread" (a file that another program changes or cuts gives an error)
/// page_cache : with "pread", bytes of memory for pages that were read and checked; by default 64 MiB, which stores
///     without `threads` share
/// filters : when filters are made in memory: "background" (after the first 256 queries), "at-open" or "off"
/// filter_memory : most bytes of filters, a number or a text such as "2GiB"
/// memory : bytes of memory of a load
/// tmp_dir : directory of temporary files of loads
/// threads : threads of this store alone; by default all stores share one a processor
///
/// Raises NotFoundError, LockedError if another process writes, DamagedError.
///
/// >>> import fpstore as fp, tempfile
/// >>> path = tempfile.mkdtemp() + "/store"
/// >>> fp.create(path).close()
/// >>> with fp.open(path, read_only=True) as store:
/// ...     len(store)
/// 0
#[pyfunction]
#[pyo3(signature = (
    path, *, read_only=false, read_mode=None, page_cache=None, filters=None, filter_memory=None, memory=None,
    tmp_dir=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn open(
    py: Python<'_>,
    #[pyo3(from_py_with = given::path)] path: PathBuf,
    #[pyo3(from_py_with = given::read_only)] read_only: bool,
    #[pyo3(from_py_with = given::read_mode)] read_mode: Option<String>,
    #[pyo3(from_py_with = given::page_cache)] page_cache: Option<Size>,
    #[pyo3(from_py_with = given::filters)] filters: Option<String>,
    #[pyo3(from_py_with = given::filter_memory)] filter_memory: Option<Size>,
    #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
    #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
    #[pyo3(from_py_with = given::threads)] threads: Option<usize>,
) -> PyResult<Py<PyAny>> {
    let opening = Opening { read_mode, page_cache, filters, filter_memory, memory, tmp_dir, threads };
    let (options, threads) = opening.options()?;
    let handle = call::run(py, move |_| Handle::open(&path, read_only, options, threads))?;
    opened(py, handle, opening)
}

/// Refuses arguments that are of the other kind.
fn refuse(kind: &str, of_other: [(&str, bool); 3]) -> PyResult<()> {
    match of_other.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(invalid(format!("{name}: a store of kind={kind:?} has none; leave it out"))),
        None => Ok(()),
    }
}

fn opened(py: Python<'_>, handle: Handle, opening: Opening) -> PyResult<Py<PyAny>> {
    log(
        py,
        "debug",
        &format!("{}: opened{}", handle.path().display(), if handle.is_read_only { " read-only" } else { "" }),
    )?;
    for torn in &handle.recovery().torn {
        let message = format!(
            "{}: {} bytes after byte {} were cut short by a crash and are left out; no acknowledged write was among \
             them",
            torn.path.display(),
            torn.bytes,
            torn.offset
        );
        log(py, "warning", &message)?;
    }
    Ok(match handle.index {
        AnyIndex::Store(_) => Py::new(py, PyStore::new(handle, opening))?.into_any(),
        AnyIndex::Keys(_) => Py::new(py, PyKeyIndex::new(handle, opening))?.into_any(),
    })
}

/// Checks every byte of a store of either kind, or of one of its files, even of one that is too damaged to open.
/// Returns a dictionary: `files`, `bytes`, and `damages`, each with `path`, `offset` and `error`.
///
/// >>> import fpstore as fp, tempfile
/// >>> path = tempfile.mkdtemp() + "/store"
/// >>> fp.create(path).close()
/// >>> fp.verify(path)["damages"]
/// []
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, #[pyo3(from_py_with = given::path)] path: PathBuf) -> PyResult<Py<PyAny>> {
    let (options, _) = Opening::default().options()?;
    let whole = path.clone();
    let report = call::run(py, move |_| fpstore::admin::verify(&path, &options))?;
    reports::verified(py, &whole, &report)
}

/// Repairs a damaged store as far as that is possible without guessing, with yes=True, or says what it would do.
/// Returns a dictionary with the fields of `fprepair --json`: `sound`, `saved`, `damages`, `actions`, `losses` and
/// others. Both kinds can be repaired.
///
/// >>> import fpstore as fp, tempfile
/// >>> path = tempfile.mkdtemp() + "/store"
/// >>> fp.create(path).close()
/// >>> plan = fp.repair(path)
/// >>> plan["sound"], plan["done"]
/// (True, False)
#[pyfunction]
#[pyo3(signature = (path, *, yes=false))]
pub(crate) fn repair(
    py: Python<'_>,
    #[pyo3(from_py_with = given::path)] path: PathBuf,
    #[pyo3(from_py_with = given::yes)] yes: bool,
) -> PyResult<Py<PyAny>> {
    let (options, _) = Opening::default().options()?;
    let store = path.clone();
    let work = move |stop: &Stop| {
        let options = stop.within(options);
        if yes { fpstore::repair::repair(&store, &options) } else { fpstore::repair::plan(&store, &options) }
    };
    reports::repaired(py, &path, yes, &call::run(py, work)?)
}
