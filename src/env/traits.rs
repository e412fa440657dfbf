//! What a file system has to do.

#[cfg_attr(fpstore_loom, allow(unused_imports, reason = "loom has an array of its own"))]
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
    /// Read piece by piece with positioned reads; every piece is checked every time.
    Pread,
}

/// The operations on files that a store needs. Paths are the store's own; errors are passed on unchanged.
///
/// The methods without a default are all that an implementation needs: later versions add methods with defaults only.
pub trait Env: Debug + Send + Sync {
    /// The path that leads to the same place whatever the current directory of the process becomes.
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
    /// Makes a directory and its missing parents; no error if it is there already.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// The names in a directory, in no order.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Makes a file, or empties the one that is there, for writing from its start.
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>>;
    /// Opens a file for reading.
    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>>;
    /// Makes a log, or empties the file that is there.
    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
    /// Moves a file; what is at the new name is replaced in one step. If both names lead to the same file already, both
    /// may stay.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file another name besides those it has.
    ///
    /// # Errors
    /// `AlreadyExists` if there is something at the new name.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file's name, and with its last one the file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Takes the lock that the file at the path stands for, until the last clone of the returned value is dropped.
    ///
    /// # Errors
    /// `WouldBlock`, naming the holder where it is known, if another process or another handle has it.
    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>>;
    /// Makes a temporary file in a directory. It has no name and vanishes when it is dropped or the process ends,
    /// however that comes.
    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>>;
    /// Bytes that can still be written to the device that a directory is on, where that is known.
    fn free_bytes(&self, _directory: &Path) -> Option<u64> {
        None
    }
    /// Bytes of memory that the process may still take, where that is known.
    fn available_memory(&self) -> Option<u64> {
        None
    }
}

/// A file whose lock is held.
pub trait LockFile: Debug + Send + Sync {
    /// Whether the path leads to this very file.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
}

/// A temporary file without a name: it grows at its end and may be read by any number of threads.
pub trait ScratchFile: Debug + Send + Sync {
    /// Writes bytes behind all others.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Fills `bytes` with those from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Number of bytes appended.
    fn length(&self) -> u64;
    /// The finished file, to be read as a segment is.
    fn into_reader(self: Box<Self>) -> io::Result<Box<dyn ReadFile>>;
}

/// A file that grows while others sync it; it stays open whatever becomes of its name. While it is written it must not
/// be read by memory map ([`ReadMode`]).
pub trait LogFile: Debug + Send + Sync {
    /// Writes all bytes from `offset` on; what lies between the end of the file and `offset` becomes zeros.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Makes the file at least so long, with zeros behind what is written, and takes room for it on the device where
    /// the system can: then writes within this length do not fail for want of room, and syncing them need not touch the
    /// length.
    fn allocate(&self, length: u64) -> io::Result<()>;
    /// Makes the file so long at most: what is behind goes.
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Makes all bytes written so far durable, and the length as far as reading them needs it.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes the file durable with everything that the system keeps about it.
    fn sync_all(&self) -> io::Result<()>;
}

/// A file that is being written.
pub trait WriteFile: io::Write + Send {
    /// Makes everything written so far durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file that is open for reading, by any number of threads.
pub trait ReadFile: Debug + Send + Sync {
    /// Length in bytes when the file was opened.
    fn length(&self) -> u64;
    /// `length` bytes from `offset` on, in `buffer` unless they are in memory anyway.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before.
    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]>;
    /// The whole file, if it is in memory anyway.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
    /// A hint that a part of the file will be read soon, so that the reads of several parts go out together.
    fn will_read(&self, _offset: u64, _length: u64) {}
    /// Whether bytes that were read once are the same when they are read again, short of a stranger's hand.
    fn is_stable(&self) -> bool;
}

/// The bytes of a slice from `offset` on, for files that are in memory.
pub(crate) fn slice(bytes: &[u8], offset: u64, length: usize) -> io::Result<&[u8]> {
    usize::try_from(offset)
        .ok()
        .and_then(|offset| bytes.get(offset..)?.get(..length))
        .ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends before"))
}
