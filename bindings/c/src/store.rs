//! A store: creating, opening, closing, and its state.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::{c_char, c_int};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use fpstore::admin::Statistics;
use fpstore::keys::KeySnapshot;
use fpstore::{AnyStore, Error, ErrorKind, Parameters, Result};
use fpstore_bindings::input::invalid;
use fpstore_bindings::{AnyIndex, AnySnapshot, Handle, Stop};

use crate::border::{border, border_or, fps_error, fps_kind};
use crate::given;
use crate::options::{Opening, fps_options, fps_parameters, options_of, parameters_of};

/// A store, or a snapshot of one.
#[derive(Debug)]
pub struct fps_store {
    /// What is open, until it is closed.
    opened: RwLock<Option<Opened>>,
    /// Stops its long work.
    stop: Stop,
    path: PathBuf,
}

/// What a store of the caller is.
#[derive(Clone, Debug)]
enum Opened {
    Store(Arc<Handle>),
    Snapshot(Asked),
    KeySnapshot(KeySnapshot),
}

/// A state that is asked, and the threads that answer many queries.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) snapshot: AnySnapshot,
    pub(crate) threads: usize,
}

impl fps_store {
    fn new(handle: Handle) -> Self {
        let (stop, path) = (handle.stop.clone(), handle.path().to_owned());
        Self { opened: RwLock::new(Some(Opened::Store(Arc::new(handle)))), stop, path }
    }

    /// The state of this store as it is now, as a store of its own.
    fn snapshot(&self) -> Result<Self> {
        let snapshot = match self.opened()? {
            Opened::Store(handle) => match &handle.index {
                AnyIndex::Store(_) => Opened::Snapshot(Asked::of(&handle)?),
                AnyIndex::Keys(index) => Opened::KeySnapshot(index.snapshot()),
            },
            snapshot => snapshot,
        };
        Ok(Self { opened: RwLock::new(Some(snapshot)), stop: Stop::default(), path: self.path.clone() })
    }

    fn opened(&self) -> Result<Opened> {
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner).clone();
        opened.ok_or_else(|| invalid("the store is closed").at_path(&self.path))
    }

    fn close(&self) -> Result<()> {
        // Closing may take long. Later calls are to fail at once, without a wait for it.
        let opened = self.opened.write().unwrap_or_else(PoisonError::into_inner).take();
        match opened {
            // Where another thread is at work, its call closes the store at its end.
            Some(Opened::Store(handle)) => {
                let closed = Arc::into_inner(handle).map(Handle::close);
                if closed.is_some() {
                    // Streams of it may still write temporary files.
                    self.stop.set(false);
                }
                closed.unwrap_or(Ok(()))
            }
            Some(Opened::Snapshot(_) | Opened::KeySnapshot(_)) | None => Ok(()),
        }
    }

    /// Asks for the end of long work, or lets it go on.
    pub(crate) fn ask_to_stop(&self, stop: bool) {
        self.stop.set(stop);
    }
}

impl Asked {
    fn of(handle: &Handle) -> Result<Self> {
        Ok(Self { snapshot: handle.snapshot()?, threads: handle.threads })
    }
}

impl Drop for fps_store {
    /// Streams go on, which no call can stop any more.
    fn drop(&mut self) {
        self.opened.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        self.stop.set(false);
    }
}

/// Works with an open store. An error of writing that is only the end of stopped work is said to be that.
///
/// # Safety
/// As [`given::required`].
pub(crate) unsafe fn with<T>(store: *const fps_store, work: impl FnOnce(&Arc<Handle>) -> Result<T>) -> Result<T> {
    // SAFETY: as this function demands.
    let store = unsafe { given::required(store, "the store")? };
    let handle = match store.opened()? {
        Opened::Store(handle) => handle,
        Opened::Snapshot(_) | Opened::KeySnapshot(_) => {
            let message = "this is a snapshot, which does not change and is no store of its own";
            return Err(Error::new(ErrorKind::ReadOnly, message).at_path(&store.path));
        }
    };
    work(&handle).map_err(|error| match store.stop.check() {
        Err(stopped) if error.kind() == ErrorKind::Io => {
            let stopped = stopped.at_path(&store.path);
            match error.row() {
                Some(row) => stopped.at_row(row),
                None => stopped,
            }
        }
        _ => error,
    })
}

fn is_of_keys() -> Error {
    Error::new(ErrorKind::Unsupported, "this is a key index, not a store of fingerprints")
}

/// The present state of a store of fingerprints, or a snapshot.
///
/// # Safety
/// As [`given::required`].
pub(crate) unsafe fn asked(store: *const fps_store) -> Result<Asked> {
    // SAFETY: as this function demands.
    match unsafe { given::required(store, "the store")? }.opened()? {
        Opened::Store(handle) => Asked::of(&handle),
        Opened::Snapshot(asked) => Ok(asked),
        Opened::KeySnapshot(_) => Err(is_of_keys()),
    }
}

