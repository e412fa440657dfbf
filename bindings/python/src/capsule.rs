//! Arrow's C structures in Python's capsules.
//!
//! The [PyCapsule interface](https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html) says what the
//! names of capsules promise: this file is the only one that relies on it.

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::{invalid, of_arrow};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The capsules of the type and of the values of an array.
pub(crate) fn of_array<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let schema = FFI_ArrowSchema::try_from(array.data_type()).map_err(of_arrow)?;
    let values = FFI_ArrowArray::new(&array.to_data());
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let values = PyCapsule::new_with_value(py, values, ARRAY)?;
    PyTuple::new(py, [schema, values])
}

/// The capsule of a schema.
pub(crate) fn of_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).map_err(of_arrow)?, SCHEMA)
}

/// The capsule of a stream of record batches.
pub(crate) fn of_stream(py: Python<'_>, reader: Box<dyn RecordBatchReader + Send>) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

#[expect(unsafe_code, reason = "the contents of a capsule are behind a raw pointer")]
/// The array of the capsules that `__arrow_c_array__` returns.
pub(crate) fn to_array(capsules: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
    let schema: NonNull<FFI_ArrowSchema> = schema.pointer_checked(Some(SCHEMA))?.cast();
    let array: NonNull<FFI_ArrowArray> = array.pointer_checked(Some(ARRAY))?.cast();
    // SAFETY: as below; one that was read already is empty.
    if unsafe { array.as_ref() }.is_released() {
        return Err(invalid("this Arrow array was read already"));
    }
    // SAFETY: capsules of these names hold these structures, and live as long as `capsules`. The array is moved out:
    // the empty one that is left tells the capsule that there is nothing to release.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    data.map(make_array).map_err(of_arrow)
}

#[expect(unsafe_code, reason = "the contents of a capsule are behind a raw pointer")]
/// The arrays of the capsule that `__arrow_c_stream__` returns.
pub(crate) fn to_stream(capsule: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let stream: NonNull<FFI_ArrowArrayStream> = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: a capsule of this name holds this structure. It is moved out as above.
    let reader: Result<_, ArrowError> = unsafe { ArrayStreamReader::from_raw(stream.as_ptr()) };
    reader.map_err(of_arrow)
}

/// The capsule of a type.
pub(crate) fn of_field<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(field).map_err(of_arrow)?, SCHEMA)
}

/// Makes the next look at signals find Ctrl-C again.
#[expect(unsafe_code, reason = "the interpreter has no other interface for it")]
pub(crate) fn interrupt_again() {
    // SAFETY: it only sets a flag of the interpreter, and needs no lock.
    unsafe { pyo3::ffi::PyErr_SetInterrupt() }
}
