//! A table in memory: the batches that were given.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchIterator, StructArray, UInt64Array};
use arrow_schema::{DataType, Field, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take;
use fpstore::Result;
use fpstore_bindings::input::IdColumn;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::array::PyArray;
use crate::batch::PyBatch;
use crate::errors::{invalid, of_arrow, of_store};
use crate::source::{Source, failed, joined};
use crate::{capsule, pickled};

/// A table in memory, for `polars.DataFrame`, `pyarrow.table` and others. Its batches are not copied.
///
/// >>> import fpstore as fp
/// >>> table = fp.Table({"a": [1, 2], "b": ["x", "y"]})
/// >>> table
/// <fpstore.Table of 2 rows: a, b>
#[pyclass(frozen, name = "Table", module = "fpstore")]
#[derive(Clone, Debug)]
pub(crate) struct PyTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl PyTable {
    /// The batches without the rows of these numbers.
    fn filtered(&self, rows: &UInt64Array) -> Result<Vec<RecordBatch>> {
        let mut is_kept = vec![true; self.__len__()];
        for row in rows.iter().flatten() {
            let kept = usize::try_from(row).ok().and_then(|row| is_kept.get_mut(row));
            *kept.ok_or_else(|| fpstore_bindings::input::invalid(format!("there is no row {row}")))? = false;
        }
        let mut first = 0;
        let filtered = self.batches.iter().map(|batch| {
            let kept = is_kept.get(first..first + batch.num_rows()).unwrap_or_default().to_vec();
            first += batch.num_rows();
            filter_record_batch(batch, &BooleanArray::from(kept)).map_err(failed)
        });
        filtered.collect()
    }

    fn whole(&self, py: Python<'_>) -> PyResult<PyBatch> {
        py.detach(|| concat_batches(&self.schema, &self.batches)).map(PyBatch::new).map_err(of_arrow)
    }
}

#[pymethods]
impl PyTable {
    /// Reads a table from anything that has one: an object with an Arrow stream or array of structures, or a dictionary
    /// of columns.
    #[new]
    fn new(py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(columns) = table.cast::<PyDict>() {
            let batch = Source::table(columns)?;
            return Ok(Self { schema: batch.schema(), batches: vec![batch] });
        }
        if let Ok(table) = table.cast::<Self>() {
            return Ok(table.get().clone());
        }
        let source = Source::of("table", table)?;
        let empty = arrow_array::new_empty_array(&source.data_type);
        let Some(empty) = arrow_array::cast::AsArray::as_struct_opt(&empty).map(RecordBatch::from) else {
            return Err(invalid("expected a table: an object with columns"));
        };
        let batches = source.read(py, |pieces| {
            let batch = |piece: Result<ArrayRef>| {
                let piece = piece?;
                let columns = arrow_array::cast::AsArray::as_struct_opt(&piece).cloned();
                columns.map(RecordBatch::from).ok_or_else(|| fpstore_bindings::input::invalid("a batch is no table"))
            };
            pieces.map(batch).collect::<Result<Vec<_>>>()
        })?;
        Ok(Self { schema: empty.schema(), batches })
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Number of rows.
    ///
    /// >>> table.num_rows
    /// 2
    #[getter]
    fn num_rows(&self) -> usize {
        self.__len__()
    }

    /// Names of the columns.
    ///
    /// >>> table.column_names
    /// ['a', 'b']
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The column of a name.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<PyArray> {
        let Ok(at) = self.schema.index_of(name) else {
            let names = self.column_names().join(", ");
            return Err(invalid(format!("the table has no column {name:?}; it has {names}")));
        };
        let columns = self.batches.iter().map(|batch| Ok(Arc::clone(batch.column(at))));
        let empty = || Ok(arrow_array::new_empty_array(self.schema.field(at).data_type()));
        py.detach(|| joined(columns, empty)).map(PyArray::new).map_err(of_store)
    }

    /// The table without the rows of these numbers, a column of integers from 0.
    ///
    /// >>> table.without([0]).to_pydict()
    /// {'a': [2], 'b': ['y']}
    fn without(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rows = Source::of("rows", rows)?.whole(py)?;
        let rows = match IdColumn::new(Some(&rows)) {
            Ok(IdColumn::Numbers(rows)) => rows,
            // A column of nothing, or of nulls, has no type.
            _ if *rows.data_type() == DataType::Null => UInt64Array::new_null(0),
            _ => return Err(invalid("rows: expected numbers of rows, integers of 0 or more")),
        };
        let batches = py.detach(|| self.filtered(&rows)).map_err(of_store)?;
        Ok(Self { schema: Arc::clone(&self.schema), batches })
    }

    /// The columns as lists, by their names.
    ///
    /// >>> table.to_pydict()
    /// {'a': [1, 2], 'b': ['x', 'y']}
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Bound::new(py, self.whole(py)?)?.call_method0("to_pydict")?.cast_into().map_err(PyErr::from)
    }

    /// The rows as dictionaries.
    ///
    /// >>> table.to_pylist()
    /// [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Bound::new(py, self.whole(py)?)?.call_method0("to_pylist")?.cast_into().map_err(PyErr::from)
    }

    /// Arrow's capsule of a stream of the batches.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        capsule::of_stream(py, Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema))))
    }

    /// Arrow's capsule of the schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, &self.schema)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        pickled::as_call(py, "_table", (pickled::bytes(py, &self.schema, &self.batches)?,))
    }

    fn __repr__(&self) -> String {
        format!("<fpstore.Table of {} rows: {}>", self.__len__(), self.column_names().join(", "))
    }
}

/// A batch whose columns `names`, of row numbers, are replaced by the values of these rows.
#[pyfunction]
#[pyo3(signature = (batch, names, values))]
pub(crate) fn renamed(batch: &PyBatch, names: Vec<String>, values: &PyArray) -> PyResult<PyBatch> {
    let batch = &batch.batch;
    let mut fields = batch.schema().fields().to_vec();
    let mut columns = batch.columns().to_vec();
    for name in names {
        let at = batch.schema().index_of(&name).map_err(of_arrow)?;
        if let (Some(field), Some(column)) = (fields.get_mut(at), columns.get_mut(at)) {
            *column = take(&*values.array, &**column, None).map_err(of_arrow)?;
            let made = Field::new(name, column.data_type().clone(), true);
            *field = Arc::new(made);
        }
    }
    let columns = StructArray::try_new(fields.into(), columns, None).map_err(of_arrow)?;
    Ok(PyBatch::new(RecordBatch::from(columns)))
}

/// A table of its bytes, for pickle.
#[pyfunction]
pub(crate) fn _table(py: Python<'_>, bytes: &[u8]) -> PyResult<PyTable> {
    let (schema, batches) = pickled::batches(py, bytes)?;
    Ok(PyTable { schema, batches })
}
