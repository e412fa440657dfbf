//! Clusters of near records, and which record of each is kept.
#![allow(unsafe_code, reason = "functions of a C ABI")]

use std::ffi::{c_char, c_int};
use std::ptr;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use fpstore::clusters::{Keeper, Linkage};
use fpstore::{IdKind, Result};
use fpstore_bindings::input::invalid;
use fpstore_bindings::{ClusterOptions, Kept, ranked};

use crate::border::{border, fps_error, fps_kind};
use crate::given;
use crate::ids::{column_of, fps_ids};
use crate::store::{asked, fps_store};
use crate::stream::export;
use crate::versioned::{Versioned, read_or};

/// The rule that makes clusters of near records.
pub type fps_linkage = u32;

/// FPS_LINKAGE_SINGLE for clusters, FPS_LINKAGE_STAR for what is kept.
pub const FPS_LINKAGE_DEFAULT: fps_linkage = 0;
/// Connected components: chains of near records link any two of a cluster.
pub const FPS_LINKAGE_SINGLE: fps_linkage = 1;
/// By priority: a record that is in no cluster begins one, of all near records that are in none.
pub const FPS_LINKAGE_STAR: fps_linkage = 2;
/// By priority: a record joins the first cluster all of whose members are near it, or begins one.
pub const FPS_LINKAGE_COMPLETE: fps_linkage = 3;

/// Which record of a cluster is kept, and comes first by priority.
pub type fps_keeper = u32;

/// That with the smallest id.
pub const FPS_KEEP_SMALLEST: fps_keeper = 0;
/// That with the largest id.
pub const FPS_KEEP_LARGEST: fps_keeper = 1;

/// How clusters are made. Zero or NULL in a field means the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_cluster_options {
    /// sizeof(fps_cluster_options).
    pub struct_size: usize,
    /// FPS_LINKAGE_DEFAULT and others.
    pub linkage: fps_linkage,
    /// FPS_KEEP_SMALLEST or FPS_KEEP_LARGEST.
    pub keeper: fps_keeper,
    /// Ids by priority, of the kind of the store's, the most important one first; other ids follow, the smallest
    /// first. Only with FPS_KEEP_SMALLEST, and not of a store without ids.
    pub first: *const fps_ids,
    /// Bytes of memory; 1 GiB by default.
    pub memory: u64,
    /// Directory of temporary files.
    pub tmp_dir: *const c_char,
}

// SAFETY: plain numbers and pointers, which are used only after a check; the size comes first.
unsafe impl Versioned for fps_cluster_options {
    const NAME: &'static str = "fps_cluster_options";
    const LEAST: usize = size_of::<Self>();
}

/// The options of the library for a store with ids of this kind; null stands for the defaults, with this linkage.
///
/// # Safety
/// As [`read_or`]; texts as in [`given::text`], ids as in [`column_of`].
pub(crate) unsafe fn cluster_options_of(
    given: *const fps_cluster_options,
    linkage: Linkage,
    kind: IdKind,
) -> Result<ClusterOptions> {
    let default = fps_cluster_options {
        struct_size: size_of::<fps_cluster_options>(),
        linkage: FPS_LINKAGE_DEFAULT,
        keeper: FPS_KEEP_SMALLEST,
        first: ptr::null(),
        memory: 0,
        tmp_dir: ptr::null(),
    };
    // SAFETY: as this function demands.
    let (given, temp_dir) = unsafe {
        let given = read_or(given, default)?;
        let tmp_dir = given.tmp_dir;
        (given, if tmp_dir.is_null() { None } else { Some(given::path(tmp_dir, "tmp_dir")?.to_owned()) })
    };
    let linkage = match given.linkage {
        FPS_LINKAGE_DEFAULT => linkage,
        FPS_LINKAGE_SINGLE => Linkage::Single,
        FPS_LINKAGE_STAR => Linkage::Star,
        FPS_LINKAGE_COMPLETE => Linkage::Complete,
        other => return Err(invalid(format!("the linkage is {other}; expected FPS_LINKAGE_SINGLE or others"))),
    };
    let keeper = match (given.keeper, given.first.is_null()) {
        (FPS_KEEP_SMALLEST, true) => Keeper::Smallest,
        // SAFETY: as this function demands.
        (FPS_KEEP_SMALLEST, false) => ranked(&unsafe { column_of(given.first) }?, kind)?,
        (FPS_KEEP_LARGEST, true) => Keeper::Largest,
        (FPS_KEEP_LARGEST, false) => return Err(invalid("first is for FPS_KEEP_SMALLEST alone")),
        (other, _) => return Err(invalid(format!("the keeper is {other}; expected FPS_KEEP_SMALLEST or _LARGEST"))),
    };
    let memory = (given.memory != 0).then_some(given.memory);
    Ok(ClusterOptions { linkage, keeper, memory, temp_dir, ..ClusterOptions::default() })
}

/// The cluster of every record within distance `k`: `id` and `cluster`, the smallest id of the cluster; without ids,
/// `fingerprint` and `cluster`. NULL for the options takes the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_clusters(
    store: *const fps_store,
    k: u32,
    options: *const fps_cluster_options,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let snapshot = asked(store)?.snapshot;
                let options = cluster_options_of(options, Linkage::Single, snapshot.parameters().ids())?;
                fpstore_bindings::clusters(&snapshot, k, &options)
            })
        })
    }
}

/// Which records are kept at distance `k`, one of each cluster: `id`; without ids, `fingerprint`. With `evidence` other
/// than 0 a row for each of the others in their place: `id`, `keeper`, `cluster` and `distance` (uint32); without ids,
/// `fingerprint` in place of `id`, and `count`. NULL for the options takes the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fps_keep(
    store: *const fps_store,
    k: u32,
    evidence: c_int,
    options: *const fps_cluster_options,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut fps_error,
) -> fps_kind {
    // SAFETY: the rules of the header.
    unsafe {
        border(error, || {
            export(out, || {
                let snapshot = asked(store)?.snapshot;
                let options = cluster_options_of(options, Linkage::Star, snapshot.parameters().ids())?;
                fpstore_bindings::keep(&snapshot, k, kept(evidence), &options)
            })
        })
    }
}

/// What is told of the records.
pub(crate) fn kept(evidence: c_int) -> Kept {
    if evidence == 0 { Kept::Kept } else { Kept::Evidence }
}
