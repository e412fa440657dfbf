//! Pairs of records that share keys.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::Result;
use fpstore::keys::KeyRule;

use crate::border::{border, fps_error, fps_kind};
use crate::pairs::{fps_pair_options, pair_options_of};
use crate::store::{asked_keys, fps_store};
use crate::stream::export;
use crate::versioned::{Versioned, read_or};

/// Which records are near. Zero in a field means the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_key_rule {
    /// sizeof(fps_key_rule).
    pub struct_size: usize,
    /// Keys that near records share at least; 1 by default.
    pub min_shared: u64,
    /// With sketches: the Jaccard similarity, 0 to 1, that the sketches of near records estimate at least.
    pub min_jaccard: f64,
    /// Keys of more records do not count; 0 for no limit. For pairs and clusters; in a query it has to be 0.
    pub max_key_frequency: u64,
}

// SAFETY: plain numbers; the size comes first.
unsafe impl Versioned for fps_key_rule {
    const NAME: &'static str = "fps_key_rule";
    const LEAST: usize = size_of::<Self>();
}

/// The fields of a rule; null stands for the defaults.
///
/// # Safety
/// As [`read_or`].
pub(crate) unsafe fn fields_of(given: *const fps_key_rule) -> Result<fps_key_rule> {
    let default =
        fps_key_rule { struct_size: size_of::<fps_key_rule>(), min_shared: 0, min_jaccard: 0.0, max_key_frequency: 0 };
    // SAFETY: as this function demands.
    let given = unsafe { read_or(given, default)? };
    Ok(fps_key_rule { min_shared: given.min_shared.max(1), ..given })
}

/// The rule of the library.
///
/// # Safety
/// As [`read_or`].
pub(crate) unsafe fn rule_of(given: *const fps_key_rule) -> Result<KeyRule> {
    // SAFETY: as this function demands.
    let given = unsafe { fields_of(given)? };
    let rule = KeyRule::new().with_min_shared(given.min_shared).with_min_jaccard(given.min_jaccard);
    Ok(if given.max_key_frequency == 0 { rule } else { rule.with_max_key_frequency(given.max_key_frequency) })
}

/// All pairs of near records of a key index, each once: `id_a`, `id_b`, `shared` (uint64) and `jaccard` (float64, null
/// without sketches). NULL for the rule and the options takes the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_pairs(
    store: *const fps_store,
    rule: *const fps_key_rule,
    options: *const fps_pair_options,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let (rule, options) = (rule_of(rule)?, pair_options_of(options)?);
                fpstore_bindings::key_pairs(&asked_keys(store)?, None, rule, &options)
            })
        })
    }
}

/// All near pairs of a record of one key index and one of another. As fps_keys_pairs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_join(
    store: *const fps_store,
    other: *const fps_store,
    rule: *const fps_key_rule,
    options: *const fps_pair_options,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let (rule, options) = (rule_of(rule)?, pair_options_of(options)?);
                fpstore_bindings::key_pairs(&asked_keys(store)?, Some(&asked_keys(other)?), rule, &options)
            })
        })
    }
}
