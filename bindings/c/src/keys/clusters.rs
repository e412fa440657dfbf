//! Clusters of records that share keys, and which record of each is kept.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::c_int;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::clusters::Linkage;

use super::pairs::{fps_key_rule, rule_of};
use crate::border::{border, fps_error, fps_kind};
use crate::clusters::{cluster_options_of, fps_cluster_options, kept};
use crate::store::{asked_keys, fps_store};
use crate::stream::export;

/// The cluster of every record of a key index. As fps_clusters, with the rule of fps_keys_pairs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_clusters(
    store: *const fps_store,
    rule: *const fps_key_rule,
    options: *const fps_cluster_options,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let (rule, snapshot) = (rule_of(rule)?, asked_keys(store)?);
                let options = cluster_options_of(options, Linkage::Single, snapshot.parameters().ids())?;
                fpstore_bindings::key_clusters(&snapshot, rule, &options)
            })
        })
    }
}

/// Which records of a key index are kept, or the evidence on the others: `id`, `keeper`, `cluster`, `shared_keys`
/// (uint64) and `jaccard` (float64, null without sketches). As fps_keep, with the rule of fps_keys_pairs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keys_keep(
    store: *const fps_store,
    rule: *const fps_key_rule,
    evidence: c_int,
    options: *const fps_cluster_options,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let (rule, snapshot) = (rule_of(rule)?, asked_keys(store)?);
                let options = cluster_options_of(options, Linkage::Star, snapshot.parameters().ids())?;
                fpstore_bindings::key_keep(&snapshot, rule, kept(evidence), &options)
            })
        })
    }
}
