//! Questions to a state of a store of fingerprints.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use fpstore::{AnyFingerprint, Match};
use fpstore_bindings::{Among, AnySnapshot, ClusterOptions, Handle, PairOptions, Question};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::answers::{PyAnswers, answers};
use crate::arguments::{Size, cluster_options, kept, pair_options};
use crate::array::PyArray;
use crate::call;
use crate::errors::of_store;
use crate::scalar::{fingerprint as single, matches};
use crate::source::Source;

/// A state, and the threads that answer many queries.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) snapshot: AnySnapshot,
    pub(super) threads: usize,
}

impl Asked {
    pub(super) fn width(&self) -> u32 {
        self.snapshot.parameters().width()
    }

    /// The distance that is asked for, or that the store is made for.
    pub(super) fn k(&self, k: Option<u32>) -> u32 {
        k.unwrap_or_else(|| self.snapshot.parameters().max_distance())
    }

    /// Refuses fingerprints that something else has made.
    fn check(&self, source: &Source) -> PyResult<()> {
        source.check_hasher(self.snapshot.parameters().hasher())
    }

    /// The matches of many queries.
    pub(super) fn many(&self, py: Python<'_>, queries: &Bound<'_, PyAny>, question: Question) -> PyResult<PyAnswers> {
        let source = Source::of_fingerprints("fingerprint", queries, self.width())?;
        self.check(&source)?;
        let column = source.whole(py)?;
        answers(fpstore_bindings::queries(&self.snapshot, &column, question, self.threads))
    }

    /// The matches of one query, a list, or of many.
    pub(super) fn query<'py>(&self, given: &Bound<'py, PyAny>, k: Option<u32>) -> PyResult<Bound<'py, PyAny>> {
        let py = given.py();
        let Some(one) = single(given, self.width())? else {
            return self.query_many(given, k)?.into_bound_py_any(py);
        };
        let (snapshot, k) = (self.snapshot.clone(), self.k(k));
        matches(py, call::run(py, move |_| snapshot.query(one, k))?)
    }

    pub(super) fn nearest<'py>(
        &self,
        given: &Bound<'py, PyAny>,
        count: usize,
        k: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, width, snapshot) = (given.py(), self.width(), self.snapshot.clone());
        let Some(one) = single(given, width)? else {
            return self.nearest_many(given, count, k)?.into_bound_py_any(py);
        };
        let within = within_distance(k, width)?;
        matches(py, within(call::run(py, move |_| snapshot.nearest(one, count))?))
    }

    pub(super) fn contains_near(&self, given: &Bound<'_, PyAny>, k: Option<u32>) -> PyResult<Py<PyAny>> {
        let py = given.py();
        let Some(one) = single(given, self.width())? else { return self.contains_many(given, k) };
        let (snapshot, k) = (self.snapshot.clone(), self.k(k));
        call::run(py, move |_| snapshot.contains_near(one, k))?.is_some().into_py_any(py)
    }

    pub(super) fn query_many(&self, queries: &Bound<'_, PyAny>, k: Option<u32>) -> PyResult<PyAnswers> {
        self.many(queries.py(), queries, Question::Within(self.k(k)))
    }

    pub(super) fn nearest_many(&self, queries: &Bound<'_, PyAny>, count: usize, k: Option<u32>) -> PyResult<PyAnswers> {
        self.many(queries.py(), queries, Question::Nearest(count, k.unwrap_or_else(|| self.width())))
    }

    pub(super) fn contains_many(&self, queries: &Bound<'_, PyAny>, k: Option<u32>) -> PyResult<Py<PyAny>> {
        let py = queries.py();
        let source = Source::of_fingerprints("fingerprint", queries, self.width())?;
        self.check(&source)?;
        let (column, k) = (source.whole(py)?, self.k(k));
        let (snapshot, threads) = (self.snapshot.clone(), self.threads);
        let found = call::run(py, move |stop| fpstore_bindings::contains_near(&snapshot, &column, k, threads, stop))?;
        PyArray::new(Arc::new(BooleanArray::from(found))).into_py_any(py)
    }

    pub(super) fn pairs(
        &self,
        k: Option<u32>,
        is_distinct: bool,
        among: Among,
        memory: Option<&Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        let options = PairOptions { is_distinct, among, ..pair_options(memory, tmp_dir)? };
        answers(fpstore_bindings::pairs(&self.snapshot, self.k(k), &options))
    }

    pub(super) fn join(
        &self,
        other: &AnySnapshot,
        k: Option<u32>,
        memory: Option<&Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        answers(fpstore_bindings::join(&self.snapshot, other, self.k(k), &pair_options(memory, tmp_dir)?))
    }

    pub(super) fn clusters(
        &self,
        k: Option<u32>,
        linkage: &str,
        keep: Option<&Bound<'_, PyAny>>,
        (min_size, among): (u64, Among),
        memory: Option<&Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        let kind = self.snapshot.parameters().ids();
        let options = cluster_options(linkage, (keep, kind), memory, tmp_dir)?;
        let options = ClusterOptions { min_size, among, ..options };
        answers(fpstore_bindings::clusters(&self.snapshot, self.k(k), &options))
    }

    pub(super) fn keep(
        &self,
        k: Option<u32>,
        linkage: &str,
        evidence: bool,
        keep: Option<&Bound<'_, PyAny>>,
        memory: Option<&Size>,
        tmp_dir: Option<PathBuf>,
    ) -> PyResult<PyAnswers> {
        let kind = self.snapshot.parameters().ids();
        let options = cluster_options(linkage, (keep, kind), memory, tmp_dir)?;
        answers(fpstore_bindings::keep(&self.snapshot, self.k(k), kept(evidence), &options))
    }
}

/// What leaves the matches within distance `k`, where one is given, and refuses one that there is not.
pub(super) fn within_distance(
    k: Option<u32>,
    width: u32,
) -> PyResult<impl FnOnce(Vec<Match<AnyFingerprint>>) -> Vec<Match<AnyFingerprint>>> {
    k.map_or(Ok(()), |k| fpstore_bindings::check_distance(k, width)).map_err(of_store)?;
    Ok(move |mut found: Vec<Match<AnyFingerprint>>| {
        found.retain(|found| k.is_none_or(|k| found.distance <= k));
        found
    })
}

/// A column of fingerprints of a store, and one of ids.
pub(super) fn columns(
    handle: &Handle,
    fingerprints: &Bound<'_, PyAny>,
    ids: Option<&Bound<'_, PyAny>>,
) -> PyResult<(ArrayRef, Option<ArrayRef>)> {
    let (py, parameters) = (fingerprints.py(), handle.parameters());
    let source = Source::of_fingerprints("fingerprint", fingerprints, parameters.width())?;
    source.check_hasher(parameters.hasher())?;
    let ids = ids.map(|ids| Source::of("id", ids)?.whole(py)).transpose()?;
    Ok((source.whole(py)?, ids))
}
