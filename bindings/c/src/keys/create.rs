//! Creating a key index.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::c_char;
use std::ptr;

use fpstore::{KeyFormat, Parameters, Result};
use fpstore_bindings::input::invalid;

use crate::border::{border, fps_error, fps_kind};
use crate::given;
use crate::options::fps_options;
use crate::store::{create, fps_store, opening};
use crate::versioned::{Versioned, read_or};

/// What a new key index is, for good. Zero or NULL in a field means the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_key_parameters {
    /// sizeof(fps_key_parameters).
    pub struct_size: usize,
    /// Leading bits of a key that are stored: 1 to 64; 48 by default.
    pub key_bits: u32,
    /// Bits of the sketch of a record, at most 8192; 0 for none.
    pub sketch_bits: u32,
    /// Bits of a sample of a sketch: 1 (the default), 2, 4, 8 or 16.
    pub sample_bits: u32,
    /// Bytes of a block.
    pub block_size: u32,
    /// The kind of ids: "u64" (the default) or "text".
    pub ids: *const c_char,
    /// The name of what makes the keys.
    pub hasher: *const c_char,
}

// SAFETY: plain numbers and pointers, which are used only after a check; the size comes first.
unsafe impl Versioned for fps_key_parameters {
    const NAME: &'static str = "fps_key_parameters";
    const LEAST: usize = size_of::<Self>();
}

/// Creates an empty key index at a path where there is nothing, and opens it: as fps_create. fps_open opens it later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_create(
    path: *const c_char,
    parameters: *const fps_key_parameters,
    options: *const fps_options,
    store: *mut *mut fps_store,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            let opening = opening(store, options)?;
            create((path, &parameters_of(parameters)?), opening, store)
        })
    }
}

unsafe fn parameters_of(given: *const fps_key_parameters) -> Result<Parameters> {
    let default = fps_key_parameters {
        struct_size: size_of::<fps_key_parameters>(),
        key_bits: 0,
        sketch_bits: 0,
        sample_bits: 0,
        block_size: 0,
        ids: ptr::null(),
        hasher: ptr::null(),
    };
    // SAFETY: the rules of the header.
    let (given, ids, hasher) = unsafe {
        let given = read_or(given, default)?;
        (given, given::text_or_none(given.ids, "ids")?, given::text_or_none(given.hasher, "hasher")?)
    };
    let bits = |value: u32, what| u8::try_from(value).map_err(|_| invalid(format!("{what} is {value}")));
    let sketch = u16::try_from(given.sketch_bits).map_err(|_| invalid(format!("sketch_bits is {}", given.sketch_bits)));
    let mut format = KeyFormat::default().with_sketch(sketch?, bits(given.sample_bits.max(1), "sample_bits")?);
    if given.key_bits != 0 {
        format = format.with_key_bits(bits(given.key_bits, "key_bits")?);
    }
    let mut parameters = Parameters::of_keys(format).with_hasher(hasher);
    if given.block_size != 0 {
        parameters = parameters.with_block_size(given.block_size);
    }
    if let Some(ids) = ids {
        parameters = parameters.with_ids(ids.parse()?);
    }
    Ok(parameters)
}
