//! Many records in arrays of the caller.
#![allow(unsafe_code, reason = "structures of a C ABI")]

use std::ffi::c_char;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::{ArrayRef, UInt64Array};
use fpstore::Result;
use fpstore_bindings::Columns;
use fpstore_bindings::input::invalid;

use crate::given;
use crate::ids::{Ids, cut};
use crate::versioned::{Versioned, read};

/// Records in arrays. One of the two arrays of fingerprints is given, and at most one of ids; the others are NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_columns {
    /// sizeof(fps_columns).
    pub struct_size: usize,
    /// Number of records.
    pub rows: usize,
    /// Fingerprints of 64 bits.
    pub fingerprints64: *const u64,
    /// Fingerprints of the store's width, one after the other, each with its most significant byte first.
    pub fingerprints: *const u8,
    /// Ids that are numbers.
    pub numbers: *const u64,
    /// Ids that are texts in UTF-8.
    pub texts: *const *const c_char,
    /// The bytes of each text; NULL if the texts end with NUL.
    pub lengths: *const usize,
}

// SAFETY: plain numbers and pointers, which are used only after a check; the size comes first.
unsafe impl Versioned for fps_columns {
    const NAME: &'static str = "fps_columns";
    const LEAST: usize = size_of::<Self>();
}

/// Rows that are copied at a time.
const PIECE: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
enum Fingerprints<'a> {
    Words(&'a [u64]),
    Bytes(&'a [u8], usize),
}

/// The arrays of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    rows: usize,
    fingerprints: Fingerprints<'a>,
    ids: Ids<'a>,
}

impl<'a> Given<'a> {
    /// The arrays of records of a store whose fingerprints have so many bits.
    ///
    /// # Safety
    /// If the pointer is not null, it points to arrays as described, which no thread changes during `'a`.
    pub(crate) unsafe fn new(columns: *const fps_columns, width: u32) -> Result<Self> {
        // SAFETY: as this function demands.
        unsafe {
            let fps_columns { rows, fingerprints64, fingerprints, numbers, texts, lengths, .. } = read(columns)?;
            let bytes = width as usize / 8;
            let fingerprints = match (fingerprints64.is_null(), fingerprints.is_null()) {
                (false, false) => return Err(invalid("fps_columns has both fingerprints64 and fingerprints")),
                (false, true) if width != 64 => {
                    return Err(invalid(format!("fingerprints64 has 64 bits, fingerprints of the store have {width}")));
                }
                (false, true) => Fingerprints::Words(given::array(fingerprints64, rows, "fingerprints64")?),
                (true, _) => {
                    let all = rows.saturating_mul(bytes);
                    Fingerprints::Bytes(given::array(fingerprints, all, "fingerprints")?, bytes)
                }
            };
            let ids = Ids::new((numbers, texts, lengths), rows, fps_columns::NAME)?;
            Ok(Self { rows, fingerprints, ids })
        }
    }

    /// All records at once.
    pub(crate) fn whole(&self) -> Result<Columns> {
        self.piece(0..self.rows)
    }

    /// All records, some at a time.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Result<Columns>> {
        (0..self.rows).step_by(PIECE).map(move |first| self.piece(first..self.rows.min(first + PIECE)))
    }

    fn piece(&self, rows: Range<usize>) -> Result<Columns> {
        let fingerprints: ArrayRef = match self.fingerprints {
            Fingerprints::Words(words) => Arc::new(UInt64Array::from(cut(words, rows.clone()).to_vec())),
            Fingerprints::Bytes(all, bytes) => {
                let length = i32::try_from(bytes).unwrap_or_default();
                let mut column = FixedSizeBinaryBuilder::with_capacity(rows.len(), length);
                for one in cut(all, rows.start * bytes..rows.end * bytes).chunks(bytes.max(1)) {
                    column.append_value(one).map_err(|error| invalid(error.to_string()))?;
                }
                Arc::new(column.finish())
            }
        };
        Ok((fingerprints, self.ids.piece(rows)?))
    }
}
