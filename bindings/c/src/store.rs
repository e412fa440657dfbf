//! A store: creating, opening, closing, and its state.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::{c_char, c_int};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use fpstore::{AnyStore, ErrorKind, Result};
use fpstore_bindings::input::invalid;
use fpstore_bindings::{AnyIndex, Handle, Stop};

use crate::border::{border, border_or, c_string, fps_error, fps_kind};
use crate::given;
use crate::id::{durability_of, fps_durability};
use crate::options::{fps_options, fps_parameters, options_of, parameters_of};

/// A store.
#[derive(Debug)]
pub struct fps_store {
    /// The open store, until it is closed.
    handle: RwLock<Option<Arc<Handle>>>,
    stop: Stop,
    path: PathBuf,
}

impl fps_store {
    fn new(handle: Handle) -> Self {
        let (stop, path) = (handle.stop.clone(), handle.path().to_owned());
        Self { handle: RwLock::new(Some(Arc::new(handle))), stop, path }
    }

    fn close(&self) -> Result<()> {
        let handle = self.handle.write().unwrap_or_else(PoisonError::into_inner).take();
        // Where another thread is at work, its call closes the store at its end.
        handle.and_then(Arc::into_inner).map_or(Ok(()), Handle::close)
    }

    /// Asks for the end of long work, or lets it go on.
    pub(crate) fn ask_to_stop(&self, stop: bool) {
        self.stop.set(stop);
    }
}

/// Works with an open store. An error of writing that is only the end of stopped work is said to be that.
///
/// # Safety
/// As [`given::required`].
pub(crate) unsafe fn with<T>(store: *const fps_store, work: impl FnOnce(&Arc<Handle>) -> Result<T>) -> Result<T> {
    // SAFETY: as this function demands.
    let store = unsafe { given::required(store, "the store")? };
    let handle = store.handle.read().unwrap_or_else(PoisonError::into_inner).clone();
    let handle = handle.ok_or_else(|| invalid("the store is closed").at_path(&store.path))?;
    work(&handle).map_err(|error| match store.stop.check() {
        Err(stopped) if error.kind() == ErrorKind::Io => stopped.at_path(&store.path),
        _ => error,
    })
}

/// As [`with`], for a store of fingerprints.
///
/// # Safety
/// As [`with`].
pub(crate) unsafe fn with_store<T>(store: *const fps_store, work: impl FnOnce(&AnyStore) -> Result<T>) -> Result<T> {
    // SAFETY: as this function demands.
    unsafe { with(store, |handle| work(handle.store()?)) }
}

/// Creates an empty store at a path where there is nothing, and opens it. NULL for the parameters makes one of 64 bits
/// for distance 3, NULL for the options takes the defaults. Free the store with fps_store_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_create(
    path: *const c_char,
    parameters: *const fps_parameters,
    options: *const fps_options,
    store: *mut *mut fps_store,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let opening = opening(store, options)?;
            if opening.is_read_only {
                return Err(invalid("a store cannot be created with read_only"));
            }
            let (path, parameters) = (given::path(path, "the path")?, parameters_of(parameters)?);
            let handle = Handle::create(path, &parameters, opening.options, opening.threads)?;
            given::give(store, fps_store::new(handle));
            Ok(())
        })
    }
}

/// Opens the store of fingerprints, or the key index, at a path. NULL for the options takes the defaults. Of a key
/// index this version has fps_stats and what concerns the store as a whole. Free the store with fps_store_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_open(
    path: *const c_char,
    options: *const fps_options,
    store: *mut *mut fps_store,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let opening = opening(store, options)?;
            let path = given::path(path, "the path")?;
            let handle = Handle::open(path, opening.is_read_only, opening.options, opening.threads)?;
            given::give(store, fps_store::new(handle));
            Ok(())
        })
    }
}

/// The options, after `*store` was set to null.
unsafe fn opening(store: *mut *mut fps_store, options: *const fps_options) -> Result<crate::options::Opening> {
    given::check(store, "the place for the store")?;
    // SAFETY: the rules of the header.
    unsafe {
        given::set(store, std::ptr::null_mut());
        options_of(options)
    }
}

/// Closes a store and reports errors. Later calls, except fps_store_free, fail with FPS_INVALID_INPUT. Calls of other
/// threads go on: the store then closes when they end, and errors of closing are not reported. Streams stay readable.
/// What was acknowledged is safe without closing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_store_close(store: *mut fps_store, error: *mut *mut fps_error) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || given::required(store, "the store")?.close()) }
}

/// Closes a store, if it is open, and frees it. No other call may use it at the same time or later; streams may be read
/// on. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_store_free(store: *mut fps_store) {
    // SAFETY: the rules of the header; `given::give` has made it.
    border_or((), || unsafe { given::free(store) });
}

/// With 1, asks all long work of a store to end: loads and compactions then fail with FPS_STOPPED and leave the store
/// as it was, until this is called with 0. May be called by any thread and by a handler of signals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_store_stop(store: *const fps_store, stop: c_int) {
    // SAFETY: the rules of the header. Only an atomic value is set.
    border_or((), || unsafe {
        if let Some(store) = store.as_ref() {
            store.ask_to_stop(stop != 0);
        }
    });
}

/// Bits of a fingerprint of the store; 0 if it is NULL, closed or a key index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_store_width(store: *const fps_store) -> u32 {
    // SAFETY: the rules of the header.
    border_or(0, || unsafe { with_store(store, |store| Ok(store.parameters().width())).unwrap_or(0) })
}

/// Sizes and counts as a JSON object with the fields of `fpdump stats --json`. Free the text with fps_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_stats(
    store: *const fps_store,
    json: *mut *mut c_char,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::check(json, "the place for the text")?;
            given::set(json, std::ptr::null_mut());
            let text = with(store, |handle| {
                fpstore_bindings::statistics_json(&match &handle.index {
                    AnyIndex::Store(store) => store.statistics(),
                    AnyIndex::Keys(index) => index.statistics(),
                })
            })?;
            given::set(json, c_string(text).into_raw());
            Ok(())
        })
    }
}

/// Frees a text of fps_stats. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_text_free(text: *mut c_char) {
    border_or((), || {
        if !text.is_null() {
            // SAFETY: the rules of the header; `fps_stats` has made it.
            drop(unsafe { std::ffi::CString::from_raw(text) });
        }
    });
}

/// Makes earlier writes as durable as this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_sync(
    store: *const fps_store,
    durability: fps_durability,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || with_store(store, |store| store.sync(durability_of(durability)?))) }
}

/// Merges all runs to one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_compact(store: *const fps_store, error: *mut *mut fps_error) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            with(store, |handle| match &handle.index {
                AnyIndex::Store(store) => store.compact().map(drop),
                AnyIndex::Keys(index) => index.compact().map(drop),
            })
        })
    }
}

/// Moves a store that is open with read_only on to the latest state; sets `*changed`, unless it is NULL, to 1 if there
/// was one, otherwise to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_refresh(
    store: *const fps_store,
    changed: *mut c_int,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let moved = with(store, |handle| match &handle.index {
                AnyIndex::Store(store) => store.refresh(),
                AnyIndex::Keys(index) => index.refresh(),
            })?;
            given::set(changed, c_int::from(moved));
            Ok(())
        })
    }
}
