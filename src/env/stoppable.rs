//! The file system, which refuses writes while the program says so.

use crate::env::filesystem::FileSystem;
use crate::env::traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file system, which asks before each write to a new file whether it may go on: the way to end a load or another
/// long write early.
///
/// A write that may not go on fails as it does on a full device: the library removes what it has begun, and the store is
/// as before. A complete file still gets its name, because then the work is done. Writes to the log go on: one that was
/// refused could leave the store [`crate::ErrorKind::Poisoned`].
///
/// ```
/// use fpstore::env::Stoppable;
/// use fpstore::{Options, Parameters, Records, Store};
/// use std::io::Error;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let stop = Arc::new(AtomicBool::new(false));
/// let asked = Arc::clone(&stop);
/// let check = move || if asked.load(SeqCst) { Err(Error::other("stopped")) } else { Ok(()) };
/// let options = Options::new().with_env(Arc::new(Stoppable::new(check)));
/// let store = Store::<u64>::create(&path, &Parameters::new(3), &options)?;
/// stop.store(true, SeqCst);
/// assert!(store.bulk_load(Records::Numbered(vec![7])).is_err());
/// stop.store(false, SeqCst);
/// assert_eq!(store.bulk_load(Records::Numbered(vec![7]))?.added(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stoppable {
    files: FileSystem,
    check: Check,
}

/// Returns the error of a write that may not go on.
#[derive(Clone)]
struct Check(Arc<dyn Fn() -> io::Result<()> + Send + Sync>);

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

impl Stoppable {
    /// Asks `check` before each write.
    #[must_use]
    pub fn new(check: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { files: FileSystem, check: Check(Arc::new(check)) }
    }
}

impl Env for Stoppable {
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.absolute(path)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        (self.check.0)()?;
        self.files.create_dir(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.files.remove_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.files.list(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        (self.check.0)()?;
        Ok(Box::new(Written(self.files.create(path)?, self.check.clone())))
    }
    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        self.files.open(path, mode)
    }
    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.files.create_log(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.files.rename(from, to)
    }
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.files.hard_link(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.files.sync_dir(path)
    }
    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>> {
        self.files.lock(path)
    }
    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        (self.check.0)()?;
        Ok(Box::new(Scratch(self.files.scratch(directory)?, self.check.clone())))
    }
    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        self.files.free_bytes(directory)
    }
    fn available_memory(&self) -> Option<u64> {
        self.files.available_memory()
    }
}

/// A file that is being written.
struct Written(Box<dyn WriteFile>, Check);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.1.0)()?;
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
struct Scratch(Box<dyn ScratchFile>, Check);

impl ScratchFile for Scratch {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        (self.1.0)()?;
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
