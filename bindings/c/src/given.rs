//! What callers give by pointers. Null and misaligned pointers are errors; for all else the rules of the header hold.
#![allow(unsafe_code, reason = "pointers of a C ABI")]

use std::ffi::{CStr, c_char};
use std::path::Path;

use fpstore::Result;
use fpstore_bindings::input::invalid;

/// What a pointer points to.
///
/// # Safety
/// If it is not null, it points to a `T` that no thread changes during `'a`.
pub(crate) unsafe fn required<'a, T>(pointer: *const T, what: &str) -> Result<&'a T> {
    check(pointer, what)?;
    // SAFETY: it is not null and aligned; the rest is demanded of the caller.
    unsafe { pointer.as_ref() }.ok_or_else(|| invalid(format!("{what} is NULL")))
}

/// Refuses a pointer to which nothing can be written.
pub(crate) fn check<T>(pointer: *const T, what: &str) -> Result<()> {
    if pointer.is_null() {
        return Err(invalid(format!("{what} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(invalid(format!("{what} is not aligned to {} bytes", align_of::<T>())));
    }
    Ok(())
}

/// The values of an array; a null pointer is one of none.
///
/// # Safety
/// If it is not null, it points to so many values that no thread changes during `'a`.
pub(crate) unsafe fn array<'a, T>(pointer: *const T, length: usize, what: &str) -> Result<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    check(pointer, what)?;
    if length.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(invalid(format!("{what} has {length} values, more than memory can hold")));
    }
    // SAFETY: it is aligned and not too long; the rest is demanded of the caller.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// A text that ends with NUL.
///
/// # Safety
/// If it is not null, it points to such a text, which no thread changes during `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str> {
    check(pointer, what)?;
    // SAFETY: as this function demands.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| invalid(format!("{what} is not UTF-8")))
}

/// As [`text`], where null says that there is none.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn text_or_none<'a>(pointer: *const c_char, what: &str) -> Result<Option<&'a str>> {
    // SAFETY: as this function demands.
    (!pointer.is_null()).then(|| unsafe { text(pointer, what) }).transpose()
}

/// A path: bytes where the system's paths are bytes, otherwise UTF-8.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn path<'a>(pointer: *const c_char, what: &str) -> Result<&'a Path> {
    #[cfg(unix)]
    {
        check(pointer, what)?;
        // SAFETY: as this function demands.
        let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
        Ok(Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)))
    }
    #[cfg(not(unix))]
    {
        // SAFETY: as this function demands.
        unsafe { text(pointer, what) }.map(Path::new)
    }
}

/// Sets a value, unless the pointer is null: the caller does not want it. No value that was there is dropped.
///
/// # Safety
/// If it is not null, a `T` may be written there.
pub(crate) unsafe fn set<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: as this function demands. C may have it at any address.
        unsafe { out.write_unaligned(value) };
    }
}

/// Gives an object to the caller, which frees it.
///
/// # Safety
/// As [`set`].
pub(crate) unsafe fn give<T>(out: *mut *mut T, value: T) {
    // SAFETY: as this function demands.
    unsafe { set(out, Box::into_raw(Box::new(value))) };
}

/// Frees an object of [`give`]; null is none.
///
/// # Safety
/// If it is not null, it comes from [`give`], and the caller does not use it again.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: as this function demands.
        drop(unsafe { Box::from_raw(object) });
    }
}
