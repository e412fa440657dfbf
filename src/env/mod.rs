//! The file system behind one small trait, so that tests can inject faults.
//!
//! Everything that the library reads or writes goes through an [`Env`] (`traits.rs`). [`FileSystem`] is the real one
//! (`filesystem.rs`, with logs in `log.rs`, temporary files in `scratch.rs`, reads in `mmap.rs` and `positioned.rs`),
//! [`Stoppable`] is the real one while the program lets it write (`stoppable.rs`), [`Memory`] keeps files in memory and
//! simulates crashes (`memory/`), and `Failing` (feature `unstable`) fails operations of another environment. Two
//! wrappers are internal: `Held` refuses writes to a directory that was replaced, `Patient` reads around bad sectors.
//! `mmap.rs` also has large arrays in huge pages, and `available.rs` the free memory of a process on Linux.
//!
//! A durable file is written under a temporary name, synced, renamed, and its directory synced (`TempFile` in
//! `temp_file.rs`): after a crash it is there whole or not at all. A [`LogFile`] is synced repeatedly while it grows:
//! after a crash everything up to the last sync is there, and any part of the rest may be. format-spec/store.md
//! specifies the names. Environments and files may be used by any number of threads; none starts a thread.
//!
//! # Reading by memory map
//! [`ReadMode::Mmap`] is the fastest way to read, with one hazard: if another process cuts a mapped file short,
//! touching the missing part kills this process (SIGBUS on Unix), and if it overwrites the file, checked pages change
//! unnoticed. The library never changes a written segment file, so this takes external modification.
//! [`ReadMode::Pread`] reads and checks a page whenever it is not among those kept in memory (`page_cache.rs`,
//! `page_sets.rs`); a file that was cut or changed then gives an error.

#[cfg(target_os = "linux")]
mod available;
mod bad_sectors;
mod displaced;
#[cfg(any(test, feature = "unstable"))]
mod failing;
mod filesystem;
mod log;
mod memory;
#[cfg_attr(fpstore_loom, allow(dead_code, reason = "loom has an array of its own"))]
mod mmap;
mod page_cache;
mod page_sets;
mod positioned;
mod scratch;
mod stoppable;
mod temp_file;
mod traits;

pub use crate::executor::Operation;
pub(crate) use bad_sectors::Patient;
pub(crate) use displaced::Held;
#[cfg(any(test, feature = "unstable"))]
pub use failing::Failing;
pub use filesystem::FileSystem;
pub use memory::Memory;
#[cfg_attr(fpstore_loom, allow(unused_imports, reason = "loom has an array of its own"))]
pub(crate) use mmap::{Arena, Array, AtomicArray};
pub(crate) use page_cache::{CachedFile, HeldPage, PageCache};
pub use stoppable::Stoppable;
pub(crate) use temp_file::{TEMP_SUFFIX, TempFile};

pub(crate) use traits::slice;
pub use traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
