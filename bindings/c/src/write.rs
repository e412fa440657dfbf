//! Single writes, durable as the caller asks when they return.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::c_int;

use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::{AnyFingerprint, IdRef, InsertOutcome, Result};

use crate::border::{border, fps_error, fps_kind};
use crate::columns::{Given, fps_columns};
use crate::given;
use crate::id::{durability_of, fingerprint_of, fps_durability, fps_id, id_of};
use crate::query::fps_matches;
use crate::store::{fps_store, with, with_store};
use crate::stream::export;
use crate::versioned::{Out, Versioned};

/// Adds a record. Without an id (NULL) the store numbers it, and sets `*number` unless that is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_insert(
    store: *const fps_store,
    fingerprint: *const u8,
    length: usize,
    id: *const fps_id,
    durability: fps_durability,
    number: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || insert(store, fingerprint_of(fingerprint, length)?, id, durability, number)) }
}

/// As fps_insert, for 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_insert64(
    store: *const fps_store,
    fingerprint: u64,
    id: *const fps_id,
    durability: fps_durability,
    number: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || insert(store, fingerprint.into(), id, durability, number)) }
}

unsafe fn insert(
    store: *const fps_store,
    fingerprint: AnyFingerprint,
    id: *const fps_id,
    durability: fps_durability,
    number: *mut u64,
) -> Result<()> {
    // SAFETY: the rules of the header.
    unsafe {
        let (id, durability) = (id_of(id)?, durability_of(durability)?);
        with_store(store, |store| {
            if number.is_null() || !matches!(id, IdRef::None) {
                return store.insert(fingerprint, id, durability);
            }
            given::set(number, store.insert_numbered(fingerprint, durability)?);
            Ok(())
        })
    }
}

/// Adds records, all or nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_insert_many(
    store: *const fps_store,
    records: *const fps_columns,
    durability: fps_durability,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let durability = durability_of(durability)?;
            with(store, |handle| {
                let (column, ids) = Given::new(records, handle.store()?.parameters().width())?.whole()?;
                fpstore_bindings::insert(handle, &column, ids.as_ref(), durability, &handle.stop).map(drop)
            })
        })
    }
}

/// What fps_insert_if_new has done.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_outcome {
    /// sizeof(fps_outcome).
    pub struct_size: usize,
    /// 1 if the record was added, because there was none near it with another id; otherwise 0.
    pub inserted: u32,
    /// 1 if the store has numbered the added record; otherwise 0.
    pub is_numbered: u32,
    /// This number.
    pub number: u64,
}

// SAFETY: plain numbers; the size comes first.
unsafe impl Versioned for fps_outcome {
    const NAME: &'static str = "fps_outcome";
    const LEAST: usize = size_of::<Self>();
}

/// Adds a record unless there is one with another id within distance `k`, in one step: of many threads that add near
/// records at the same time, one does. `near`, unless it is NULL, becomes records that were near: those with the same
/// id, then one of the nearest with another id. Free it with fps_matches_free. `outcome` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_insert_if_new(
    store: *const fps_store,
    fingerprint: *const u8,
    length: usize,
    id: *const fps_id,
    k: u32,
    durability: fps_durability,
    outcome: *mut fps_outcome,
    near: *mut *mut fps_matches,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::set(near, std::ptr::null_mut());
            insert_if_new(store, fingerprint_of(fingerprint, length)?, id, (k, durability), outcome, near)
        })
    }
}

/// As fps_insert_if_new, for 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_insert_if_new64(
    store: *const fps_store,
    fingerprint: u64,
    id: *const fps_id,
    k: u32,
    durability: fps_durability,
    outcome: *mut fps_outcome,
    near: *mut *mut fps_matches,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::set(near, std::ptr::null_mut());
            insert_if_new(store, fingerprint.into(), id, (k, durability), outcome, near)
        })
    }
}

unsafe fn insert_if_new(
    store: *const fps_store,
    fingerprint: AnyFingerprint,
    id: *const fps_id,
    (k, durability): (u32, fps_durability),
    outcome: *mut fps_outcome,
    near: *mut *mut fps_matches,
) -> Result<()> {
    // SAFETY: the rules of the header.
    unsafe {
        let (id, durability, out) = (id_of(id)?, durability_of(durability)?, Out::new(outcome)?);
        let done = with_store(store, |store| store.insert_if_new(fingerprint, id, k, durability))?;
        let InsertOutcome { inserted, number, duplicates, mut own, .. } = done;
        out.set(fps_outcome {
            struct_size: size_of::<fps_outcome>(),
            inserted: u32::from(inserted),
            is_numbered: u32::from(number.is_some()),
            number: number.unwrap_or_default(),
        });
        if !near.is_null() {
            own.extend(duplicates);
            given::give(near, fps_matches::new(own));
        }
        Ok(())
    }
}

