//! Structures that begin with `struct_size`, so that later versions can add fields at their end.
//!
//! A shorter structure of an earlier version has zeros in the new fields, which mean the default. A longer one of a
//! later version is refused if it sets a field that this version does not know.
#![allow(unsafe_code, reason = "structures of a C ABI")]

use std::mem::MaybeUninit;

use fpstore::{Error, ErrorKind, Result};
use fpstore_bindings::input::invalid;

use crate::given;

/// Bytes that a later version may add: more is no size.
const MOST_ADDED: usize = 4096;

/// A structure of the header.
///
/// # Safety
/// It is `repr(C)`, begins with its size as a `usize`, and zeros and any other bits are values of its fields.
pub(crate) unsafe trait Versioned: Copy {
    /// Its name in the header.
    const NAME: &'static str;
    /// Its size in the first version of the interface.
    const LEAST: usize;
}

/// The size that the caller has set, with that of the fields known here.
///
/// # Safety
/// If the pointer is not null, a size can be read there.
unsafe fn sizes<T: Versioned>(pointer: *const T) -> Result<(usize, usize)> {
    given::check(pointer, T::NAME)?;
    // SAFETY: it begins with its size.
    let size = unsafe { pointer.cast::<usize>().read() };
    if size < T::LEAST || size - T::LEAST > MOST_ADDED {
        let (name, least) = (T::NAME, T::LEAST);
        return Err(invalid(format!("the struct_size of {name} is {size}, expected sizeof({name}), {least} or more")));
    }
    Ok((size, size.min(size_of::<T>())))
}

/// A structure that the caller gives.
///
/// # Safety
/// If the pointer is not null, it points to as many bytes as it says.
pub(crate) unsafe fn read<T: Versioned>(pointer: *const T) -> Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller has `size` bytes there, `value` has space for `known`; any bits are a value.
    unsafe {
        let (size, known) = sizes(pointer)?;
        let added = std::slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known);
        if added.iter().any(|byte| *byte != 0) {
            let message = format!("{} has a field that this version of the library does not know", T::NAME);
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        pointer.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr().cast(), known);
        Ok(value.assume_init())
    }
}

/// As [`read`], where null stands for the default.
///
/// # Safety
/// As [`read`].
pub(crate) unsafe fn read_or<T: Versioned>(pointer: *const T, default: T) -> Result<T> {
    // SAFETY: as this function demands.
    if pointer.is_null() { Ok(default) } else { unsafe { read(pointer) } }
}

/// A structure that is filled for the caller, which has set its size; none if the caller does not want it.
#[derive(Debug)]
pub(crate) struct Out<T> {
    place: *mut T,
    size: usize,
}

impl<T: Versioned> Out<T> {
    /// Looks at the size before the work begins.
    ///
    /// # Safety
    /// As [`read`], and the bytes may be written as long as this lives.
    pub(crate) unsafe fn new(place: *mut T) -> Result<Self> {
        // SAFETY: as this function demands.
        let size = if place.is_null() { 0 } else { unsafe { sizes(place)?.0 } };
        Ok(Self { place, size })
    }

    /// Sets the fields that the caller has; later ones, not known here, to zero. The size stays.
    pub(crate) fn set(self, value: T) {
        if self.size == 0 {
            return;
        }
        let place = self.place.cast::<u8>();
        // SAFETY: `new` has seen that there are so many bytes, aligned for the size at their beginning.
        unsafe {
            place.write_bytes(0, self.size);
            place.copy_from_nonoverlapping((&raw const value).cast(), self.size.min(size_of::<T>()));
            self.place.cast::<usize>().write(self.size);
        }
    }
}
