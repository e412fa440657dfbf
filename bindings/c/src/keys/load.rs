//! Loads of records of keys, durable and all or nothing.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::{c_char, c_void};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::{Error, ErrorKind, Result};
use fpstore_bindings::{Deed, Handle, KeyColumns};

use super::columns::{Given, fps_key_columns};
use crate::border::{border, fps_error, fps_kind};
use crate::given;
use crate::load::{deed_of, fps_deed, fps_loaded, fps_progress, watched};
use crate::store::{fps_store, with};
use crate::stream;
use crate::versioned::Out;

/// Loads records of keys of arrays, durably and all or nothing. FPS_ADD leaves out records whose id is there,
/// FPS_REPLACE replaces those; fps_remove_ids removes. `loaded` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_load(
    store: *const fps_store,
    deed: fps_deed,
    records: *const fps_key_columns,
    progress: fps_progress,
    context: *mut c_void,
    loaded: *mut fps_loaded,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let out = Out::new(loaded)?;
            let report = with(store, |handle| {
                let format = handle.keys()?.parameters().keys().unwrap_or_default();
                load(handle, deed, Given::new(records, format)?.pieces(), (progress, context))
            })?;
            out.set(report);
            Ok(())
        })
    }
}

/// Loads the records of a stream of record batches. As fps_keys_load and fps_load_stream: `keys` is a column of lists
/// of uint64, or of binary or strings, whose keys are their XXH64. A column that is NULL stands for "keys", and for
/// "id" and "sketch", if there are such columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_load_stream(
    store: *const fps_store,
    deed: fps_deed,
    records: *mut FFI_ArrowArrayStream,
    keys_column: *const c_char,
    id_column: *const c_char,
    sketch_column: *const c_char,
    progress: fps_progress,
    context: *mut c_void,
    loaded: *mut fps_loaded,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let records = stream::import(records)?;
            let out = Out::new(loaded)?;
            let keys = given::text_or_none(keys_column, "keys_column")?.unwrap_or("keys");
            let ids = given::text_or_none(id_column, "id_column")?;
            let sketches = given::text_or_none(sketch_column, "sketch_column")?;
            let batches = stream::batches(records).map(move |batch| {
                let batch = batch?;
                let named = |name, default| stream::optional(&batch, name, default);
                Ok((stream::column(&batch, keys)?, named(ids, "id")?, named(sketches, "sketch")?))
            });
            out.set(with(store, |handle| load(handle, deed, batches, (progress, context)))?);
            Ok(())
        })
    }
}

/// # Safety
/// The function of the caller may be called with its context.
unsafe fn load(
    handle: &Handle,
    deed: fps_deed,
    batches: impl Iterator<Item = Result<KeyColumns>> + Send,
    (progress, context): (fps_progress, *mut c_void),
) -> Result<fps_loaded> {
    let deed = deed_of(deed)?;
    if deed == Deed::Remove {
        let message = "a key index removes by id: fps_remove_ids";
        return Err(Error::new(ErrorKind::Unsupported, message).at_path(handle.path()));
    }
    // SAFETY: as this function demands.
    unsafe {
        watched(handle, (progress, context), |seen| fpstore_bindings::key_load(handle, deed, batches, seen))
            .map(fps_loaded::of)
    }
}
