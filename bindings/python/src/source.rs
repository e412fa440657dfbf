//! Columns that Python gives: Arrow by its PyCapsule protocols, NumPy and others by the buffer protocol, sequences.
//!
//! Streams and buffers are read a piece at a time while they are used, so they may be larger than memory.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayReader, ArrayRef, FixedSizeBinaryArray, Int64Array, NullArray, RecordBatch, StructArray, UInt64Array,
    new_empty_array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;
use fpstore::{Error, ErrorKind};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMemoryView, PyRange, PyRangeMethods, PyString};

use crate::array::PyArray;
use crate::batch::PyBatch;
use crate::errors::{invalid, of_arrow, of_store};
use crate::of_python::{of_fingerprints, of_values};
use crate::refused::refused;
use crate::{call, capsule, pandas};

/// Rows of a piece of a buffer.
const PIECE: usize = 1 << 17;

/// Pieces of a column.
type Pieces = Box<dyn Iterator<Item = fpstore::Result<ArrayRef>> + Send>;

/// A column, or a table as a column of structures.
pub(crate) struct Source {
    pub(crate) data_type: DataType,
    pub(crate) pieces: Pieces,
    /// What made its values.
    pub(crate) hasher: Option<String>,
    /// Whether reading it may take long, or calls code of Python: a stream, or a large buffer.
    is_long: bool,
}

impl Source {
    /// What the argument of this name holds.
    pub(crate) fn of(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        match Self::of_range(given)? {
            Some(numbers) => Ok(numbers),
            None => Self::with(name, given, |values| of_values(name, values)),
        }
    }

    /// Fingerprints of this width: of Python, each may be an integer, bytes or hexadecimal digits.
    pub(crate) fn of_fingerprints(name: &str, given: &Bound<'_, PyAny>, width: u32) -> PyResult<Self> {
        let numbers = if width == 64 { Self::of_range(given)? } else { None };
        numbers.map_or_else(|| Self::with(name, given, |values| of_fingerprints(name, values, width)), Ok)
    }

    /// The numbers of a range, which are not made before they are used.
    fn of_range(given: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Ok(range) = given.cast::<PyRange>() else { return Ok(None) };
        let (Ok(start), Ok(stop), Ok(step)) = (range.start(), range.stop(), range.step()) else { return Ok(None) };
        let (Ok(first), Ok(end), Ok(step @ 1..)) = (u64::try_from(start), u64::try_from(stop), usize::try_from(step))
        else {
            return Ok(None);
        };
        let mut numbers = (first..end).step_by(step);
        let is_long = numbers.size_hint().0 > PIECE;
        let pieces = std::iter::from_fn(move || {
            let piece: Vec<u64> = numbers.by_ref().take(PIECE).collect();
            (!piece.is_empty()).then(|| Ok(Arc::new(UInt64Array::from(piece)) as ArrayRef))
        });
        Ok(Some(Self { data_type: DataType::UInt64, pieces: Box::new(pieces), hasher: None, is_long }))
    }