/// Adds each of some records that has no record with another id within distance `k`, one after the other, with one sync
/// at the end. The stream has a row for each: `inserted` (bool), `number` (uint64, if the store has numbered it), and
/// where it was not added, `id` (or `count`; of texts large_utf8) and `distance` (uint32) of the reason: the same
/// record, or one of the nearest with another id. After an error the records before its row were added
/// (fps_error_row), with this durability.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_insert_if_new_many(
    store: *const fps_store,
    records: *const fps_columns,
    k: u32,
    durability: fps_durability,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let durability = durability_of(durability)?;
                let batch = with(store, |handle| {
                    let (column, ids) = Given::new(records, handle.store()?.parameters().width())?.whole()?;
                    fpstore_bindings::insert_if_new(handle, &column, ids.as_ref(), k, durability, &handle.stop)
                })?;
                let schema = batch.schema();
                Ok(RecordBatchIterator::new([Ok(batch)], schema))
            })
        })
    }
}

/// Removes a record; sets `*removed`, unless that is NULL, to 1 if it was there, otherwise to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_remove(
    store: *const fps_store,
    fingerprint: *const u8,
    length: usize,
    id: *const fps_id,
    durability: fps_durability,
    removed: *mut c_int,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || remove(store, fingerprint_of(fingerprint, length)?, id, durability, removed)) }
}

/// As fps_remove, for 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_remove64(
    store: *const fps_store,
    fingerprint: u64,
    id: *const fps_id,
    durability: fps_durability,
    removed: *mut c_int,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || remove(store, fingerprint.into(), id, durability, removed)) }
}

unsafe fn remove(
    store: *const fps_store,
    fingerprint: AnyFingerprint,
    id: *const fps_id,
    durability: fps_durability,
    removed: *mut c_int,
) -> Result<()> {
    // SAFETY: the rules of the header.
    unsafe {
        let (id, durability) = (id_of(id)?, durability_of(durability)?);
        let was_there = with_store(store, |store| store.remove(fingerprint, id, durability))?;
        given::set(removed, c_int::from(was_there));
        Ok(())
    }
}

/// Removes records, all or nothing; sets `*removed`, unless that is NULL, to the number of those that were there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_remove_many(
    store: *const fps_store,
    records: *const fps_columns,
    durability: fps_durability,
    removed: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let durability = durability_of(durability)?;
            let count = with(store, |handle| {
                let (column, ids) = Given::new(records, handle.store()?.parameters().width())?.whole()?;
                fpstore_bindings::remove(handle, &column, ids.as_ref(), durability, &handle.stop)
            })?;
            given::set(removed, count);
            Ok(())
        })
    }
}

/// Removes all records of an id; sets `*removed`, unless that is NULL, to their number. The store needs an index of
/// ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_remove_id(
    store: *const fps_store,
    id: *const fps_id,
    durability: fps_durability,
    removed: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let (id, durability) = (id_of(id)?, durability_of(durability)?);
            given::set(removed, with_store(store, |store| store.remove_id(id, durability))?);
            Ok(())
        })
    }
}

/// Gives an id this fingerprint alone, in one step; sets `*removed`, unless that is NULL, to the number of its records
/// that were removed. The store needs an index of ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_replace(
    store: *const fps_store,
    fingerprint: *const u8,
    length: usize,
    id: *const fps_id,
    durability: fps_durability,
    removed: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || replace(store, fingerprint_of(fingerprint, length)?, id, durability, removed)) }
}

/// As fps_replace, for 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_replace64(
    store: *const fps_store,
    fingerprint: u64,
    id: *const fps_id,
    durability: fps_durability,
    removed: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe { border(error, || replace(store, fingerprint.into(), id, durability, removed)) }
}

unsafe fn replace(
    store: *const fps_store,
    fingerprint: AnyFingerprint,
    id: *const fps_id,
    durability: fps_durability,
    removed: *mut u64,
) -> Result<()> {
    // SAFETY: the rules of the header.
    unsafe {
        let (id, durability) = (id_of(id)?, durability_of(durability)?);
        given::set(removed, with_store(store, |store| store.replace(fingerprint, id, durability))?);
        Ok(())
    }
}
