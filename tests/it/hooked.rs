//! An environment that calls a function before each operation, which may make it fail, or do other work first.

use fpstore::env::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A device error after which all bytes of an append may exist nevertheless.
pub(crate) const EIO: i32 = 5;

/// The next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Create,
    CreateLog,
    Open,
    Read,
    Write,
    Append,
    Allocate,
    Cut,
    Sync,
    Rename,
    Link,
    Remove,
    SyncDir,
    Scratch,
}

type Hook = dyn Fn(Op, &Path) -> io::Result<()> + Send + Sync;

/// Forwards all operations to another environment, after a hook.
#[derive(Clone)]
pub(crate) struct Hooked {
    inner: Arc<dyn Env>,
    hook: Arc<Hook>,
}

impl Hooked {
    pub(crate) fn behind(
        inner: Arc<dyn Env>,
        hook: impl Fn(Op, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> Arc<dyn Env> {
        Arc::new(Self { inner, hook: Arc::new(hook) })
    }

    fn file<T>(&self, inner: T, path: &Path) -> File<T> {
        File { inner, path: path.to_owned(), hook: Arc::clone(&self.hook) }
    }
}

impl fmt::Debug for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooked").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Env for Hooked {
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.absolute(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.inner.list(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        (self.hook)(Op::Create, path)?;
        Ok(Box::new(self.file(self.inner.create(path)?, path)))
    }

    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        (self.hook)(Op::Open, path)?;
        Ok(Box::new(self.file(self.inner.open(path, mode)?, path)))
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        (self.hook)(Op::CreateLog, path)?;
        Ok(Box::new(self.file(self.inner.create_log(path)?, path)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.hook)(Op::Rename, to)?;
        self.inner.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.hook)(Op::Link, to)?;
        self.inner.hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        (self.hook)(Op::Remove, path)?;
        self.inner.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        (self.hook)(Op::SyncDir, path)?;
        self.inner.sync_dir(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>> {
        self.inner.lock(path)
    }

    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        (self.hook)(Op::Scratch, directory)?;
        self.inner.scratch(directory)
    }

    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        self.inner.free_bytes(directory)
    }

    fn available_memory(&self) -> Option<u64> {
        self.inner.available_memory()
    }
}

/// A file whose operations call the hook.
struct File<T> {
    inner: T,
    path: PathBuf,
    hook: Arc<Hook>,
}

impl<T: fmt::Debug> fmt::Debug for File<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<T> File<T> {
    fn before(&self, op: Op) -> io::Result<()> {
        (self.hook)(op, &self.path)
    }
}

impl io::Write for File<Box<dyn WriteFile>> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.before(Op::Write)?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for File<Box<dyn WriteFile>> {
    fn sync(&mut self) -> io::Result<()> {
        self.before(Op::Sync)?;
        self.inner.sync()
    }
}

impl LogFile for File<Box<dyn LogFile>> {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.before(Op::Append) {
            // A failing device may have written a part of the bytes, or all of them.
            let taken = if error.raw_os_error() == Some(EIO) { bytes.len() } else { bytes.len() / 2 };
            self.inner.write_at(offset, &bytes[..taken])?;
            return Err(error);
        }
        self.inner.write_at(offset, bytes)
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        self.before(Op::Allocate)?;
        self.inner.allocate(length)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.before(Op::Cut)?;
        self.inner.cut(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.before(Op::Sync)?;
        self.inner.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.before(Op::Sync)?;
        self.inner.sync_all()
    }
}

impl ReadFile for File<Box<dyn ReadFile>> {
    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.before(Op::Read)?;
        self.inner.read(offset, length, buffer)
    }

    fn is_stable(&self) -> bool {
        false
    }
}