    /// What an argument holds; `values` makes an array of values of Python.
    fn with(
        name: &str,
        given: &Bound<'_, PyAny>,
        values: impl Fn(&Bound<'_, PyList>) -> PyResult<ArrayRef>,
    ) -> PyResult<Self> {
        let py = given.py();
        if let Ok(array) = given.cast::<PyArray>() {
            let PyArray { array, hasher } = array.get().clone();
            return Ok(Self { hasher, ..Self::single(array) });
        }
        if let Ok(batch) = given.cast::<PyBatch>() {
            let PyBatch { batch, hasher, .. } = batch.get().clone();
            return Ok(Self { hasher, ..Self::single(Arc::new(StructArray::from(batch))) });
        }
        if let Ok(columns) = given.cast::<PyDict>() {
            return Ok(Self::single(Arc::new(StructArray::from(Self::table(columns)?))));
        }
        // That of pandas needs pyarrow.
        let stream =
            if given.hasattr("__arrow_c_stream__")? { Some(given.call_method0("__arrow_c_stream__")) } else { None };
        if let Some(stream) = stream.filter(|stream| !is_import_error(py, stream)) {
            let reader = capsule::to_stream(&stream?)?;
            let data_type = reader.field().data_type().clone();
            let pieces = reader.map(|piece| sound(piece.map_err(failed)?));
            return Ok(Self { data_type, pieces: Box::new(pieces), hasher: None, is_long: !is_small(given) });
        }
        if given.hasattr("__arrow_c_array__")? {
            let array = capsule::to_array(&given.call_method0("__arrow_c_array__")?)?;
            return Ok(Self::single(py.detach(|| sound(array)).map_err(of_store)?));
        }
        if let Some(columns) = pandas::columns(given)? {
            return Ok(Self::single(Arc::new(StructArray::from(Self::table(&columns)?))));
        }
        if let Ok(view) = PyMemoryView::from(given) {
            let (dimensions, size): (usize, usize) =
                (view.getattr("ndim")?.extract()?, view.getattr("itemsize")?.extract()?);
            match Self::of_buffer(name, &view) {
                // Other numbers and strings of NumPy are read one by one; single bytes are no records.
                Err(_) if dimensions == 1 && size > 1 => {}
                source => return source,
            }
        }
        if let Ok(numpy) = given.call_method0("to_numpy")
            && let Ok(view) = PyMemoryView::from(&numpy)
            && let Ok(source) = Self::of_buffer(name, &view)
        {
            return Ok(source);
        }
        if given.is_instance_of::<PyString>() {
            return Err(refused(name, given, "a column"));
        }
        if let Some(list) = pandas::values(given)? {
            return Ok(Self::single(values(&list)?));
        }
        let list = PyList::type_object(py).call1((given,)).map_err(|error| {
            // An error of the caller's own iterator goes to the caller.
            if !error.is_instance_of::<PyTypeError>(py) {
                return error;
            }
            refused(name, given, "an Arrow array or stream, a buffer or a sequence")
        })?;
        Ok(Self::single(values(list.cast::<PyList>()?)?))
    }

    /// A table of columns by their names.
    pub(crate) fn table(columns: &Bound<'_, PyDict>) -> PyResult<RecordBatch> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, column) in columns {
            let array = Self::of(&name.str()?.to_cow()?, &column)?.whole(column.py())?;
            fields.push(Field::new(name.extract::<String>()?, array.data_type().clone(), true));
            arrays.push(array);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(of_arrow)
    }

    fn single(array: ArrayRef) -> Self {
        let data_type = array.data_type().clone();
        Self { data_type, pieces: Box::new(std::iter::once(Ok(array))), hasher: None, is_long: false }
    }

    /// A buffer of numbers of 64 bits, or of rows of bytes.
    fn of_buffer(name: &str, view: &Bound<'_, PyMemoryView>) -> PyResult<Self> {
        let format: String = view.getattr("format")?.extract()?;
        let size: usize = view.getattr("itemsize")?.extract()?;
        let shape: Vec<usize> = view.getattr("shape")?.extract()?;
        let kind = format.trim_start_matches(['@', '=', '<']);
        let make = match (kind, size, shape.as_slice()) {
            ("Q" | "L", 8, [_]) => Buffered::Unsigned,
            ("q" | "l", 8, [_]) => Buffered::Signed,
            ("B", 1, [_, bytes @ (8 | 16 | 32)]) => Buffered::Rows(i32::try_from(*bytes).unwrap_or(0)),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "{name}: a buffer of format {format:?} and shape {shape:?}: expected one dimension of 64-bit \
                     integers, or rows of 16 or 32 uint8"
                )));
            }
        };
        let rows = shape.first().copied().unwrap_or(0);
        let view = view.clone().unbind();
        let pieces = (0..rows).step_by(PIECE).map(move |first| {
            let bytes = Python::attach(|py| -> PyResult<Buffer> {
                let slice = pyo3::types::PySlice::new(py, first.cast_signed(), (first + PIECE).cast_signed(), 1);
                let bytes = view.bind(py).get_item(slice)?.call_method0("tobytes")?;
                Ok(Buffer::from(bytes.cast::<PyBytes>()?.as_bytes()))
            });
            let bytes = bytes.map_err(|error| Error::new(ErrorKind::InvalidInput, error.to_string()))?;
            make.array(bytes)
        });
        Ok(Self { data_type: make.data_type(), pieces: Box::new(pieces), hasher: None, is_long: rows > PIECE })
    }

    /// All pieces as one array.
    pub(crate) fn whole(self, py: Python<'_>) -> PyResult<ArrayRef> {
        let data_type = self.data_type.clone();
        self.read(py, move |pieces| joined(pieces, || Ok(new_empty_array(&data_type))))
    }

    /// What `make` makes of the pieces. Where reading them may take long, a thread does it: Ctrl-C ends it then, and is
    /// not raised in a stream that calls back into Python, whose library would take it for an error of the stream.
    pub(crate) fn read<T: Send + 'static>(
        self,
        py: Python<'_>,
        make: impl FnOnce(&mut dyn Iterator<Item = fpstore::Result<ArrayRef>>) -> fpstore::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let Self { mut pieces, is_long, .. } = self;
        if is_long {
            call::run(py, move |stop| make(&mut pieces.map(|piece| stop.check().and(piece))))
        } else {
            py.detach(|| make(&mut pieces)).map_err(of_store)
        }
    }

    /// A column of a table.
    pub(crate) fn column(piece: &ArrayRef, name: &str) -> fpstore::Result<ArrayRef> {
        let column = piece.as_struct_opt().and_then(|table| table.column_by_name(name).cloned());
        column.ok_or_else(|| fpstore_bindings::input::invalid(format!("the table has no column {name:?}")))
    }

    /// The column that is named, or the one of the usual name if there is one.
    pub(crate) fn named(piece: &ArrayRef, name: Option<&str>, usual: &str) -> fpstore::Result<Option<ArrayRef>> {
        match name {
            Some(name) => Self::column(piece, name).map(Some),
            None => Ok(Self::column(piece, usual).ok()),
        }
    }

    /// Refuses values that something else has made than what the store records.
    pub(crate) fn check_hasher(&self, recorded: Option<&str>) -> PyResult<()> {
        match (&self.hasher, recorded) {
            (Some(made), Some(recorded)) if made != recorded => {
                Err(invalid(format!("these values were made by {made}, those of the store by {recorded}")))
            }
            _ => Ok(()),
        }
    }

    /// Whether it is a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.data_type, DataType::Struct(_))
    }
}

