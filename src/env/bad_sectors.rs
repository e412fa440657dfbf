//! Reading around bad sectors.

use crate::env::traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile, forward};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are replaced together.
const PIECE: usize = 4096;
/// Replaces unreadable bytes. Not zero, which would pass for padding; every checksum over it fails.
const UNREADABLE: u8 = 0xa5;

/// Forwards to another environment, but reads of open files do not fail: unreadable bytes are replaced by bytes that no
/// checksum accepts. So one bad sector costs only the pages on it.
#[derive(Clone, Debug)]
pub(crate) struct Patient(pub(crate) Arc<dyn Env>);

impl Env for Patient {
    forward! { self => self.0;
        absolute(path: &Path) -> io::Result<PathBuf>;
        create_dir(path: &Path) -> io::Result<()>;
        remove_dir(path: &Path) -> io::Result<()>;
        list(path: &Path) -> io::Result<Vec<String>>;
        create(path: &Path) -> io::Result<Box<dyn WriteFile>>;
        create_log(path: &Path) -> io::Result<Box<dyn LogFile>>;
        rename(from: &Path, to: &Path) -> io::Result<()>;
        hard_link(from: &Path, to: &Path) -> io::Result<()>;
        remove(path: &Path) -> io::Result<()>;
        sync_dir(path: &Path) -> io::Result<()>;
        lock(path: &Path) -> io::Result<Arc<dyn LockFile>>;
        scratch(directory: &Path) -> io::Result<Box<dyn ScratchFile>>;
        free_bytes(directory: &Path) -> Option<u64>;
        available_memory() -> Option<u64>;
    }

    /// Never by memory map: an unreadable page would kill the process.
    fn open(&self, path: &Path, _mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        Ok(Box::new(PatientFile(self.0.open(path, ReadMode::Pread)?)))
    }
}

#[derive(Debug)]
struct PatientFile(Box<dyn ReadFile>);

impl ReadFile for PatientFile {
    forward! { self => self.0; length() -> u64; }

    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let mut own = Vec::new();
        buffer.clear();
        if let Ok(bytes) = self.0.read(offset, length, &mut own) {
            buffer.extend_from_slice(bytes);
        }
        while buffer.len() < length {
            let count = PIECE.min(length - buffer.len());
            match self.0.read(offset.saturating_add(buffer.len() as u64), count, &mut own) {
                Ok(bytes) => buffer.extend_from_slice(bytes),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(error),
                Err(_) => buffer.resize(buffer.len() + count, UNREADABLE),
            }
        }
        Ok(buffer)
    }

    /// Another read may return other bytes.
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
        let failing = || -> Arc<dyn Env> { Arc::new(Failing::new(memory(), 1..2)) };
        assert!(read(&*failing()).is_err());
        assert_eq!(read(&Patient(failing())).unwrap(), all);
    }

    #[test]
    fn what_is_never_read_is_replaced_piece_by_piece() {
        let all = read(&*memory()).unwrap();
        // The read of everything fails, and that of the first piece.
        let failing: Arc<dyn Env> = Arc::new(Failing::new(memory(), 1..3));
        let found = read(&Patient(failing)).unwrap();
        assert!(found[..PIECE].iter().all(|&byte| byte == UNREADABLE));
        assert_eq!(found[PIECE..], all[PIECE..]);
        let gone: Arc<dyn Env> = Arc::new(Failing::new(memory(), 0..u64::MAX));
        assert!(read(&Patient(gone)).is_err());
        let file = Patient(memory()).open(Path::new("d/x"), ReadMode::Mmap).unwrap();
        assert!(file.read(9_000, 2_000, &mut Vec::new()).is_err(), "behind the end");
    }
}
