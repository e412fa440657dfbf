//! Streams of record batches across the border: the `ArrowArrayStream` of Arrow's C stream interface.
#![allow(unsafe_code, reason = "structures of a C ABI")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use fpstore::{Error, ErrorKind, Result};
use fpstore_bindings::input::invalid;

use crate::given;

/// Record batches whose panics are errors, and whose messages are C strings.
struct Guarded<R>(R);

impl<R: RecordBatchReader> Iterator for Guarded<R> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let failed = |message: String| ArrowError::ComputeError(message.replace('\0', ""));
        match catch_unwind(AssertUnwindSafe(|| self.0.next())) {
            Ok(next) => next.map(|batch| batch.map_err(|error| failed(message(&error)))),
            Err(panic) => {
                std::mem::forget(panic);
                Some(Err(failed("a mistake in fpstore, please report it: a panic".to_owned())))
            }
        }
    }
}

impl<R: RecordBatchReader> RecordBatchReader for Guarded<R> {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

fn message(error: &ArrowError) -> String {
    match error {
        ArrowError::ExternalError(source) => source.to_string(),
        other => other.to_string(),
    }
}

/// Gives a stream to the caller, or in its place after an error one that is released already.
///
/// # Safety
/// If the place is not null, a stream may be written there.
pub(crate) unsafe fn export<R: RecordBatchReader + Send + 'static>(
    out: *mut FFI_ArrowArrayStream,
    make: impl FnOnce() -> Result<R>,
) -> Result<()> {
    given::check(out, "the place for the stream")?;
    // SAFETY: as this function demands.
    unsafe {
        given::set(out, FFI_ArrowArrayStream::empty());
        given::set(out, FFI_ArrowArrayStream::new(Box::new(Guarded(make()?))));
    }
    Ok(())
}

/// Takes a stream from the caller, whose structure is then released.
///
/// # Safety
/// If the place is not null, it holds a stream as the interface describes it.
pub(crate) unsafe fn import(stream: *mut FFI_ArrowArrayStream) -> Result<RecordBatchStreamReader> {
    given::check(stream, "the stream")?;
    // SAFETY: as this function demands.
    unsafe { RecordBatchStreamReader::from_raw(stream) }.map_err(|error| refused(&error))
}

/// The batches of a stream of the caller.
pub(crate) fn batches(reader: RecordBatchStreamReader) -> impl Iterator<Item = Result<RecordBatch>> + Send {
    reader.map(|batch| batch.map_err(|error| refused(&error)))
}

/// A column, checked: the strings of a foreign stream may not be UTF-8.
pub(crate) fn column(batch: &RecordBatch, name: &str) -> Result<ArrayRef> {
    let Some(column) = batch.column_by_name(name) else {
        return Err(invalid(format!("the stream has no column '{name}'")));
    };
    column.to_data().validate_full().map_err(|error| refused(&error))?;
    Ok(column.clone())
}

/// A column that has to be there if the caller names it; otherwise the one of the default name, if there is one.
pub(crate) fn optional(batch: &RecordBatch, named: Option<&str>, default: &str) -> Result<Option<ArrayRef>> {
    let name = named.or_else(|| batch.column_by_name(default).map(|_| default));
    name.map(|name| column(batch, name)).transpose()
}

fn refused(error: &ArrowError) -> Error {
    Error::new(ErrorKind::InvalidInput, message(error))
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use arrow_array::RecordBatchIterator;
    use arrow_schema::Schema;
    use std::sync::Arc;

    /// Answers whose work panics, or fails with a text that is no C string, are an error of the stream.
    #[test]
    fn a_panic_of_the_work_is_an_error_of_the_stream() {
        let schema = Arc::new(Schema::empty());
        let batches = (0..3).map(|number| match number {
            0 => panic!("a mistake"),
            1 => Err(ArrowError::ExternalError(Box::new(invalid("a\0b")))),
            _ => Ok(RecordBatch::new_empty(Arc::new(Schema::empty()))),
        });
        let mut stream = FFI_ArrowArrayStream::empty();
        // SAFETY: there is a place for the stream, and it is one when it is taken back.
        let mut reader = unsafe {
            export(&raw mut stream, || Ok(RecordBatchIterator::new(batches, schema))).unwrap();
            import(&raw mut stream).unwrap()
        };
        let messages = [(); 2].map(|()| reader.next().unwrap().unwrap_err().to_string());
        assert!(messages[0].contains("a mistake in fpstore"), "{messages:?}");
        assert!(messages[1].contains("ab"), "{messages:?}");
    }
}
