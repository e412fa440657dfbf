//! Work over all records, of a store as it is now and of a snapshot.

use std::path::PathBuf;

use fpstore_bindings::{Among, AnySnapshot};
use pyo3::prelude::*;

use super::{PySnapshot, PyStore};
use crate::answers::{PyAnswers, answers};
use crate::arguments::Size;
use crate::given;
use crate::refused::refused;

/// The state of a store, or of a snapshot.
fn state(name: &str, given: &Bound<'_, PyAny>) -> PyResult<AnySnapshot> {
    match (given.cast::<PyStore>(), given.cast::<PySnapshot>()) {
        (Ok(store), _) => Ok(store.get().asked()?.snapshot),
        (_, Ok(snapshot)) => Ok(snapshot.get().asked()?.snapshot),
        _ => Err(refused(name, given, "a Store or a Snapshot")),
    }
}

fn among(part: Option<u32>, more: Option<&Bound<'_, PyAny>>) -> PyResult<Among> {
    let states = |more: &Bound<'_, PyAny>| more.try_iter()?.map(|one| state("more", &one?)).collect();
    Ok(Among { part, more: more.map_or(Ok(Vec::new()), states)? })
}

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
            /// `more` is a list of other stores or snapshots, whose records count as those of this one. `part` is a
            /// number from 0 to `k`: the pairs of that part of the work alone (`Store.deal`). With distinct=True there is
            /// a row for each pair of distinct fingerprints, with the smallest id of each.
            ///
            /// >>> store.pairs(k=3).to_pylist()
            /// [{'id_a': 10, 'id_b': 11, 'distance': 3, 'fp_a': 0, 'fp_b': 7}]
            /// >>> [len(store.pairs(k=3, part=part).read_all()) for part in range(4)]
            /// [1, 0, 0, 0]
            #[pyo3(signature = (k=None, *, distinct=false, part=None, more=None, memory=None, tmp_dir=None))]
            fn pairs(
                &self,
                #[pyo3(from_py_with = given::k)] k: Option<u32>,
                #[pyo3(from_py_with = given::distinct)] distinct: bool,
                #[pyo3(from_py_with = given::part)] part: Option<u32>,
                more: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                self.asked()?.pairs(k, distinct, among(part, more)?, memory.as_ref(), tmp_dir)
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
                self.asked()?.join(&state("other", other)?, k, memory.as_ref(), tmp_dir)
            }

            /// The cluster of every record within distance `k`, in bits: a stream with `id` and `cluster`, its smallest
            /// id; without ids, `fingerprint` and `cluster`. `linkage` is "single", "star" or "complete". `keep` says
            /// which record comes first: "smallest", "largest", or a column of ids, the most important one first.
            /// Records of clusters of fewer than `min_size` records are left out. `part` and `more` as of `pairs`.
            ///
            /// >>> clusters = store.clusters(k=3).to_pydict()
            /// >>> dict(zip(clusters["id"], clusters["cluster"]))[11]
            /// 10
            /// >>> store.clusters(k=3, min_size=2).to_pydict()["id"]
            /// [10, 11]
            #[pyo3(signature = (
                k=None, *, linkage="single", keep=None, min_size=1, part=None, more=None, memory=None, tmp_dir=None
            ))]
            #[allow(clippy::too_many_arguments, reason = "named arguments of Python")]
            fn clusters(
                &self,
                #[pyo3(from_py_with = given::k)] k: Option<u32>,
                #[pyo3(from_py_with = given::linkage)] linkage: &str,
                keep: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = given::min_size)] min_size: u64,
                #[pyo3(from_py_with = given::part)] part: Option<u32>,
                more: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = given::memory)] memory: Option<Size>,
                #[pyo3(from_py_with = given::tmp_dir)] tmp_dir: Option<PathBuf>,
            ) -> PyResult<PyAnswers> {
                let among = (min_size, among(part, more)?);
                self.asked()?.clusters(k, linkage, keep, among, memory.as_ref(), tmp_dir)
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
