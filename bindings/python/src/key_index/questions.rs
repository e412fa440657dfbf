//! Questions to a key index as it is now and to a snapshot.

use std::path::PathBuf;

use fpstore::keys::{KeyQuery, KeyRule};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::{PyKeyIndex, PyKeyMatch, PyKeySnapshot};
use crate::answers::{PyAnswers, answers};
use crate::arguments::{Size, cluster_options, kept, pair_options};
use crate::errors::of_store;
use crate::given;
use crate::refused::refused;
use crate::source::Source;
use crate::values;

/// The rule of pairs.
fn rule(min_shared: u64, min_jaccard: Option<f64>, max_key_frequency: Option<u64>) -> KeyRule {
    let mut rule = KeyRule::new().with_min_shared(min_shared).with_min_jaccard(min_jaccard.unwrap_or(0.0));
    if let Some(most) = max_key_frequency {
        rule = rule.with_max_key_frequency(most);
    }
    rule
}

/// Methods of a class that has `asked`.
macro_rules! questions {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// The records that share at least `min_shared` keys, those that share most first, with an estimated
            /// similarity of at least `min_jaccard` (0 to 1); the `nearest` of them. Of one list of keys, a list of
            /// `KeyMatch`; of a column of lists a stream with `query_row`, `id`, `shared` and `jaccard`.
            ///
            /// >>> index.query([2 << 60, 3 << 60], min_shared=2)
            /// [KeyMatch(id=8, shared=2, jaccard=None)]
            /// >>> index.query([[1 << 60], [3 << 60]]).to_pydict()["id"]
            /// [7, 8]
            #[pyo3(signature = (keys, sketches=None, *, min_shared=1, min_jaccard=None, nearest=None))]
            fn query<'py>(
                &self,
                py: Python<'py>,
                keys: &Bound<'py, PyAny>,
                sketches: Option<&Bound<'py, PyAny>>,
                #[pyo3(from_py_with = given::min_shared)] min_shared: u64,
                #[pyo3(from_py_with = given::min_jaccard)] min_jaccard: Option<f64>,
                #[pyo3(from_py_with = given::nearest)] nearest: Option<usize>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let mut how = KeyQuery::new().with_min_shared(min_shared).with_min_jaccard(min_jaccard.unwrap_or(0.0));
                if let Some(nearest) = nearest {
                    how = how.with_nearest(nearest);
                }
                let snapshot = self.asked()?;
                if (keys.is_instance_of::<PyList>() || keys.is_instance_of::<PyTuple>())
                    && let Ok(keys) = keys.extract::<Vec<u64>>()
                {
                    let sketch: Vec<u8> = sketches.map(given::sketches).transpose()?.unwrap_or_default();
                    let found = py.detach(|| snapshot.searcher().query(&keys, &sketch, &how)).map_err(of_store)?;
                    let made = values::listed(py, found, |one| PyKeyMatch(one).into_bound_py_any(py))?;
                    return Ok(made.into_any());
                }
                let source = Source::of("keys", keys)?;
                source.check_hasher(snapshot.parameters().hasher())?;
                let sketches = sketches.map(|sketches| Source::of("sketches", sketches)?.whole(py)).transpose()?;
                let column = source.whole(py)?;
                let started = fpstore_bindings::key_queries(&snapshot, &column, sketches.as_ref(), how);
                answers(started)?.into_bound_py_any(py)
            }

            /// All records, in the order in which they were loaded: a stream with `id`, `keys` (lists of uint64,
            /// ascending, with zeros beyond the stored bits), and `sketch` (fixed_size_binary) if the index has
            /// sketches.
            ///
            /// >>> [key >> 60 for key in next(index.records())["keys"][0]]
            /// [1, 2]
            fn records(&self) -> PyResult<PyAnswers> {
                answers(fpstore_bindings::key_records(&self.asked()?))
            }

            /// All pairs of records that share keys, each once: a stream with `id_a`, `id_b`, `shared`, `jaccard`. Keys
            /// of more records than `max_key_frequency` do not count. `memory` is in bytes, `tmp_dir` for temporary
            /// files.
            ///
            /// >>> index.pairs().to_pylist()
            /// [{'id_a': 7, 'id_b': 8, 'shared': 1, 'jaccard': None}]
            #[pyo3(signature = (*, min_shared=1, min_jaccard=None, max_key_frequency=None, memory=None, tmp_dir=None))]
            fn pairs(
                &self,
                #[pyo3(from_py_with = given::min_shared)] min_shared: u64,
                #[pyo3(from_py_with = given::min_jaccard)] min_jaccard: Option<f64>,
                #[pyo3(from_py_with = given::max_key_frequency)] max_key_frequency: Option<u64>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                let rule = rule(min_shared, min_jaccard, max_key_frequency);
                let options = pair_options(memory.as_ref(), tmp_dir)?;
                answers(fpstore_bindings::key_pairs(&self.asked()?, None, rule, &options))
            }

            /// All pairs of a record of this and one of another index or snapshot that share keys. As `pairs`.
            ///
            /// >>> len(index.join(index, min_shared=2).read_all()) == 2
            /// True
            #[pyo3(signature = (
                other, *, min_shared=1, min_jaccard=None, max_key_frequency=None, memory=None, tmp_dir=None
            ))]
            fn join(
                &self,
                other: &Bound<'_, PyAny>,
                #[pyo3(from_py_with = given::min_shared)] min_shared: u64,
                #[pyo3(from_py_with = given::min_jaccard)] min_jaccard: Option<f64>,
                #[pyo3(from_py_with = given::max_key_frequency)] max_key_frequency: Option<u64>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                let other = match (other.cast::<PyKeyIndex>(), other.cast::<PyKeySnapshot>()) {
                    (Ok(index), _) => index.get().asked()?,
                    (_, Ok(snapshot)) => snapshot.get().asked()?,
                    _ => return Err(refused("other", other, "a KeyIndex or a KeySnapshot")),
                };
                let rule = rule(min_shared, min_jaccard, max_key_frequency);
                let options = pair_options(memory.as_ref(), tmp_dir)?;
                answers(fpstore_bindings::key_pairs(&self.asked()?, Some(&other), rule, &options))
            }

            /// The cluster of every record: a stream with `id` and `cluster`. As `Store.clusters`, with the rule of
            /// `pairs`.
            ///
            /// >>> clusters = index.clusters().to_pydict()
            /// >>> dict(zip(clusters["id"], clusters["cluster"]))[8]
            /// 7
            #[pyo3(signature = (
                *, linkage="single", keep=None, min_shared=1, min_jaccard=None, max_key_frequency=None, memory=None,
                tmp_dir=None
            ))]
            #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
            fn clusters(
                &self,
                #[pyo3(from_py_with = given::linkage)] linkage: &str,
                keep: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = given::min_shared)] min_shared: u64,
                #[pyo3(from_py_with = given::min_jaccard)] min_jaccard: Option<f64>,
                #[pyo3(from_py_with = given::max_key_frequency)] max_key_frequency: Option<u64>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                let options = cluster_options(linkage, keep, memory.as_ref(), tmp_dir)?;
                let rule = rule(min_shared, min_jaccard, max_key_frequency);
                answers(fpstore_bindings::key_clusters(&self.asked()?, rule, &options))
            }

            /// The ids of the records that are kept; with evidence=True the others: a stream with `id`, `keeper`,
            /// `cluster`, `shared_keys`, `jaccard`. As `Store.keep`, with the rule of `pairs`.
            ///
            /// >>> index.keep(evidence=True).to_pylist()
            /// [{'id': 8, 'keeper': 7, 'cluster': 7, 'shared_keys': 1, 'jaccard': None}]
            #[pyo3(signature = (
                *, linkage="star", evidence=false, keep=None, min_shared=1, min_jaccard=None, max_key_frequency=None,
                memory=None, tmp_dir=None
            ))]
            #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
            fn keep(
                &self,
                #[pyo3(from_py_with = given::linkage)] linkage: &str,
                #[pyo3(from_py_with = given::evidence)] evidence: bool,
                keep: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = given::min_shared)] min_shared: u64,
                #[pyo3(from_py_with = given::min_jaccard)] min_jaccard: Option<f64>,
                #[pyo3(from_py_with = given::max_key_frequency)] max_key_frequency: Option<u64>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                let options = cluster_options(linkage, keep, memory.as_ref(), tmp_dir)?;
                let rule = rule(min_shared, min_jaccard, max_key_frequency);
                answers(fpstore_bindings::key_keep(&self.asked()?, rule, kept(evidence), &options))
            }
        }
    };
}

questions!(PyKeyIndex);
questions!(PyKeySnapshot);
