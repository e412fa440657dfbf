//! Ids in arrays of the caller.
#![allow(unsafe_code, reason = "structures of a C ABI")]

use std::ffi::{CStr, c_char};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, UInt64Array};
use fpstore::Result;
use fpstore_bindings::input::invalid;

use crate::border::{border, fps_error, fps_kind};
use crate::given;
use crate::store::{fps_store, with};
use crate::versioned::{Versioned, read};

/// Ids in arrays: one of numbers or one of texts is given, the other is NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_ids {
    /// sizeof(fps_ids).
    pub struct_size: usize,
    /// Number of ids.
    pub count: usize,
    /// Ids that are numbers.
    pub numbers: *const u64,
    /// Ids that are texts in UTF-8.
    pub texts: *const *const c_char,
    /// The bytes of each text; NULL if the texts end with NUL.
    pub lengths: *const usize,
}

// SAFETY: plain numbers and pointers, which are used only after a check; the size comes first.
unsafe impl Versioned for fps_ids {
    const NAME: &'static str = "fps_ids";
    const LEAST: usize = size_of::<Self>();
}

/// The ids of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ids<'a> {
    None,
    Numbers(&'a [u64]),
    Texts(&'a [*const c_char], Option<&'a [usize]>),
}

// SAFETY: the texts are read only, and the caller leaves them as they are until the call returns.
unsafe impl Send for Ids<'_> {}

impl<'a> Ids<'a> {
    /// The ids of a structure called `name`; none if both arrays are null.
    ///
    /// # Safety
    /// Pointers that are not null point to so many values, which no thread changes during `'a`.
    pub(crate) unsafe fn new(
        (numbers, texts, lengths): (*const u64, *const *const c_char, *const usize),
        rows: usize,
        name: &str,
    ) -> Result<Self> {
        // SAFETY: as this function demands.
        unsafe {
            match (numbers.is_null(), texts.is_null()) {
                (true, true) => Ok(Self::None),
                (false, true) => Ok(Self::Numbers(given::array(numbers, rows, "numbers")?)),
                (true, false) => {
                    let lengths = (!lengths.is_null()).then(|| given::array(lengths, rows, "lengths")).transpose()?;
                    Ok(Self::Texts(given::array(texts, rows, "texts")?, lengths))
                }
                (false, false) => Err(invalid(format!("{name} has both numbers and texts"))),
            }
        }
    }

    /// The column of some rows. An error names the row within these.
    pub(crate) fn piece(&self, rows: Range<usize>) -> Result<Option<ArrayRef>> {
        Ok(match self {
            Self::None => None,
            Self::Numbers(numbers) => Some(Arc::new(UInt64Array::from(cut(numbers, rows).to_vec()))),
            Self::Texts(texts, lengths) => {
                // Texts of many rows may be more than 2 GiB.
                let mut column = LargeStringBuilder::new();
                for (place, text) in cut(texts, rows.clone()).iter().enumerate() {
                    let length = lengths.map(|lengths| lengths.get(rows.start + place).copied().unwrap_or_default());
                    // SAFETY: `new` demands it.
                    let text = unsafe { text_of(*text, length) };
                    column.append_value(text.map_err(|error| error.at_row(place as u64))?);
                }
                Some(Arc::new(column.finish()))
            }
        })
    }
}

/// Some rows of an array.
pub(crate) fn cut<T>(all: &[T], rows: Range<usize>) -> &[T] {
    all.get(rows).unwrap_or_default()
}

/// A text.
///
/// # Safety
/// It is null, or has so many bytes or ends with NUL.
unsafe fn text_of<'a>(text: *const c_char, length: Option<usize>) -> Result<&'a str> {
    if text.is_null() {
        return Err(invalid("the id is NULL"));
    }
    // SAFETY: as this function demands.
    let bytes = unsafe {
        match length {
            Some(length) => given::array(text.cast::<u8>(), length, "the text of an id")?,
            None => CStr::from_ptr(text).to_bytes(),
        }
    };
    std::str::from_utf8(bytes).map_err(|_| invalid("the id is not UTF-8"))
}

/// The column of a structure of ids.
///
/// # Safety
/// If the pointer is not null, it points to arrays as described, which no thread changes during the call.
pub(crate) unsafe fn column_of(ids: *const fps_ids) -> Result<ArrayRef> {
    // SAFETY: as this function demands.
    let (ids, count) = unsafe {
        let fps_ids { count, numbers, texts, lengths, .. } = read(ids)?;
        (Ids::new((numbers, texts, lengths), count, fps_ids::NAME)?, count)
    };
    ids.piece(0..count)?.ok_or_else(|| invalid("fps_ids has neither numbers nor texts"))
}

/// Removes all records of many ids, durably and all or nothing; sets `*removed`, unless that is NULL, to their number.
/// Of a store of fingerprints or a key index. Without an index of ids, all records are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_remove_ids(
    store: *const fps_store,
    ids: *const fps_ids,
    removed: *mut u64,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let count = with(store, |handle| {
                let column = column_of(ids)?;
                fpstore_bindings::remove_ids(handle, std::iter::once(Ok(column)))
            })?;
            given::set(removed, count);
            Ok(())
        })
    }
}
