//! Ids and fingerprints of single records.
#![allow(unsafe_code, reason = "structures of a C ABI")]

use std::ffi::c_char;
use std::ptr;

use fpstore::{AnyFingerprint, Durability, Id, IdRef, Result};
use fpstore_bindings::input::invalid;

use crate::given;

/// What an fps_id holds.
pub type fps_id_kind = u32;

/// No id: the store numbers its records, or has counts.
pub const FPS_ID_NONE: fps_id_kind = 0;
/// A number.
pub const FPS_ID_NUMBER: fps_id_kind = 1;
/// A text.
pub const FPS_ID_TEXT: fps_id_kind = 2;
/// Where there are no ids: how many records the fingerprint has. In answers only.
pub const FPS_ID_COUNT: fps_id_kind = 3;

/// The id of a record. Its fields stay the same in all versions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_id {
    /// FPS_ID_NONE and others.
    pub kind: fps_id_kind,
    /// The number or the count.
    pub number: u64,
    /// The text in UTF-8: 1 to 4096 bytes without TAB, CR, LF and NUL. In answers no NUL follows it.
    pub text: *const c_char,
    /// Its bytes.
    pub length: usize,
}

impl fps_id {
    /// An id of an answer; the text lives as long as the answer.
    pub(crate) fn of(id: &Id) -> Self {
        let none = Self { kind: FPS_ID_NONE, number: 0, text: ptr::null(), length: 0 };
        match id {
            Id::Number(number) => Self { kind: FPS_ID_NUMBER, number: *number, ..none },
            Id::Count(number) => Self { kind: FPS_ID_COUNT, number: *number, ..none },
            Id::Text(text) => Self { kind: FPS_ID_TEXT, text: text.as_ptr().cast(), length: text.len(), ..none },
        }
    }
}

/// An id of an argument; null is none.
///
/// # Safety
/// As [`given::required`], for the id and its text.
pub(crate) unsafe fn id_of<'a>(id: *const fps_id) -> Result<IdRef<'a>> {
    if id.is_null() {
        return Ok(IdRef::None);
    }
    // SAFETY: as this function demands.
    unsafe {
        let id = given::required(id, "the id")?;
        match id.kind {
            FPS_ID_NONE => Ok(IdRef::None),
            FPS_ID_NUMBER => Ok(IdRef::Number(id.number)),
            FPS_ID_TEXT => {
                let bytes = given::array(id.text.cast::<u8>(), id.length, "the text of the id")?;
                std::str::from_utf8(bytes).map(IdRef::Text).map_err(|_| invalid("the id is not UTF-8"))
            }
            other => Err(invalid(format!("the id is of kind {other}; expected FPS_ID_NONE, _NUMBER or _TEXT"))),
        }
    }
}

/// A fingerprint of an argument: bytes, most significant first.
///
/// # Safety
/// As [`given::array`].
pub(crate) unsafe fn fingerprint_of(bytes: *const u8, length: usize) -> Result<AnyFingerprint> {
    // SAFETY: as this function demands.
    AnyFingerprint::from_be_bytes(unsafe { given::array(bytes, length, "the fingerprint")? })
}

/// What a write survives when the call returns.
pub type fps_durability = u32;

/// A power failure (fdatasync).
pub const FPS_SYNC: fps_durability = 0;
/// The end of the process, but perhaps not a power failure.
pub const FPS_BUFFERED: fps_durability = 1;
/// A power failure, with the metadata of the file (fsync), for file systems that need it.
pub const FPS_SYNC_ALL: fps_durability = 2;

pub(crate) fn durability_of(durability: fps_durability) -> Result<Durability> {
    match durability {
        FPS_SYNC => Ok(Durability::SyncData),
        FPS_BUFFERED => Ok(Durability::Buffered),
        FPS_SYNC_ALL => Ok(Durability::SyncAll),
        other => Err(invalid(format!("the durability is {other}; expected FPS_SYNC, FPS_BUFFERED or FPS_SYNC_ALL"))),
    }
}
