//! Records of keys in arrays of the caller.
#![allow(unsafe_code, reason = "structures of a C ABI")]

use std::ffi::c_char;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{FixedSizeBinaryBuilder, LargeListBuilder, UInt64Builder};
use fpstore::{KeyFormat, Result};
use fpstore_bindings::KeyColumns;
use fpstore_bindings::input::invalid;

use crate::given;
use crate::ids::{Ids, cut};
use crate::versioned::{Versioned, read};

/// Records of keys in arrays. At most one of the arrays of ids is given; what is not given is NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_key_columns {
    /// sizeof(fps_key_columns).
    pub struct_size: usize,
    /// Number of records.
    pub rows: usize,
    /// The keys of all records, one record after the other.
    pub keys: *const u64,
    /// rows + 1 numbers that do not fall: the keys of record r are `keys[offsets[r]]` to
    /// `keys[offsets[r + 1] - 1]`.
    pub offsets: *const usize,
    /// Sketches, one after the other, each of as many bytes as sketches of the index have.
    pub sketches: *const u8,
    /// Ids that are numbers.
    pub numbers: *const u64,
    /// Ids that are texts in UTF-8.
    pub texts: *const *const c_char,
    /// The bytes of each text; NULL if the texts end with NUL.
    pub lengths: *const usize,
}

// SAFETY: plain numbers and pointers, which are used only after a check; the size comes first.
unsafe impl Versioned for fps_key_columns {
    const NAME: &'static str = "fps_key_columns";
    const LEAST: usize = size_of::<Self>();
}

/// Rows that are copied at a time.
const PIECE: usize = 1 << 14;

/// The arrays of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    rows: usize,
    keys: &'a [u64],
    offsets: &'a [usize],
    /// The bytes of all sketches, and those of one.
    sketches: Option<(&'a [u8], usize)>,
    ids: Ids<'a>,
}

impl<'a> Given<'a> {
    /// The arrays of records of an index of this format.
    ///
    /// # Safety
    /// If the pointer is not null, it points to arrays as described, which no thread changes during `'a`.
    pub(crate) unsafe fn new(columns: *const fps_key_columns, format: KeyFormat) -> Result<Self> {
        // SAFETY: as this function demands.
        unsafe {
            let given = read(columns)?;
            let rows = given.rows;
            let offsets = match rows {
                0 => &[],
                rows => given::array(given.offsets, rows.saturating_add(1), "offsets")?,
            };
            if let Some(row) = offsets.windows(2).position(|pair| matches!(pair, [from, to] if from > to)) {
                return Err(invalid("its offset is greater than the next one").at_row(row as u64));
            }
            let keys = given::array(given.keys, offsets.last().copied().unwrap_or(0), "keys")?;
            let bytes = format.sketch_bytes();
            let sketches = match (given.sketches.is_null(), bytes) {
                (true, _) => None,
                (false, 0) => return Err(invalid("the index has no sketches")),
                (false, bytes) => Some((given::array(given.sketches, rows.saturating_mul(bytes), "sketches")?, bytes)),
            };
            let ids = Ids::new((given.numbers, given.texts, given.lengths), rows, fps_key_columns::NAME)?;
            Ok(Self { rows, keys, offsets, sketches, ids })
        }
    }

    /// All records at once.
    pub(crate) fn whole(&self) -> Result<KeyColumns> {
        self.piece(0..self.rows)
    }

    /// All records, some at a time.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Result<KeyColumns>> {
        (0..self.rows).step_by(PIECE).map(move |first| self.piece(first..self.rows.min(first + PIECE)))
    }

    fn piece(&self, rows: Range<usize>) -> Result<KeyColumns> {
        let mut lists = LargeListBuilder::with_capacity(UInt64Builder::new(), rows.len());
        for row in rows.clone() {
            let at = |row: usize| self.offsets.get(row).copied().unwrap_or_default();
            lists.values().append_slice(cut(self.keys, at(row)..at(row + 1)));
            lists.append(true);
        }
        let sketches = match self.sketches {
            None => None,
            Some((all, bytes)) => {
                let length = i32::try_from(bytes).unwrap_or_default();
                let mut column = FixedSizeBinaryBuilder::with_capacity(rows.len(), length);
                for one in cut(all, rows.start * bytes..rows.end * bytes).chunks(bytes) {
                    column.append_value(one).map_err(|error| invalid(error.to_string()))?;
                }
                Some(Arc::new(column.finish()) as ArrayRef)
            }
        };
        Ok((Arc::new(lists.finish()), self.ids.piece(rows)?, sketches))
    }
}
