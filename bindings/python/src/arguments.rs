//! Arguments that the programs have too, by the names that they have there.

use std::path::PathBuf;
use std::str::FromStr;

use fpstore::clusters::{Keeper, Linkage};
use fpstore::{Durability, Filters, IdKind, Options, ReadMode};
use fpstore_bindings::{ClusterOptions, Kept, PairOptions};
use fpstore_tools::size;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::errors::{invalid, of_store};
use crate::source::Source;
use crate::{call, process};

/// Bytes: a number, or a text such as `4GiB`.
#[derive(Clone, Debug, FromPyObject, IntoPyObject)]
pub(crate) enum Size {
    Bytes(u64),
    Text(String),
}

impl Size {
    pub(crate) fn bytes(&self) -> PyResult<u64> {
        match self {
            Self::Bytes(bytes) => Ok(*bytes),
            Self::Text(text) => size::parse(text).map_err(|error| invalid(format!("{text:?}: {error}"))),
        }
    }
}

/// A value that the library parses.
pub(crate) fn parsed<T: FromStr<Err = fpstore::Error>>(text: &str) -> PyResult<T> {
    text.parse().map_err(of_store)
}

/// One of some names.
fn named<T: Copy>(what: &str, name: &str, values: &[(&str, T)]) -> PyResult<T> {
    let found = values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        invalid(format!("{what}={name:?}: expected one of {}", names.join(", ")))
    })
}

pub(crate) fn durability(name: &str) -> PyResult<Durability> {
    let values =
        [("buffered", Durability::Buffered), ("sync", Durability::SyncData), ("sync-all", Durability::SyncAll)];
    named("durability", name, &values)
}

pub(crate) fn linkage(name: &str) -> PyResult<Linkage> {
    let values = [("single", Linkage::Single), ("star", Linkage::Star), ("complete", Linkage::Complete)];
    named("linkage", name, &values)
}

/// The keeper: `smallest`, `largest`, or a column of ids, the most important one first.
fn keeper(given: Option<&Bound<'_, PyAny>>, kind: IdKind) -> PyResult<Keeper> {
    let Some(given) = given else { return Ok(Keeper::Smallest) };
    if let Ok(name) = given.extract::<String>() {
        let is_smallest = named("keep", &name, &[("smallest", true), ("largest", false)])?;
        return Ok(if is_smallest { Keeper::Smallest } else { Keeper::Largest });
    }
    let column = Source::of("keep", given)?.whole(given.py())?;
    call::run(given.py(), move |_| fpstore_bindings::ranked(&column, kind))
}

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opening {
    pub(crate) read_mode: Option<String>,
    pub(crate) page_cache: Option<Size>,
    pub(crate) filters: Option<String>,
    pub(crate) filter_memory: Option<Size>,
    pub(crate) memory: Option<Size>,
    pub(crate) tmp_dir: Option<PathBuf>,
    pub(crate) threads: Option<usize>,
}

impl Opening {
    /// The arguments of `open` that were given, by their names.
    pub(crate) fn given<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Self { read_mode, page_cache, filters, filter_memory, memory, tmp_dir, threads } = self.clone();
        let all = [
            ("read_mode", read_mode.into_bound_py_any(py)?),
            ("page_cache", page_cache.into_bound_py_any(py)?),
            ("filters", filters.into_bound_py_any(py)?),
            ("filter_memory", filter_memory.into_bound_py_any(py)?),
            ("memory", memory.into_bound_py_any(py)?),
            ("tmp_dir", tmp_dir.into_bound_py_any(py)?),
            ("threads", threads.into_bound_py_any(py)?),
        ];
        all.into_iter().filter(|(_, value)| !value.is_none()).into_py_dict(py)
    }

    /// The options of the library, and the number of threads.
    pub(crate) fn options(&self) -> PyResult<(Options, usize)> {
        let threads = fpstore_bindings::threads(self.threads).map_err(of_store)?;
        // Stores share their threads, unless one wants its own.
        let options = if self.threads.is_some() { Options::new().with_threads(threads) } else { process::options() };
        let mut options = options.with_temp_dir(self.tmp_dir.as_deref());
        if let Some(mode) = &self.read_mode {
            let mode = named("read_mode", mode, &[("mmap", ReadMode::Mmap), ("pread", ReadMode::Pread)])?;
            options = options.with_read_mode(mode);
        }
        if let Some(size) = &self.page_cache {
            options = options.with_page_cache(size.bytes()?);
        }
        if let Some(when) = &self.filters {
            let values = [("background", Filters::Background), ("at-open", Filters::AtOpen), ("off", Filters::Off)];
            options = options.with_filters(named("filters", when, &values)?);
        }
        if let Some(size) = &self.filter_memory {
            options = options.with_filter_memory(size.bytes()?);
        }
        if let Some(size) = &self.memory {
            options = options.with_load_memory(size.bytes()?);
        }
        Ok((options, threads))
    }
}

/// What work over all records may take.
pub(crate) fn pair_options(memory: Option<&Size>, tmp_dir: Option<PathBuf>) -> PyResult<PairOptions> {
    let memory = memory.map(Size::bytes).transpose()?;
    Ok(PairOptions { memory, temp_dir: tmp_dir, ..PairOptions::default() })
}

/// What `keep` tells.
pub(crate) fn kept(evidence: bool) -> Kept {
    if evidence { Kept::Evidence } else { Kept::Kept }
}

/// How clusters of records with ids of this kind are made.
pub(crate) fn cluster_options(
    linkage_name: &str,
    (keep, kind): (Option<&Bound<'_, PyAny>>, IdKind),
    memory: Option<&Size>,
    tmp_dir: Option<PathBuf>,
) -> PyResult<ClusterOptions> {
    Ok(ClusterOptions {
        linkage: linkage(linkage_name)?,
        keeper: keeper(keep, kind)?,
        memory: memory.map(Size::bytes).transpose()?,
        temp_dir: tmp_dir,
        ..ClusterOptions::default()
    })
}