/// The present state of a key index, or a snapshot.
///
/// # Safety
/// As [`given::required`].
pub(crate) unsafe fn asked_keys(store: *const fps_store) -> Result<KeySnapshot> {
    // SAFETY: as this function demands.
    match unsafe { given::required(store, "the store")? }.opened()? {
        Opened::Store(handle) => Ok(handle.keys()?.snapshot()),
        Opened::KeySnapshot(snapshot) => Ok(snapshot),
        Opened::Snapshot(_) => {
            Err(Error::new(ErrorKind::Unsupported, "this is a store of fingerprints, not a key index"))
        }
    }
}

/// Sizes and counts of a store, a key index or a snapshot.
///
/// # Safety
/// As [`given::required`].
pub(crate) unsafe fn statistics(store: *const fps_store) -> Result<Statistics> {
    // SAFETY: as this function demands.
    Ok(match unsafe { given::required(store, "the store")? }.opened()? {
        Opened::Store(handle) => handle.statistics(),
        Opened::Snapshot(asked) => asked.snapshot.statistics(),
        Opened::KeySnapshot(snapshot) => snapshot.statistics(),
    })
}

/// Asks a store of fingerprints, or a snapshot of one.
///
/// # Safety
/// As [`given::required`].
pub(crate) unsafe fn ask<T>(
    store: *const fps_store,
    of_store: impl FnOnce(&AnyStore) -> Result<T>,
    of_snapshot: impl FnOnce(&AnySnapshot) -> Result<T>,
) -> Result<T> {
    // SAFETY: as this function demands.
    match unsafe { given::required(store, "the store")? }.opened()? {
        Opened::Store(handle) => of_store(handle.store()?),
        Opened::Snapshot(asked) => of_snapshot(&asked.snapshot),
        Opened::KeySnapshot(_) => Err(is_of_keys()),
    }
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
            create((path, &parameters_of(parameters)?), opening, store)
        })
    }
}

/// Creates a store, which becomes `*store`.
///
/// # Safety
/// The rules of the header.
pub(crate) unsafe fn create(
    (path, parameters): (*const c_char, &Parameters),
    opening: Opening,
    store: *mut *mut fps_store,
) -> Result<()> {
    if opening.is_read_only {
        return Err(invalid("a store cannot be created with read_only"));
    }
    // SAFETY: the rules of the header.
    unsafe {
        let handle = Handle::create(given::path(path, "the path")?, parameters, opening.options, opening.threads)?;
        given::give(store, fps_store::new(handle));
    }
    Ok(())
}

/// Opens the store of fingerprints, or the key index, at a path. NULL for the options takes the defaults. Free the
/// store with fps_store_free.
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
///
/// # Safety
/// The rules of the header.
pub(crate) unsafe fn opening(store: *mut *mut fps_store, options: *const fps_options) -> Result<Opening> {
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

/// With 1, asks all long work of a store to end, until this is called with 0 or the store is closed. Fail with
/// FPS_STOPPED: loads, fps_insert_many, fps_remove_many, fps_remove_ids, fps_compact and fps_backup, which leave the
/// store as it was; fps_insert_if_new_many, after the rows before; fps_save_filters, after the segments before and when
/// the filters are made; and other writes that have to replace the manifest, such as the first one of a store. Streams
/// of pairs and clusters that write temporary files fail too. Background threads go on. May be called by any thread and
/// by a handler of signals.
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
    border_or(0, || unsafe { asked(store).map_or(0, |asked| asked.snapshot.parameters().width()) })
}

/// Makes a snapshot of a store or key index, which becomes `*snapshot`: the store as it is now. Queries, streams,
/// fps_stats and fps_store_width take it in place of the store; functions that write, fps_backup and fps_refresh fail
/// with FPS_READ_ONLY. It stays as it is while the store is written, compacted, closed or freed, and holds the files
/// that it needs. Free it with fps_store_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_snapshot(
    store: *const fps_store,
    snapshot: *mut *mut fps_store,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::check(snapshot, "the place for the snapshot")?;
            given::set(snapshot, std::ptr::null_mut());
            given::give(snapshot, given::required(store, "the store")?.snapshot()?);
            Ok(())
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use fpstore::Options;

    #[test]
    fn a_stop_ends_with_the_store() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let store = fps_store::new(Handle::create(&path, &Parameters::new(3), Options::new(), 1).unwrap());
        store.ask_to_stop(true);
        store.close().unwrap();
        assert!(store.stop.check().is_ok());
        let stop = store.stop.clone();
        store.ask_to_stop(true);
        drop(store);
        assert!(stop.check().is_ok());
    }
}
