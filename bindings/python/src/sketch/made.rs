//! The functions of Python.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, FixedSizeListBuilder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{Field, Schema};
use fpstore::{KeyFormat, Result};
use fpstore_bindings::Stop;
use fpstore_tools::documents::{Content, Location};
use fpstore_tools::sketching::{self, LUCENE, Signer};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::options::{Bands, Signature, Simhash, only, parse};
use super::texts::{Documents, are_tokens};
use crate::array::PyArray;
use crate::batch::PyBatch;
use crate::errors::of_options;
use crate::source::{Source, failed, joined};
use crate::{call, process};

/// Makes an array of every piece of a column, and joins them.
fn made(
    py: Python<'_>,
    source: Source,
    make: impl Fn(&Documents, &Stop) -> Result<ArrayRef> + Send + Sync + 'static,
) -> PyResult<ArrayRef> {
    let work = move |stop: &Stop| {
        let mut first = 0;
        let arrays = source.pieces.map(|piece| {
            let rows = piece.as_ref().map_or(0, |piece| piece.len() as u64);
            let array = process::pool()?.install(|| make(&Documents::new(&piece?)?, stop));
            first += rows;
            array.map_err(|error| error.after_rows(first - rows))
        });
        joined(arrays, || make(&Documents::new(&arrow_array::new_empty_array(&source.data_type))?, stop))
    };
    call::run(py, work)
}

/// The simhash of every text: an array of uint64, or of fixed_size_binary(16) above 64 bits, that knows its hasher.
///
/// `texts` is a column of strings, or of lists of ready-made tokens. A null, or a text with fewer than `min_features`
/// features, gets a null. Options are those of `fphash simhash`: `preset`, `width`, `features`, `normalise`, `weights`
/// ("count", "distinct", or the path of a file with a line `feature<TAB>weight` for each feature), `stop_words` (the
/// path of a file with a feature a line), `like` (the path of a store), `min_features` (1).
///
/// >>> import fpstore as fp
/// >>> a, b = fp.simhash(["A crawler has seen this page before.", "A crawler has seen that page before!"])
/// >>> (a ^ b).bit_count() < 32
/// True
#[pyfunction]
#[pyo3(signature = (texts, **options))]
pub(crate) fn simhash(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyArray> {
    let source = Source::of("texts", texts)?;
    let Simhash { options, width, min_features } = parse(options)?;
    let simhash = options.simhash(width, are_tokens(&source.data_type)).map_err(|error| of_options(&error))?;
    let hasher = Some(simhash.identity());
    let is_wide = simhash.width() > 64;
    let place = Location::Whole("".into());
    let array = made(py, source, move |documents, stop| {
        let make = |content: &Content| sketching::fingerprint(&simhash, content.document(), &place, min_features).ok();
        let all = documents.map(stop, make)?;
        if is_wide {
            let mut bytes = FixedSizeBinaryBuilder::with_capacity(all.len(), 16);
            for one in all {
                match one {
                    Some(one) => bytes.append_value(one.to_be_bytes()).map_err(failed)?,
                    None => bytes.append_null(),
                }
            }
            return Ok(Arc::new(bytes.finish()));
        }
        Ok(Arc::new(all.into_iter().map(|one| one.and_then(|one| u64::try_from(one).ok())).collect::<UInt64Array>()))
    })?;
    Ok(PyArray { array, hasher })
}

/// The MinHash signature of every text: an array of fixed_size_list(uint64) that knows its hasher.
///
/// Options are those of `fphash minhash`: `preset`, `num_perm`, `seed`, `features`, `normalise`, and for "lucene"
/// `hash_count`, `bucket_count`, `with_rotation`; `min_features` (1). Columns and nulls as of `simhash`.
///
/// >>> import fpstore as fp
/// >>> a, b = fp.minhash(["one two three four five", "one two three four six"], num_perm=64, features="words:1")
/// >>> 0.3 < sum(x == y for x, y in zip(a, b)) / 64 < 0.95
/// True
#[pyfunction]
#[pyo3(signature = (texts, **options))]
pub(crate) fn minhash(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyArray> {
    let source = Source::of("texts", texts)?;
    let Signature { options, min_features } = parse(options)?;
    let signer: Signer = options.signer(are_tokens(&source.data_type)).map_err(|error| of_options(&error))?;
    let hasher = Some(signer.identity());
    let places = i32::try_from(signer.places()).unwrap_or(i32::MAX);
    let array = made(py, source, move |documents, stop| {
        let all = documents.map(stop, |content: &Content| signer.signature(content, min_features).ok())?;
        let mut lists = FixedSizeListBuilder::new(UInt64Builder::new(), places);
        for one in all {
            match one {
                Some(places) => {
                    lists.values().append_slice(&places);
                    lists.append(true);
                }
                None => {
                    (0..places).for_each(|_| lists.values().append_null());
                    lists.append(false);
                }
            }
        }
        Ok(Arc::new(lists.finish()))
    })?;
    Ok(PyArray { array, hasher })
}

/// The keys of every text for a key index: an array of list(uint64) that knows its hasher. With `sketch`, a batch
/// with the columns `keys` and `sketch` that knows its `sample_bits`, too.
///
/// Options are those of `fpload --text` for key indexes: `preset`, `bands` and `rows`, or `threshold`; `terms`,
/// `num_perm`, `seed`, `features`, `normalise`, `min_features` (1), and `sketch`: bits of a sketch, or "full". A null,
/// or a text with fewer features, has no keys.
///
/// >>> import fpstore as fp
/// >>> keys = fp.bands(["one two three four five six", "one two three four five seven"], bands=16, rows=2,
/// ...                 features="words:2")
/// >>> len(set(keys[0]) & set(keys[1])) > 0
/// True
#[pyfunction]
#[pyo3(signature = (texts, **options))]
pub(crate) fn bands(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let source = Source::of("texts", texts)?;
    let options: Bands = parse(options)?;
    let min_features = options.min_features;
    let (maker, sketch) = options.maker(are_tokens(&source.data_type)).map_err(|error| of_options(&error))?;
    let hasher = maker.identity();
    let format = maker.format(KeyFormat::default());
    let bytes = i32::from(sketch.div_ceil(8));
    let array = made(py, source, move |documents, stop| {
        let all = documents.map(stop, |content: &Content| maker.keys(content, min_features).ok())?;
        let mut lists = ListBuilder::new(UInt64Builder::new());
        let mut sketches = FixedSizeBinaryBuilder::new(bytes);
        for one in all {
            let (keys, sketch) = one.unwrap_or_default();
            lists.values().append_slice(&keys);
            lists.append(true);
            if sketch.is_empty() { sketches.append_null() } else { sketches.append_value(sketch).map_err(failed)? }
        }
        let lists: ArrayRef = Arc::new(lists.finish());
        if bytes == 0 {
            return Ok(lists);
        }
        let sketches: ArrayRef = Arc::new(sketches.finish());
        let columns = [("keys", &lists), ("sketch", &sketches)];
        let fields = columns.map(|(name, array)| Field::new(name, array.data_type().clone(), true));
        let batch =
            RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), vec![lists, sketches]).map_err(failed)?;
        Ok(Arc::new(arrow_array::StructArray::from(batch)))
    })?;
    if bytes == 0 {
        return PyArray { array, hasher: Some(hasher) }.into_py_any(py);
    }
    let columns = arrow_array::cast::AsArray::as_struct(&array);
    let (hasher, sample_bits) = (Some(hasher), Some(format.sample_bits()));
    PyBatch { batch: RecordBatch::from(columns), hasher, sample_bits }.into_py_any(py)
}

