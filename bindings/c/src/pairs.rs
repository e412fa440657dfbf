//! Streams over all records: records, and pairs of near ones.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::c_char;
use std::path::Path;
use std::ptr;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::Result;
use fpstore_bindings::PairOptions;

use crate::border::{border, fps_error, fps_kind};
use crate::given;
use crate::store::{asked, fps_store};
use crate::stream::export;
use crate::versioned::{Versioned, read_or};

/// What work over all pairs may take. Zero or NULL in a field means the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_pair_options {
    /// sizeof(fps_pair_options).
    pub struct_size: usize,
    /// Bytes of memory; 1 GiB by default.
    pub memory: u64,
    /// Directory of temporary files.
    pub tmp_dir: *const c_char,
}

// SAFETY: a number and a pointer, which is used only after a check; the size comes first.
unsafe impl Versioned for fps_pair_options {
    const NAME: &'static str = "fps_pair_options";
    const LEAST: usize = size_of::<Self>();
}

/// The options of the library; null stands for the defaults.
///
/// # Safety
/// As [`read_or`]; texts as in [`given::text`].
pub(crate) unsafe fn pair_options_of(given: *const fps_pair_options) -> Result<PairOptions> {
    let default = fps_pair_options { struct_size: size_of::<fps_pair_options>(), memory: 0, tmp_dir: ptr::null() };
    // SAFETY: as this function demands.
    unsafe {
        let given = read_or(given, default)?;
        let tmp_dir = given.tmp_dir;
        Ok(PairOptions {
            memory: (given.memory != 0).then_some(given.memory),
            temp_dir: if tmp_dir.is_null() { None } else { Some(Path::to_owned(given::path(tmp_dir, "tmp_dir")?)) },
            ..PairOptions::default()
        })
    }
}

/// All pairs of records within distance `k`, each once: `id_a`, `id_b` (or `count_a`, `count_b`), `distance` (uint32),
/// `fp_a`, `fp_b`. The order is the same each time. NULL for the options takes the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_pairs(
    store: *const fps_store,
    k: u32,
    options: *const fps_pair_options,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let options = pair_options_of(options)?;
                fpstore_bindings::pairs(&asked(store)?.snapshot, k, &options)
            })
        })
    }
}

/// All pairs of a record of one store and one of another within distance `k`. As fps_pairs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_join(
    store: *const fps_store,
    other: *const fps_store,
    k: u32,
    options: *const fps_pair_options,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let options = pair_options_of(options)?;
                fpstore_bindings::join(&asked(store)?.snapshot, &asked(other)?.snapshot, k, &options)
            })
        })
    }
}

/// All records by fingerprint, then id: `fingerprint`, and `id` or `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_records(
    store: *const fps_store,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || export(out, || fpstore_bindings::records(&asked(store)?.snapshot))) }
}
