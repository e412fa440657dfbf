//! Reading from media that fail: again, and then around what cannot be read.

use super::{Env, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
use std::any::Any;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How often a read is tried: what fails once may succeed the next time.
const TRIES: usize = 3;
/// Bytes that are given up together.
const PIECE: usize = 4096;
/// Stands for bytes that cannot be read. No zero, which would pass for padding; every checksum over it fails.
const UNREADABLE: u8 = 0xa5;

/// Passes everything on to another environment, but lets nothing that was opened fail to be read: bytes that the device does
/// not give come as bytes that no checksum accepts. So one bad sector costs the pages that are on it, and no more.
#[derive(Clone, Debug)]
pub(crate) struct Patient(Arc<dyn Env>);

impl Patient {
    /// Reads from this environment.
    pub(crate) fn new(inner: &Arc<dyn Env>) -> Self {
        Self(Arc::clone(inner))
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
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.0.create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.0.remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        patiently(|| self.0.list(path))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.0.create(path)
    }

    /// Never by memory map: there, what cannot be read ends the process.
    fn open(&self, path: &Path, _mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        let inner = patiently(|| self.0.open(path, ReadMode::Pread))?;
        Ok(Box::new(PatientFile(inner)))
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.0.create_log(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.0.sync_file(path)
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

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        self.0.lock(path)
    }

    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        self.0.scratch(directory)
    }

    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        self.0.free_bytes(directory)
    }
}

/// A file of which everything can be read, in some way.
#[derive(Debug)]
struct PatientFile(Box<dyn ReadFile>);

impl PatientFile {
    /// Appends bytes, if they can be read.
    fn append(&self, offset: u64, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let (start, mut own) = (out.len(), Vec::new());
        patiently(|| {
            out.truncate(start);
            out.extend_from_slice(self.0.read(offset, length, &mut own)?);
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
        self.0.length()
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
        let found = read(&Patient::new(&failing)).unwrap();
        assert!(found[..PIECE].iter().all(|&byte| byte == UNREADABLE));
        assert_eq!(found[PIECE..], all[PIECE..]);
        let gone: Arc<dyn Env> = Arc::new(Failing::new(memory(), 0..u64::MAX));
        assert!(read(&Patient::new(&gone)).is_err());
        let file = Patient::new(&memory()).open(Path::new("d/x"), ReadMode::Mmap).unwrap();
        assert!(file.read(9_000, 2_000, &mut Vec::new()).is_err(), "behind the end");
    }
}
