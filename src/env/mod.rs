//! The file system behind one small trait, so that faults can be tried in tests.
//!
//! [`FileSystem`] is the real one, [`Memory`] keeps files in memory; with the feature `unstable`, `Failing` makes
//! operations of another one fail. Everything that the library reads or writes goes through an [`Env`].
//!
//! A file that is meant to last is written under a temporary name, synced, renamed, and its directory synced
//! (`TempFile`): after a crash it is there whole, or not at all. A [`LogFile`] is synced again and again while it grows:
//! after a crash everything is there up to the last sync, and of what follows any part may be.
//!
//! # Reading by memory map
//! [`ReadMode::Mmap`] is the fastest way to read, with one hazard: if another process cuts a mapped file short,
//! touching the missing part kills this process (SIGBUS on Unix), and if it overwrites the file, pages that were
//! checked before change unnoticed. Segment files are never changed once they are written, so this takes a stranger's
//! hand. [`ReadMode::Pread`] reads every page anew and checks it every time; a file that is cut or changed then gives
//! an error.

#[cfg(target_os = "linux")]
mod available;
#[cfg(any(test, feature = "unstable"))]
mod failing;
mod filesystem;
mod held;
mod log;
mod memory;
#[cfg_attr(fpstore_loom, allow(dead_code, reason = "loom has an array of its own"))]
mod mmap;
mod patient;
mod positioned;
mod scratch;
mod temp;
#[cfg(test)]
mod tests;
mod traits;

#[cfg(any(test, feature = "unstable"))]
pub use failing::Failing;
pub use filesystem::FileSystem;
pub(crate) use held::Held;
pub use memory::Memory;
#[cfg_attr(fpstore_loom, allow(unused_imports, reason = "loom has an array of its own"))]
pub(crate) use mmap::{Arena, Array, AtomicArray};
pub(crate) use patient::Patient;
pub(crate) use temp::{TEMP_SUFFIX, TempFile};

pub(crate) use traits::slice;
pub use traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
