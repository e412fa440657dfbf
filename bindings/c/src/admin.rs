//! The state of a store as a whole: what it holds, whether it is sound, copies of it.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::{c_char, c_int};

use fpstore::admin::BackupMode;
use fpstore::{Options, Result};
use fpstore_bindings::input::invalid;

use crate::border::{border, border_or, c_string, fps_error, fps_kind};
use crate::given;
use crate::id::{durability_of, fps_durability};
use crate::store::{fps_store, statistics, with, with_store};

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
            let statistics = statistics(store)?;
            give_text(json, fpstore_bindings::statistics_json(&statistics)?);
            Ok(())
        })
    }
}

unsafe fn give_text(json: *mut *mut c_char, text: String) {
    // SAFETY: the rules of the header.
    unsafe { given::set(json, c_string(text).into_raw()) };
}

/// Verifies every byte of the store at a path, or of a segment or log of one, even if it is too damaged to open. The
/// store may be open. Damage is not an error: the text is a JSON object with the fields of `fpdump verify --json`, `sound`
/// and `damages` among them. Free it with fps_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_verify(
    path: *const c_char,
    json: *mut *mut c_char,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::check(json, "the place for the text")?;
            given::set(json, std::ptr::null_mut());
            give_text(json, fpstore_bindings::verified_json(given::path(path, "the path")?, &Options::new())?);
            Ok(())
        })
    }
}

/// How a backup copies files, which never change.
pub type fps_backup_mode = u32;

/// Files of their own.
pub const FPS_BACKUP_COPY: fps_backup_mode = 0;
/// Hard links, where the file system has them: fast and without taking space. Damage to such a file affects both
/// stores.
pub const FPS_BACKUP_LINK: fps_backup_mode = 1;

/// Copies the present state of a store to a new directory and verifies the copy, while other threads read and write.
/// Sets `*records`, unless that is NULL, to the number of records in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_backup(
    store: *const fps_store,
    path: *const c_char,
    mode: fps_backup_mode,
    records: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let (path, mode) = (given::path(path, "the path")?, backup_mode_of(mode)?);
            let report = with(store, |handle| handle.backup(path, mode))?;
            given::set(records, report.records);
            Ok(())
        })
    }
}

fn backup_mode_of(mode: fps_backup_mode) -> Result<BackupMode> {
    match mode {
        FPS_BACKUP_COPY => Ok(BackupMode::Copy),
        FPS_BACKUP_LINK => Ok(BackupMode::Link),
        other => Err(invalid(format!("the mode is {other}; expected FPS_BACKUP_COPY or FPS_BACKUP_LINK"))),
    }
}

/// Frees a text of fps_stats or fps_verify. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_text_free(text: *mut c_char) {
    border_or((), || {
        if !text.is_null() {
            // SAFETY: the rules of the header; `give_text` has made it.
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
    unsafe { border(error, || with(store, |handle| handle.compact().map(drop))) }
}

/// Saves prefix filters in files beside the segments, so that programs read them instead of making them; sets
/// `*written`, unless it is NULL, to the bytes written. They take 1 to 4 bytes a fingerprint and table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_save_filters(
    store: *const fps_store,
    written: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let bytes = with_store(store, |store| store.save_filters())?;
            given::set(written, bytes);
            Ok(())
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
            let moved = with(store, |handle| handle.refresh())?;
            given::set(changed, c_int::from(moved));
            Ok(())
        })
    }
}
