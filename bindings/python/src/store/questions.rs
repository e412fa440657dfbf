//! Work over all records, of a store as it is now and of a snapshot.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::{PySnapshot, PyStore};
use crate::answers::{PyAnswers, answers};
use crate::arguments::Size;
use crate::given;
use crate::refused::refused;

/// Methods of a class that has `asked`.
macro_rules! questions {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// All records by fingerprint, then id: a stream with `fingerprint`, and `id`, or `count` where there are
            /// no ids.
            ///
            /// >>> next(store.records()).to_pylist()[:2]
            /// [{'fingerprint': 0, 'id': 10}, {'fingerprint': 7, 'id': 11}]
            fn records(&self) -> PyResult<PyAnswers> {
                answers(fpstore_bindings::records(&self.asked()?.snapshot))
            }

            /// All pairs of records within distance `k`, in bits, each once: a stream with `id_a`, `id_b`, `distance`,
            /// `fp_a`, `fp_b`; without ids `count_a` and `count_b`. `memory` is in bytes, `tmp_dir` for temporary
            /// files.
            ///
            /// >>> store.pairs(k=3).to_pylist()
            /// [{'id_a': 10, 'id_b': 11, 'distance': 3, 'fp_a': 0, 'fp_b': 7}]
            #[pyo3(signature = (k=None, *, memory=None, tmp_dir=None))]
            fn pairs(
                &self,
                #[pyo3(from_py_with = given::k)] k: Option<u32>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                self.asked()?.pairs(k, memory.as_ref(), tmp_dir)
            }

            /// All pairs of a record of this and one of another store or snapshot. Columns as of `pairs`.
            ///
            /// >>> len(store.join(store, k=0).read_all()) == len(store)
            /// True
            #[pyo3(signature = (other, k=None, *, memory=None, tmp_dir=None))]
            fn join(
                &self,
                other: &Bound<'_, PyAny>,
                #[pyo3(from_py_with = given::k)] k: Option<u32>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                let snapshot = match (other.cast::<PyStore>(), other.cast::<PySnapshot>()) {
                    (Ok(store), _) => store.get().asked()?.snapshot,
                    (_, Ok(snapshot)) => snapshot.get().asked()?.snapshot,
                    _ => return Err(refused("other", other, "a Store or a Snapshot")),
                };
                self.asked()?.join(&snapshot, k, memory.as_ref(), tmp_dir)
            }

            /// The cluster of every record within distance `k`, in bits: a stream with `id` and `cluster`, its smallest
            /// id; without ids, `fingerprint` and `cluster`. `linkage` is "single", "star" or "complete". `keep` says
            /// which record comes first: "smallest", "largest", or a column of ids, the most important one first.
            ///
            /// >>> clusters = store.clusters(k=3).to_pydict()
            /// >>> dict(zip(clusters["id"], clusters["cluster"]))[11]
            /// 10
            #[pyo3(signature = (k=None, *, linkage="single", keep=None, memory=None, tmp_dir=None))]
            fn clusters(
                &self,
                #[pyo3(from_py_with = given::k)] k: Option<u32>,
                #[pyo3(from_py_with = given::linkage)] linkage: &str,
                keep: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                self.asked()?.clusters(k, linkage, keep, memory.as_ref(), tmp_dir)
            }

            /// The ids of the records that are kept, one of each cluster; with evidence=True a row for each of the
            /// others: `id`, `keeper`, `cluster` and `distance`. Kept and removed together are all records. `keep` as
            /// of `clusters`.
            ///
            /// >>> store.keep(k=3, evidence=True).to_pylist()
            /// [{'id': 11, 'keeper': 10, 'cluster': 10, 'distance': 3}]
            /// >>> store.keep(k=3, keep=[11]).to_pydict()["id"][:1]
            /// [11]
            #[pyo3(signature = (k=None, *, linkage="star", evidence=false, keep=None, memory=None, tmp_dir=None))]
            fn keep(
                &self,
                #[pyo3(from_py_with = given::k)] k: Option<u32>,
                #[pyo3(from_py_with = given::linkage)] linkage: &str,
                #[pyo3(from_py_with = given::evidence)] evidence: bool,
                keep: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                self.asked()?.keep(k, linkage, evidence, keep, memory.as_ref(), tmp_dir)
            }
        }
    };
}

questions!(PyStore);
questions!(PySnapshot);