/// Pieces as one array, or `empty` if there are none.
pub(crate) fn joined(
    pieces: impl Iterator<Item = fpstore::Result<ArrayRef>>,
    empty: impl FnOnce() -> fpstore::Result<ArrayRef>,
) -> fpstore::Result<ArrayRef> {
    let pieces = pieces.collect::<fpstore::Result<Vec<ArrayRef>>>()?;
    let pieces: Vec<&dyn Array> = pieces.iter().map(|piece| &**piece).collect();
    if pieces.is_empty() { empty() } else { concat(&pieces).map_err(failed) }
}

fn is_import_error(py: Python<'_>, called: &PyResult<Bound<'_, PyAny>>) -> bool {
    called.as_ref().is_err_and(|error| error.is_instance_of::<PyImportError>(py))
}

/// Whether a stream is of a small table or column in memory: to read it costs less than a thread. The length of objects
/// of other libraries may be the result of a query.
fn is_small(given: &Bound<'_, PyAny>) -> bool {
    let is_known = |module: Bound<'_, PyString>| {
        module.to_str().is_ok_and(|module| module.starts_with("polars.") || module.starts_with("pyarrow."))
    };
    given.get_type().module().is_ok_and(is_known) && given.len().is_ok_and(|rows| rows <= PIECE)
}

