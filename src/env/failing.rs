//! An environment with failing operations, for fault sweeps.

use crate::env::traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile, forward};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Forwards to another environment, and fails some operations instead.
#[derive(Clone, Debug)]
pub struct Failing {
    inner: Arc<dyn Env>,
    operations: Arc<AtomicU64>,
    fails: Range<u64>,
    free: Option<u64>,
    available: Option<u64>,
}

impl Failing {
    /// Fails the operations whose numbers (from 0) are in `fails`: one, or all from one on as if the disk were full or
    /// gone.
    #[must_use]
    pub fn new(inner: Arc<dyn Env>, fails: Range<u64>) -> Self {
        Self { inner, operations: Arc::default(), fails, free: None, available: None }
    }

    /// Reports this many free bytes.
    #[must_use]
    pub fn with_free_bytes(self, bytes: u64) -> Self {
        Self { free: Some(bytes), ..self }
    }

    /// Reports this many bytes of available memory.
    #[must_use]
    pub fn with_available_memory(self, bytes: u64) -> Self {
        Self { available: Some(bytes), ..self }
    }

    /// Number of operations so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    fn step(&self) -> io::Result<()> {
        if self.fails.contains(&self.operations.fetch_add(1, Ordering::Relaxed)) {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "made to fail"));
        }
        Ok(())
    }

    fn env(&self) -> io::Result<&dyn Env> {
        self.step().map(|()| &*self.inner)
    }
}

impl Env for Failing {
    forward! { self => self.env()?;
        create_dir(path: &Path) -> io::Result<()>;
        remove_dir(path: &Path) -> io::Result<()>;
        list(path: &Path) -> io::Result<Vec<String>>;
        rename(from: &Path, to: &Path) -> io::Result<()>;
        hard_link(from: &Path, to: &Path) -> io::Result<()>;
        remove(path: &Path) -> io::Result<()>;
        sync_dir(path: &Path) -> io::Result<()>;
        lock(path: &Path) -> io::Result<Arc<dyn LockFile>>;
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.absolute(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        Ok(Box::new(FailingFile { inner: self.env()?.create(path)?, env: self.clone() }))
    }

    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        Ok(Box::new(FailingReads { inner: self.env()?.open(path, mode)?, env: self.clone() }))
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(FailingLog { inner: self.env()?.create_log(path)?, env: self.clone() }))
    }

    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        self.free.or_else(|| self.inner.free_bytes(directory))
    }

    fn available_memory(&self) -> Option<u64> {
        self.available.or_else(|| self.inner.available_memory())
    }

    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(FailingScratch { inner: self.env()?.scratch(directory)?, env: self.clone() }))
    }
}

/// The part of the bytes that reaches a disk that becomes full.
fn half(bytes: &[u8]) -> &[u8] {
    bytes.get(..bytes.len() / 2).unwrap_or_default()
}

struct FailingFile {
    env: Failing,
    inner: Box<dyn WriteFile>,
}

impl Write for FailingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.env.step() {
            self.inner.write_all(half(bytes))?;
            return Err(error);
        }
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for FailingFile {
    fn sync(&mut self) -> io::Result<()> {
        self.env.step()?;
        self.inner.sync()
    }
}

#[derive(Debug)]
struct FailingLog {
    env: Failing,
    inner: Box<dyn LogFile>,
}

impl LogFile for FailingLog {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.env.step() {
            self.inner.write_at(offset, half(bytes))?;
            return Err(error);
        }
        self.inner.write_at(offset, bytes)
    }

    forward! { self => self.env.step().map(|()| &*self.inner)?;
        allocate(length: u64) -> io::Result<()>;
        cut(length: u64) -> io::Result<()>;
        sync_data() -> io::Result<()>;
        sync_all() -> io::Result<()>;
    }
}

#[derive(Debug)]
struct FailingReads {
    env: Failing,
    inner: Box<dyn ReadFile>,
}

impl ReadFile for FailingReads {
    forward! { self => self.inner;
        length() -> u64;
        will_read(offset: u64, length: u64) -> ();
        is_stable() -> bool;
    }

    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.env.step()?;
        self.inner.read(offset, length, buffer)
    }
}

#[derive(Debug)]
struct FailingScratch {
    env: Failing,
    inner: Box<dyn ScratchFile>,
}

impl ScratchFile for FailingScratch {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.env.step()?;
        self.inner.append(bytes)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.env.step()?;
        self.inner.read_at(offset, bytes)
    }

    forward! { self => self.inner; length() -> u64; }

    fn into_reader(self: Box<Self>) -> io::Result<Box<dyn ReadFile>> {
        self.env.step()?;
        Ok(Box::new(FailingReads { inner: self.inner.into_reader()?, env: self.env }))
    }
}
