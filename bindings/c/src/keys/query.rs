//! The records that share keys with one record, or with many.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::Result;
use fpstore::keys::{KeyMatch, KeyQuery};
use fpstore_bindings::input::invalid;

use super::columns::{Given, fps_key_columns};
use super::pairs::{fields_of, fps_key_rule};
use crate::border::{border, border_or, fps_error, fps_kind};
use crate::given;
use crate::id::fps_id;
use crate::store::{asked_keys, fps_store};
use crate::stream::export;
use crate::versioned::{Out, Versioned};

/// The matches of a query of a key index.
#[derive(Debug)]
pub struct fps_key_matches(Vec<KeyMatch>);

/// A record that shares keys with a query.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_key_match {
    /// sizeof(fps_key_match).
    pub struct_size: usize,
    /// Number of keys that both have.
    pub shared: u64,
    /// 1 if `jaccard` is known; 0 without sketches.
    pub is_estimated: u32,
    /// The Jaccard similarity that their sketches estimate, or 0.
    pub jaccard: f64,
    /// The id. Its text lives as long as the matches.
    pub id: fps_id,
}

// SAFETY: plain numbers and a pointer; the size comes first.
unsafe impl Versioned for fps_key_match {
    const NAME: &'static str = "fps_key_match";
    const LEAST: usize = size_of::<Self>();
}

/// How a query is answered.
unsafe fn query_of(rule: *const fps_key_rule, most: usize) -> Result<KeyQuery> {
    // SAFETY: the rules of the header.
    let rule = unsafe { fields_of(rule)? };
    if rule.max_key_frequency != 0 {
        return Err(invalid("max_key_frequency is for pairs and clusters; in a query it has to be 0"));
    }
    let query = KeyQuery::new().with_min_shared(rule.min_shared).with_min_jaccard(rule.min_jaccard);
    Ok(if most == 0 { query } else { query.with_nearest(most) })
}

/// The records of a key index that share keys with a record of `count` keys and, unless it is NULL, a sketch: those
/// that share most first, then by id; `most` of them, or all with 0. NULL for the rule takes the defaults. Free the
/// matches with fps_key_matches_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_query(
    store: *const fps_store,
    keys: *const u64,
    count: usize,
    sketch: *const u8,
    rule: *const fps_key_rule,
    most: usize,
    matches: *mut *mut fps_key_matches,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::check(matches, "the place for the matches")?;
            given::set(matches, std::ptr::null_mut());
            let (keys, how) = (given::array(keys, count, "keys")?, query_of(rule, most)?);
            let snapshot = asked_keys(store)?;
            let bytes = snapshot.parameters().keys().unwrap_or_default().sketch_bytes();
            if !sketch.is_null() && bytes == 0 {
                return Err(invalid("the index has no sketches"));
            }
            let sketch = if sketch.is_null() { &[] } else { given::array(sketch, bytes, "the sketch")? };
            given::give(matches, fps_key_matches(snapshot.searcher().query(keys, sketch, &how)?));
            Ok(())
        })
    }
}

/// The matches of each of many records, on all threads of the index: `query_row` (uint64), `id`, `shared` (uint64) and
/// `jaccard` (float64, null without sketches). Rows come in the order of the queries, which are copied, and each as
/// fps_keys_query orders them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_query_many(
    store: *const fps_store,
    queries: *const fps_key_columns,
    rule: *const fps_key_rule,
    most: usize,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let how = query_of(rule, most)?;
                let snapshot = asked_keys(store)?;
                let format = snapshot.parameters().keys().unwrap_or_default();
                let (keys, _, sketches) = Given::new(queries, format)?.whole()?;
                fpstore_bindings::key_queries(&snapshot, &keys, sketches.as_ref(), how)
            })
        })
    }
}

/// Number of matches; 0 of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_key_matches_count(matches: *const fps_key_matches) -> usize {
    // SAFETY: the rules of the header.
    border_or(0, || unsafe { matches.as_ref() }.map_or(0, |matches| matches.0.len()))
}

/// Sets `*found` to the match of this index, from 0. The caller has set its struct_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_key_matches_get(
    matches: *const fps_key_matches,
    index: usize,
    found: *mut fps_key_match,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            given::check(found, "fps_key_match")?;
            let (out, matches) = (Out::new(found)?, &given::required(matches, "the matches")?.0);
            let Some(found) = matches.get(index) else {
                return Err(invalid(format!("there are {} matches, so none has the index {index}", matches.len())));
            };
            out.set(fps_key_match {
                struct_size: size_of::<fps_key_match>(),
                shared: found.shared,
                is_estimated: u32::from(found.jaccard.is_some()),
                jaccard: found.jaccard.unwrap_or_default(),
                id: fps_id::of(&found.id),
            });
            Ok(())
        })
    }
}

/// Frees matches. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_key_matches_free(matches: *mut fps_key_matches) {
    // SAFETY: the rules of the header; `given::give` has made them.
    border_or((), || unsafe { given::free(matches) });
}