/// An array of another library, if it is what its type says: offsets within their buffers, texts of UTF-8, and rows that
/// are all there.
fn sound(array: ArrayRef) -> fpstore::Result<ArrayRef> {
    array.to_data().validate_full().map_err(failed)?;
    if matches!(array.data_type(), DataType::Struct(_))
        && let Some(row) = (0..array.len()).find(|&row| array.is_null(row))
    {
        return Err(fpstore_bindings::input::invalid("the row of the table is null as a whole").at_row(row as u64));
    }
    Ok(array)
}

/// The values of a buffer.
#[derive(Clone, Copy, Debug)]
enum Buffered {
    Unsigned,
    Signed,
    Rows(i32),
}

impl Buffered {
    fn data_type(self) -> DataType {
        match self {
            Self::Unsigned => DataType::UInt64,
            Self::Signed => DataType::Int64,
            Self::Rows(bytes) => DataType::FixedSizeBinary(bytes),
        }
    }

    fn array(self, bytes: Buffer) -> fpstore::Result<ArrayRef> {
        Ok(match self {
            Self::Unsigned => Arc::new(UInt64Array::new(ScalarBuffer::from(bytes), None)),
            Self::Signed => Arc::new(Int64Array::new(ScalarBuffer::from(bytes), None)),
            Self::Rows(length) => Arc::new(FixedSizeBinaryArray::try_new(length, bytes, None).map_err(failed)?),
        })
    }
}

/// The error of a stream.
pub(crate) fn failed(error: arrow_schema::ArrowError) -> Error {
    match error {
        arrow_schema::ArrowError::ExternalError(source) => match source.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::new(ErrorKind::InvalidInput, other.to_string()),
        },
        other => Error::new(ErrorKind::InvalidInput, other.to_string()),
    }
}

/// Two or more columns, cut into pieces of the same rows.
pub(crate) struct Together {
    columns: Vec<Option<Column>>,
}

/// A column with the rest of its present piece.
struct Column {
    name: &'static str,
    pieces: Pieces,
    rest: ArrayRef,
}

impl Together {
    /// The columns that there are, with their names for messages. The first one is always there.
    pub(crate) fn new(columns: Vec<(&'static str, Option<Source>)>) -> Self {
        let column = |(name, source): (_, Option<Source>)| {
            let Source { pieces, .. } = source?;
            Some(Column { name, pieces, rest: Arc::new(NullArray::new(0)) })
        };
        Self { columns: columns.into_iter().map(column).collect() }
    }

    fn next_piece(&mut self) -> fpstore::Result<Option<Vec<Option<ArrayRef>>>> {
        for column in self.columns.iter_mut().flatten() {
            while column.rest.is_empty() {
                match column.pieces.next() {
                    Some(piece) => column.rest = piece?,
                    None => break,
                }
            }
        }
        let present: Vec<&Column> = self.columns.iter().flatten().collect();
        let rows = present.iter().map(|column| column.rest.len()).min().unwrap_or(0);
        if rows == 0 {
            let longer = present.iter().find(|column| !column.rest.is_empty());
            let shorter = present.iter().find(|column| column.rest.is_empty());
            return match (longer, shorter) {
                (Some(longer), Some(shorter)) => Err(Error::new(
                    ErrorKind::InvalidInput,
                    format!("there are fewer {} than {}", shorter.name, longer.name),
                )),
                _ => Ok(None),
            };
        }
        let cut = |column: &mut Column| {
            let piece = column.rest.slice(0, rows);
            column.rest = column.rest.slice(rows, column.rest.len() - rows);
            piece
        };
        Ok(Some(self.columns.iter_mut().map(|column| column.as_mut().map(cut)).collect()))
    }
}

impl Iterator for Together {
    type Item = fpstore::Result<Vec<Option<ArrayRef>>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}
