//! Reading from media that fail: again, and then around what cannot be read.

use crate::env::traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How often a read is tried: what fails once may succeed the next time.
const TRIES: usize = 3;
/// Bytes that are given up together.
const PIECE: usize = 4096;
/// Stands for bytes that cannot be read. No zero, which would pass for padding; every checksum over it fails.
const UNREADABLE: u8 = 0xa5;

/// Passes everything on to another environment, but lets nothing that was opened fail to be read: bytes that the device does
/// not give come as bytes that no checksum accepts. So one bad sector costs the pages that are on it, and no more.
#[derive(Clone, Debug)]
pub(crate) struct Patient {
    inner: Arc<dyn Env>,
    unreadable: Arc<Unreadable>,
}

/// Where the device did not give what was asked for: files, and ends of pieces of them.
#[derive(Debug, Default)]
pub(crate) struct Unreadable(Mutex<Vec<(PathBuf, u64)>>);

impl Unreadable {
    fn add(&self, path: &Path, end: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), end));
    }

    /// Whether anything of a file behind an offset could not be read.
    pub(crate) fn has_behind(&self, path: &Path, offset: u64) -> bool {
        let pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.iter().any(|(file, end)| file == path && *end > offset)
    }
}

impl Patient {
    /// Reads from this environment.
    pub(crate) fn new(inner: &Arc<dyn Env>) -> Self {
        Self { inner: Arc::clone(inner), unreadable: Arc::default() }
    }

    /// What could not be read so far.
    pub(crate) fn unreadable(&self) -> Arc<Unreadable> {
        Arc::clone(&self.unreadable)
    }
}

/// Tries until it succeeds, or fails in a way that trying again does not change.
fn patiently<T>(mut action: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let lasting = |kind| {
        matches!(
            kind,
            io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::PermissionDenied
        )
    };
    let mut result = action();
    for _ in 1..TRIES {
        match &result {
            Err(error) if !lasting(error.kind()) => result = action(),
            _ => break,
        }
    }
    result
}

impl Env for Patient {
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
        patiently(|| self.inner.list(path))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.inner.create(path)
    }

    /// Never by memory map: there, what cannot be read ends the process.
    fn open(&self, path: &Path, _mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        let inner = patiently(|| self.inner.open(path, ReadMode::Pread))?;
        Ok(Box::new(PatientFile { inner, path: path.to_owned(), unreadable: self.unreadable() }))
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.inner.create_log(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>> {
        self.inner.lock(path)
    }

    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        self.inner.scratch(directory)
    }

    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        self.inner.free_bytes(directory)
    }

    fn available_memory(&self) -> Option<u64> {
        self.inner.available_memory()
    }
}

/// A file of which everything can be read, in some way.
#[derive(Debug)]
struct PatientFile {
    inner: Box<dyn ReadFile>,
    path: PathBuf,
    unreadable: Arc<Unreadable>,
}

impl PatientFile {
    /// Appends bytes, if they can be read.
    fn append(&self, offset: u64, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let (start, mut own) = (out.len(), Vec::new());
        patiently(|| {
            out.truncate(start);
            out.extend_from_slice(self.inner.read(offset, length, &mut own)?);
            Ok(())
        })
    }

    /// Appends what of some bytes can be read, and something else in the place of the rest.
    fn append_around(&self, offset: u64, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let mut done = 0;
        while done < length {
            let count = PIECE.min(length - done);
            let start = out.len();
            match self.append(offset.saturating_add(done as u64), count, out) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(error),
                Err(_) => {
                    out.truncate(start);
                    out.resize(start + count, UNREADABLE);
                    self.unreadable.add(&self.path, offset.saturating_add((done + count) as u64));
                }
                Ok(()) => {}
            }
            done += count;
        }
        Ok(())
    }
}

impl ReadFile for PatientFile {
    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        buffer.clear();
        match self.append(offset, length, buffer) {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                buffer.clear();
                self.append_around(offset, length, buffer)?;
            }
            done => done?,
        }
        Ok(buffer)
    }

    /// Another try may give other bytes.
    fn is_stable(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Failing, Memory};
    use super::*;

    fn memory() -> Arc<dyn Env> {
        let memory = Memory::default();
        memory.create_dir(Path::new("d")).unwrap();
        memory.set_bytes(Path::new("d/x"), (0..10_000u32).map(|at| at as u8).collect());
        Arc::new(memory)
    }

    fn read(env: &dyn Env) -> io::Result<Vec<u8>> {
        let file = env.open(Path::new("d/x"), ReadMode::Mmap)?;
        file.read(10, 9_000, &mut Vec::new()).map(<[u8]>::to_vec)
    }

    #[test]
    fn what_fails_once_is_read_all_the_same() {
        let all = read(&*memory()).unwrap();
        for operation in 0..2 {
            let failing: Arc<dyn Env> = Arc::new(Failing::new(memory(), operation..operation + 1));
            assert!(read(&*failing).is_err());
            let failing: Arc<dyn Env> = Arc::new(Failing::new(memory(), operation..operation + 1));
            assert_eq!(read(&Patient::new(&failing)).unwrap(), all);
        }
    }

    #[test]
    fn what_is_never_read_is_replaced_piece_by_piece() {
        let all = read(&*memory()).unwrap();
        // The whole fails, and the first piece.
        let failing: Arc<dyn Env> = Arc::new(Failing::new(memory(), 1..1 + 2 * TRIES as u64));
        let patient = Patient::new(&failing);
        let found = read(&patient).unwrap();
        let unreadable = |offset| patient.unreadable().has_behind(Path::new("d/x"), offset);
        assert!(unreadable(0) && unreadable(10 + PIECE as u64 - 1) && !unreadable(10 + PIECE as u64));
        assert!(found[..PIECE].iter().all(|&byte| byte == UNREADABLE));
        assert_eq!(found[PIECE..], all[PIECE..]);
        let gone: Arc<dyn Env> = Arc::new(Failing::new(memory(), 0..u64::MAX));
        assert!(read(&Patient::new(&gone)).is_err());
        let file = Patient::new(&memory()).open(Path::new("d/x"), ReadMode::Mmap).unwrap();
        assert!(file.read(9_000, 2_000, &mut Vec::new()).is_err(), "behind the end");
    }
}
