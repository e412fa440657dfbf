//! The operations of a file system.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How segment files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadMode {
    /// Mapped into memory. Every page is checked when it is first touched. See [`crate::env`] for the hazard.
    #[default]
    Mmap,
    /// Positioned reads of single pages, which are checked and stay in memory for some time
    /// ([`crate::Options::with_page_cache`]).
    Pread,
}

/// The file operations that a store needs. Paths are the store's own; errors are returned unchanged.
///
/// An implementation needs the methods without a default; later versions add methods with defaults only.
pub trait Env: Debug + Send + Sync {
    /// The path independent of the process's current directory.
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
    /// Makes a directory and its missing parents, if missing.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// The names in a directory, in any order.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Makes or empties a file, for writing from its start.
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>>;
    /// Opens a file for reading.
    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>>;
    /// Makes or empties a log.
    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
    /// Renames a file and atomically replaces the file at the new name. Both names may stay if they lead to the same
    /// file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file one more name.
    ///
    /// # Errors
    /// `AlreadyExists` if the new name is in use.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file's name, and with its last one the file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Locks the file at the path until the last clone of the returned value is dropped.
    ///
    /// # Errors
    /// `WouldBlock`, with the holder if known, if another process or handle has the lock.
    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>>;
    /// Makes an unnamed temporary file in a directory. It vanishes when it is dropped or the process ends in any way.
    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>>;
    /// Free bytes on the device of a directory, if known.
    fn free_bytes(&self, _directory: &Path) -> Option<u64> {
        None
    }
    /// Bytes of memory that the process may still take, if known.
    fn available_memory(&self) -> Option<u64> {
        None
    }
}

/// Implements methods of a trait by those of the value `$to`, which may name the arguments.
macro_rules! forward {
    ($self:ident => $to:expr; $($method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        fn $method(&$self, $($argument: $type),*) -> $result {
            $to.$method($($argument),*)
        }
    )*};
}
pub(super) use forward;

/// A locked file.
pub trait LockFile: Debug + Send + Sync {
    /// Whether the path leads to this file.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
}

/// An unnamed temporary file that grows at its end and that any number of threads may read.
pub trait ScratchFile: Debug + Send + Sync {
    /// Writes bytes at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Fills `bytes` with those from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Number of bytes appended.
    fn length(&self) -> u64;
    /// The finished file, for reading as a segment.
    fn into_reader(self: Box<Self>) -> io::Result<Box<dyn ReadFile>>;
}

/// A file that grows while other threads sync it; it stays open if its name changes. While it is written it must not be
/// read by memory map ([`ReadMode`]).
pub trait LogFile: Debug + Send + Sync {
    /// Writes all bytes from `offset` on, after zeros if the file ends before it.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Makes the file at least so long, with zeros at the end, and allocates space on the device where the system can.
    /// Then writes within this length do not fail for lack of space, and syncing them need not update the length.
    fn allocate(&self, length: u64) -> io::Result<()>;
    /// Cuts the file to at most this many bytes.
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Makes all bytes written so far durable, and the length that reading them needs.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes the file durable with all its metadata.
    fn sync_all(&self) -> io::Result<()>;
}

/// A file open for sequential writing.
pub trait WriteFile: io::Write + Send {
    /// Makes all bytes written so far durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file open for reading by any number of threads.
pub trait ReadFile: Debug + Send + Sync {
    /// Length in bytes when the file was opened.
    fn length(&self) -> u64;
    /// `length` bytes from `offset` on, in `buffer` unless they are mapped.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before.
    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]>;
    /// The whole file, if it is mapped.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
    /// Hints that a part of the file will be read soon, so that the reads of several parts overlap.
    fn will_read(&self, _offset: u64, _length: u64) {}
    /// Whether repeated reads return the same bytes, barring external modification.
    fn is_stable(&self) -> bool;
}

pub(crate) fn slice(bytes: &[u8], offset: u64, length: usize) -> io::Result<&[u8]> {
    usize::try_from(offset)
        .ok()
        .and_then(|offset| bytes.get(offset..)?.get(..length))
        .ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends before"))
}
