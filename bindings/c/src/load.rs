//! Loads of many records, durable and all or nothing.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::env::Operation;
use fpstore::{Error, ErrorKind, Result};
use fpstore_bindings::input::invalid;
use fpstore_bindings::{Columns, Deed, Handle, Loaded};

use crate::border::{border, fps_error, fps_kind};
use crate::columns::{Given, fps_columns};
use crate::given;
use crate::store::{fps_store, with};
use crate::stream;
use crate::versioned::{Out, Versioned};

/// What a load does with the records.
pub type fps_deed = u32;

/// Adds them.
pub const FPS_ADD: fps_deed = 0;
/// Adds them, and removes other fingerprints of the same ids. Without an index of ids, all records are read.
pub const FPS_REPLACE: fps_deed = 1;
/// Removes them.
pub const FPS_REMOVE: fps_deed = 2;

/// Is told some twenty times a second, by the thread that called, how many records were read so far. Another value than
/// 0 asks for the end: the load then fails with FPS_STOPPED and leaves the store as it was. NULL is allowed.
pub type fps_progress = Option<unsafe extern "C" fn(context: *mut c_void, records: u64) -> c_int>;

/// The result of a load.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_loaded {
    /// sizeof(fps_loaded).
    pub struct_size: usize,
    /// Records that were given.
    pub records: u64,
    /// Records that were added; the others were there.
    pub added: u64,
    /// Records that were removed.
    pub removed: u64,
    /// Records without a fingerprint (null), which were left out.
    pub nulls: u64,
}

// SAFETY: plain numbers; the size comes first.
unsafe impl Versioned for fps_loaded {
    const NAME: &'static str = "fps_loaded";
    const LEAST: usize = size_of::<Self>();
}

impl fps_loaded {
    pub(crate) fn of(loaded: Loaded) -> Self {
        let Loaded { records, added, removed, nulls } = loaded;
        Self { struct_size: size_of::<Self>(), records, added, removed, nulls }
    }
}

pub(crate) fn deed_of(deed: fps_deed) -> Result<Deed> {
    match deed {
        FPS_ADD => Ok(Deed::Add),
        FPS_REPLACE => Ok(Deed::Replace),
        FPS_REMOVE => Ok(Deed::Remove),
        other => Err(invalid(format!("the deed is {other}; expected FPS_ADD, FPS_REPLACE or FPS_REMOVE"))),
    }
}

/// Loads records of arrays, durably and all or nothing. `loaded` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_load(
    store: *const fps_store,
    deed: fps_deed,
    records: *const fps_columns,
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
                let given = Given::new(records, handle.store()?.parameters().width())?;
                load(handle, deed, given.pieces(), (progress, context))
            })?;
            out.set(report);
            Ok(())
        })
    }
}

/// Loads the records of a stream of record batches, durably and all or nothing, and releases the stream, after an error
/// too. Fingerprints are uint64 (or int64 with the same bits) or fixed_size_binary with the most significant byte
/// first, ids any integers or strings. `fingerprint_column` NULL stands for "fingerprint", `id_column` NULL for "id",
/// if there is such a column. Another thread than that of the caller may read the stream. `loaded` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_load_stream(
    store: *const fps_store,
    deed: fps_deed,
    records: *mut FFI_ArrowArrayStream,
    fingerprint_column: *const c_char,
    id_column: *const c_char,
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
            let fingerprints = given::text_or_none(fingerprint_column, "fingerprint_column")?.unwrap_or("fingerprint");
            let ids = given::text_or_none(id_column, "id_column")?;
            let batches = stream::batches(records).map(move |batch| {
                let batch = batch?;
                Ok((stream::column(&batch, fingerprints)?, stream::optional(&batch, ids, "id")?))
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
    batches: impl Iterator<Item = Result<Columns>> + Send,
    (progress, context): (fps_progress, *mut c_void),
) -> Result<fps_loaded> {
    let deed = deed_of(deed)?;
    // SAFETY: as this function demands.
    unsafe { watched(handle, (progress, context), |seen| fpstore_bindings::load(handle, deed, batches, seen)) }
        .map(fps_loaded::of)
}

/// Runs work on another thread and tells the caller of it meanwhile, and at the end; where that asks for the end, stops
/// it. Without a function to tell, this thread does the work.
///
/// # Safety
/// The function of the caller may be called with its context.
pub(crate) unsafe fn watched<T: Send>(
    handle: &Handle,
    (progress, context): (fps_progress, *mut c_void),
    work: impl FnOnce(&mut dyn FnMut(u64) -> Result<()>) -> Result<T> + Send,
) -> Result<T> {
    let Some(progress) = progress else { return work(&mut |_| handle.stop.check()) };
    // SAFETY: as this function demands.
    let tell = |records| unsafe { progress(context, records) == 0 };
    const PAUSE: Duration = Duration::from_millis(50);
    let (seen, operation) = (AtomicU64::new(0), Operation::default());
    let mut note = |records| {
        seen.store(records, Relaxed);
        handle.stop.check()
    };
    let done = thread::scope(|scope| {
        let (ended, end) = sync_channel::<()>(0);
        let within = operation.clone();
        let work = move || {
            let _ended = ended;
            within.run(|| work(&mut note))
        };
        let thread = fpstore_bindings::spawn_scoped(scope, "fpstore load", work)?;
        while end.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            if !operation.is_stopped() && !tell(seen.load(Relaxed)) {
                operation.stop();
            }
        }
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    if !operation.is_stopped() && done.is_ok() {
        let _ = tell(seen.load(Relaxed));
    }
    done.map_err(|error| match error.kind() {
        // Writes of stopped work fail with `Io`.
        ErrorKind::Io | ErrorKind::Stopped if operation.is_stopped() => {
            Error::new(ErrorKind::Stopped, "stopped before the end").at_path(handle.path())
        }
        _ => error,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use fpstore::{Options, Parameters};

    unsafe extern "C" fn stops(_: *mut c_void, _: u64) -> c_int {
        1
    }

    /// Of work that was asked to end, only failed writes are the end.
    #[test]
    fn a_stop_does_not_hide_the_error_of_the_work() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let handle = Handle::create(&path, &Parameters::new(3), Options::new(), 1).unwrap();
        let failed = |kind| {
            let work = |_: &mut dyn FnMut(u64) -> Result<()>| {
                while !Operation::current().is_some_and(|operation| operation.is_stopped()) {
                    thread::sleep(Duration::from_millis(1));
                }
                Err::<(), _>(Error::new(kind, "an error"))
            };
            // SAFETY: the function ignores its context.
            unsafe { watched(&handle, (Some(stops), std::ptr::null_mut()), work) }.unwrap_err().kind()
        };
        assert_eq!(failed(ErrorKind::Io), ErrorKind::Stopped);
        for kind in [ErrorKind::Stopped, ErrorKind::InvalidInput, ErrorKind::Poisoned] {
            assert_eq!(failed(kind), kind);
        }
    }
}
