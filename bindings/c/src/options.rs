//! Parameters of new stores, and options of open ones.
#![allow(unsafe_code, reason = "structures of a C ABI")]

use std::ffi::c_char;
use std::ptr;

use fpstore::{Filters, Options, Parameters, ReadMode, Result};
use fpstore_bindings::input::invalid;

use crate::given;
use crate::versioned::{Versioned, read_or};

/// What a new store is, for good. Zero or NULL in a field means the default, except in max_distance.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_parameters {
    /// sizeof(fps_parameters).
    pub struct_size: usize,
    /// Bits of a fingerprint: 64 (the default), 128 or 256.
    pub width: u32,
    /// The distance in bits for which the tables are made. Larger ones are answered too, only slower. 3 is usual.
    pub max_distance: u32,
    /// The kind of ids: "u64" (the default: the store numbers records that come without ids), "text", or "none".
    pub ids: *const c_char,
    /// "auto" (the default), "auto:space", "auto:latency", "auto:disk", or the name of a design such as "tables-4".
    pub plan: *const c_char,
    /// "adaptive" (the default) or "xor".
    pub codec: *const c_char,
    /// Bytes of a block.
    pub block_size: u32,
    /// 1 for an index of the ids, for work by id; otherwise 0.
    pub id_index: u32,
    /// The name of what makes the fingerprints; those of others are refused then.
    pub hasher: *const c_char,
}

/// How a store is opened. Zero or NULL in a field means the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fps_options {
    /// sizeof(fps_options).
    pub struct_size: usize,
    /// 1 to change nothing and let another process write; otherwise 0. fps_create wants 0.
    pub read_only: u32,
    /// FPS_READ_MMAP or FPS_READ_PREAD.
    pub read_mode: u32,
    /// When filters are made: FPS_FILTERS_BACKGROUND, FPS_FILTERS_AT_OPEN or FPS_FILTERS_OFF.
    pub filters: u32,
    /// Threads of loads, compactions, pairs and batches, at most 1024; by default one a processor.
    pub threads: u32,
    /// Most bytes of filters; by default half of the memory that is available.
    pub filter_memory: u64,
    /// Bytes of memory of a load, beyond which it sorts on disk; by default half of the memory that is available.
    pub memory: u64,
    /// Directory of the temporary files of loads; by default that of the store or the one above.
    pub tmp_dir: *const c_char,
}

/// Files are mapped, the fastest way.
pub const FPS_READ_MMAP: u32 = 0;
/// Pages are read when they are needed, and checked; 64 MiB of them stay in memory.
pub const FPS_READ_PREAD: u32 = 1;

/// Filters are made or read after the first 256 queries, while more run: a program with few queries has none.
pub const FPS_FILTERS_BACKGROUND: u32 = 0;
/// Filters are made before opening returns.
pub const FPS_FILTERS_AT_OPEN: u32 = 1;
/// There are no filters.
pub const FPS_FILTERS_OFF: u32 = 2;

// SAFETY: plain numbers and pointers, which are used only after a check; the size comes first.
unsafe impl Versioned for fps_parameters {
    const NAME: &'static str = "fps_parameters";
    const LEAST: usize = size_of::<Self>();
}

// SAFETY: as above.
unsafe impl Versioned for fps_options {
    const NAME: &'static str = "fps_options";
    const LEAST: usize = size_of::<Self>();
}

/// The parameters of the library; null stands for a store of 64 bits and distance 3.
///
/// # Safety
/// As [`read_or`]; texts as in [`given::text`].
pub(crate) unsafe fn parameters_of(given: *const fps_parameters) -> Result<Parameters> {
    let default = fps_parameters {
        struct_size: size_of::<fps_parameters>(),
        width: 0,
        max_distance: 3,
        ids: ptr::null(),
        plan: ptr::null(),
        codec: ptr::null(),
        block_size: 0,
        id_index: 0,
        hasher: ptr::null(),
    };
    // SAFETY: as this function demands.
    let (given, [ids, plan, codec, hasher]) = unsafe {
        let given = read_or(given, default)?;
        let texts = [(given.ids, "ids"), (given.plan, "plan"), (given.codec, "codec"), (given.hasher, "hasher")];
        let [ids, plan, codec, hasher] = texts.map(|(text, what)| given::text_or_none(text, what));
        (given, [ids?, plan?, codec?, hasher?])
    };
    let width = if given.width == 0 { 64 } else { given.width };
    let block_size = if given.block_size == 0 { Parameters::BLOCK_SIZE } else { given.block_size };
    let design = fpstore_bindings::design(plan.unwrap_or("auto"), width, given.max_distance, block_size)?;
    let mut parameters = Parameters::new(given.max_distance)
        .with_width(width)
        .with_design(design)
        .with_block_size(block_size)
        .with_id_index(flag(given.id_index, "id_index")?)
        .with_hasher(hasher);
    if let Some(ids) = ids {
        parameters = parameters.with_ids(ids.parse()?);
    }
    if let Some(codec) = codec {
        parameters = parameters.with_codec(codec.parse()?);
    }
    Ok(parameters)
}

/// How a store is opened.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) options: Options,
    pub(crate) threads: usize,
    pub(crate) is_read_only: bool,
}

/// The options of the library; null stands for the defaults.
///
/// # Safety
/// As [`parameters_of`].
pub(crate) unsafe fn options_of(given: *const fps_options) -> Result<Opening> {
    let default = fps_options {
        struct_size: size_of::<fps_options>(),
        read_only: 0,
        read_mode: FPS_READ_MMAP,
        filters: FPS_FILTERS_BACKGROUND,
        threads: 0,
        filter_memory: 0,
        memory: 0,
        tmp_dir: ptr::null(),
    };
    // SAFETY: as this function demands.
    let (given, tmp_dir) = unsafe {
        let given = read_or(given, default)?;
        let tmp_dir = given.tmp_dir;
        (given, if tmp_dir.is_null() { None } else { Some(given::path(tmp_dir, "tmp_dir")?) })
    };
    let read_mode = match given.read_mode {
        FPS_READ_MMAP => ReadMode::Mmap,
        FPS_READ_PREAD => ReadMode::Pread,
        other => return Err(invalid(format!("read_mode is {other}; expected FPS_READ_MMAP or FPS_READ_PREAD"))),
    };
    let filters = match given.filters {
        FPS_FILTERS_BACKGROUND => Filters::Background,
        FPS_FILTERS_AT_OPEN => Filters::AtOpen,
        FPS_FILTERS_OFF => Filters::Off,
        other => return Err(invalid(format!("filters is {other}; expected FPS_FILTERS_BACKGROUND or others"))),
    };
    let mut options = Options::new().with_read_mode(read_mode).with_filters(filters).with_temp_dir(tmp_dir);
    let threads = fpstore_bindings::threads((given.threads != 0).then_some(given.threads as usize))?;
    if given.threads != 0 {
        options = options.with_threads(threads);
    }
    if given.filter_memory != 0 {
        options = options.with_filter_memory(given.filter_memory);
    }
    if given.memory != 0 {
        options = options.with_load_memory(given.memory);
    }
    Ok(Opening { options, threads, is_read_only: flag(given.read_only, "read_only")? })
}

fn flag(value: u32, what: &str) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(invalid(format!("{what} is {other}; expected 0 or 1"))),
    }
}