/// The terms of Lucene's and Elasticsearch's min_hash token filter for every text: an array of lists of hexadecimal
/// digits, each term as its UTF-16 code units, in the order in which the filter emits them.
///
/// Options are those of `fphash minhash --preset lucene`: `hash_count`, `bucket_count`, `hash_set_size`,
/// `with_rotation`, `features`, `normalise`, `min_features` (1). Columns and nulls as of `simhash`.
///
/// >>> import fpstore as fp
/// >>> (terms,) = fp.lucene_min_hash(["one two three four five"], hash_count=1, bucket_count=8)
/// >>> len(terms)
/// 8
#[pyfunction]
#[pyo3(signature = (texts, **options))]
pub(crate) fn lucene_min_hash(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyArray> {
    let source = Source::of("texts", texts)?;
    only(options, "preset", LUCENE)?;
    let Signature { mut options, min_features } = parse(options)?;
    options.preset = LUCENE.to_owned();
    let lucene = options.lucene(are_tokens(&source.data_type)).map_err(|error| of_options(&error))?;
    let hasher = Some(lucene.identity());
    let array = made(py, source, move |documents, stop| {
        let all = documents.map(stop, |content: &Content| {
            let sketch = lucene.try_sketch(content.document(), min_features).ok()?;
            let hex = |term: fpsketch::LuceneTerm| term.iter().map(|unit| format!("{unit:04x}")).collect::<String>();
            Some(sketch.terms().map(hex).collect::<Vec<_>>())
        })?;
        let mut lists = ListBuilder::new(StringBuilder::new());
        all.into_iter().for_each(|terms| lists.append_option(terms.map(|terms| terms.into_iter().map(Some))));
        Ok(Arc::new(lists.finish()))
    })?;
    Ok(PyArray { array, hasher })
}
