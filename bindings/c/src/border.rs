//! The border between C and Rust: errors become objects with accessors, panics become errors.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::any::Any;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;

use fpstore::{Error, ErrorKind, Result};

use crate::given;

/// The result of a function: FPS_OK, or the kind of its error.
pub type fps_kind = u32;

/// No error.
pub const FPS_OK: fps_kind = 0;
/// There is nothing at the path.
pub const FPS_NOT_FOUND: fps_kind = 1;
/// There is something where a store was to be created.
pub const FPS_ALREADY_EXISTS: fps_kind = 2;
/// Bytes on disk are not the written ones.
pub const FPS_DAMAGED: fps_kind = 3;
/// This version, or this store, does not support the request.
pub const FPS_UNSUPPORTED: fps_kind = 4;
/// An argument or a record is not acceptable.
pub const FPS_INVALID_INPUT: fps_kind = 5;
/// Another process has the store open for writing.
pub const FPS_LOCKED: fps_kind = 6;
/// The store was opened for reading only.
pub const FPS_READ_ONLY: fps_kind = 7;
/// An earlier write failed and left the state on disk unknown: open the store again.
pub const FPS_POISONED: fps_kind = 8;
/// The work was stopped.
pub const FPS_STOPPED: fps_kind = 9;
/// The operating system refused.
pub const FPS_IO: fps_kind = 10;
/// A mistake in fpstore: please report the message. Free the store; its files are as after a crash.
pub const FPS_PANIC: fps_kind = 11;

/// The version of this interface. It grows with every addition; programs of earlier versions go on working.
pub const FPS_ABI: u32 = 2;

/// An error. Free it with fps_error_free.
#[derive(Debug)]
pub struct fps_error {
    kind: fps_kind,
    message: CString,
    path: Option<CString>,
    offset: Option<u64>,
    row: Option<u64>,
}

impl fps_error {
    fn of(error: &Error) -> Self {
        Self {
            kind: kind(error.kind()),
            message: c_string(error.to_string()),
            path: error.path().map(path_string),
            offset: error.offset(),
            row: error.row(),
        }
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
        let message = c_string(format!("a mistake in fpstore, please report it: {text}"));
        Self { kind: FPS_PANIC, message, path: None, offset: None, row: None }
    }
}

fn kind(kind: ErrorKind) -> fps_kind {
    match kind {
        ErrorKind::NotFound => FPS_NOT_FOUND,
        ErrorKind::AlreadyExists => FPS_ALREADY_EXISTS,
        ErrorKind::Damaged => FPS_DAMAGED,
        ErrorKind::Unsupported => FPS_UNSUPPORTED,
        ErrorKind::InvalidInput => FPS_INVALID_INPUT,
        ErrorKind::Locked => FPS_LOCKED,
        ErrorKind::ReadOnly => FPS_READ_ONLY,
        ErrorKind::Poisoned => FPS_POISONED,
        ErrorKind::Stopped => FPS_STOPPED,
        _ => FPS_IO,
    }
}

/// A C string of bytes, without the NULs that would end it early.
pub(crate) fn c_string(bytes: impl Into<Vec<u8>>) -> CString {
    let mut bytes = bytes.into();
    bytes.retain(|byte| *byte != 0);
    CString::new(bytes).unwrap_or_default()
}

fn path_string(path: &Path) -> CString {
    #[cfg(unix)]
    return c_string(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()));
    #[cfg(not(unix))]
    return c_string(path.to_string_lossy().into_owned());
}

/// Runs the work of a function; its panic is an error.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> std::result::Result<T, fps_error> {
    // Whatever a panic leaves half done is a store, which poisons itself, or garbage.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| fps_error::of(&error)),
        Err(panic) => {
            let error = fps_error::of_panic(&*panic);
            // Its destructor might panic too.
            std::mem::forget(panic);
            Err(error)
        }
    }
}

/// The border around a function that may fail: sets `*error`, if there is a place for it, to the error or to null.
///
/// # Safety
/// `error` is null, or a pointer may be written there.
pub(crate) unsafe fn border(error: *mut *mut fps_error, work: impl FnOnce() -> Result<()>) -> fps_kind {
    let failed = caught(work).err();
    let kind = failed.as_ref().map_or(FPS_OK, |error| error.kind);
    let made = failed.filter(|_| !error.is_null()).map_or(ptr::null_mut(), |error| Box::into_raw(Box::new(error)));
    // SAFETY: as this function demands.
    unsafe { given::set(error, made) };
    kind
}

/// The border around a function that has a value in place of an error.
pub(crate) fn border_or<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    caught(|| Ok(work())).unwrap_or(otherwise)
}

/// The version of the interface that the library has, FPS_ABI or later.
#[unsafe(no_mangle)]
pub extern "C" fn fps_abi_version() -> u32 {
    FPS_ABI
}

/// The version of the library as text, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn fps_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The kind of an error; FPS_OK of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_error_kind(error: *const fps_error) -> fps_kind {
    // SAFETY: the rules of the header.
    border_or(FPS_PANIC, || unsafe { error.as_ref() }.map_or(FPS_OK, |error| error.kind))
}

/// What went wrong, where, and what to do about it: a sentence in UTF-8 that lives as long as the error. Empty for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_error_message(error: *const fps_error) -> *const c_char {
    // SAFETY: the rules of the header.
    border_or(c"".as_ptr(), || unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr()))
}

/// The file or directory concerned, which lives as long as the error; NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_error_path(error: *const fps_error) -> *const c_char {
    // SAFETY: the rules of the header.
    let path = || unsafe { error.as_ref() }.and_then(|error| error.path.as_ref()).map_or(ptr::null(), |p| p.as_ptr());
    border_or(ptr::null(), path)
}

/// Returns 1 and sets `*offset` if the error is about a byte of a file, otherwise 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_error_offset(error: *const fps_error, offset: *mut u64) -> c_int {
    // SAFETY: the rules of the header.
    border_or(0, || unsafe {
        let Some(at) = error.as_ref().and_then(|error| error.offset) else { return 0 };
        given::set(offset, at);
        1
    })
}

/// Returns 1 and sets `*row` if the error is about a row of what was given, from 0, otherwise 0. Of
/// fps_insert_if_new_many that is the row at which it ended, whatever the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_error_row(error: *const fps_error, row: *mut u64) -> c_int {
    // SAFETY: the rules of the header.
    border_or(0, || unsafe {
        let Some(at) = error.as_ref().and_then(|error| error.row) else { return 0 };
        given::set(row, at);
        1
    })
}

/// Frees an error. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_error_free(error: *mut fps_error) {
    // SAFETY: the rules of the header; `border` made it with `Box::into_raw`.
    border_or((), || unsafe { given::free(error) });
}

#[cfg(test)]
#[allow(clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        let mut error = ptr::null_mut();
        // SAFETY: there is a place for the error, and it is freed once.
        unsafe {
            assert_eq!(border(&raw mut error, || panic!("it is {}", 7)), FPS_PANIC);
            assert_eq!(fps_error_kind(error), FPS_PANIC);
            let message = CStr::from_ptr(fps_error_message(error)).to_string_lossy();
            assert_eq!(message, "a mistake in fpstore, please report it: it is 7");
            fps_error_free(error);
            assert_eq!(border(ptr::null_mut(), || panic!("literal")), FPS_PANIC);
            assert_eq!(border(&raw mut error, || Ok(())), FPS_OK);
        }
        assert!(error.is_null());
        assert_eq!(border_or(3, || panic!("no value")), 3);
    }
}
