//! The file system, which refuses writes once a signal has arrived.
//!
//! A write to a store then fails as it does on a full device: the library removes what it has begun, and the store is
//! as before. A complete file still gets its name, because then the work is done.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fpstore::ReadMode;
use fpstore::env::{Env, FileSystem, LockFile, LogFile, ReadFile, ScratchFile, WriteFile};

use crate::interrupt;

/// The file system.
#[derive(Debug, Default)]
pub struct Stoppable(FileSystem);

fn check() -> io::Result<()> {
    interrupt::check().map_err(io::Error::other)
}

impl Env for Stoppable {
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.absolute(path)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        check()?;
        self.0.create_dir(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.0.remove_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.0.list(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        check()?;
        Ok(Box::new(Written(self.0.create(path)?)))
    }
    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        self.0.open(path, mode)
    }
    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        check()?;
        self.0.create_log(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.hard_link(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.sync_dir(path)
    }
    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>> {
        self.0.lock(path)
    }
    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        check()?;
        Ok(Box::new(Scratch(self.0.scratch(directory)?)))
    }
    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        self.0.free_bytes(directory)
    }
    fn available_memory(&self) -> Option<u64> {
        self.0.available_memory()
    }
}

/// A file that is being written.
struct Written(Box<dyn WriteFile>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl WriteFile for Written {
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
}

/// A temporary file.
#[derive(Debug)]
struct Scratch(Box<dyn ScratchFile>);

impl ScratchFile for Scratch {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        check()?;
        self.0.append(bytes)
    }
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, bytes)
    }
    fn length(&self) -> u64 {
        self.0.length()
    }
    fn into_reader(self: Box<Self>) -> io::Result<Box<dyn ReadFile>> {
        self.0.into_reader()
    }
}
