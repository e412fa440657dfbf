//! Files in memory, for tests and for stores that need not last.

use super::{Env, ReadFile, ReadMode, WriteFile};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file system of its own in memory; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Vec<u8>>,
    directories: BTreeSet<PathBuf>,
    locked: BTreeSet<PathBuf>,
}

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves no state here half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        self.state().files.get(path).cloned()
    }

    /// Replaces the bytes of a file, or makes it.
    pub fn set_bytes(&self, path: &Path, bytes: Vec<u8>) {
        self.state().files.insert(path.to_owned(), bytes);
    }
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Env for Memory {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.state().directories.extend(path.ancestors().map(Path::to_owned).chain([PathBuf::from(".")]));
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        if !self.list(path)?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.state().directories.remove(path);
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        if !state.directories.contains(path) {
            return Err(missing());
        }
        let inside = state.files.keys().filter(|file| file.parent() == Some(path));
        Ok(inside.filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())).collect())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        if !path.parent().is_some_and(|parent| self.state().directories.contains(parent)) {
            return Err(missing());
        }
        self.set_bytes(path, Vec::new());
        Ok(Box::new(Writer { env: self.clone(), path: path.to_owned() }))
    }

    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        let bytes = self.bytes(path).ok_or_else(missing)?;
        Ok(Box::new(Reader { bytes, stable: mode == ReadMode::Mmap }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let bytes = state.files.remove(from).ok_or_else(missing)?;
        state.files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state().files.remove(path).map(|_| ()).ok_or_else(missing)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if self.state().directories.contains(path) { Ok(()) } else { Err(missing()) }
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        self.create(path)?;
        if !self.state().locked.insert(path.to_owned()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(Lock { env: self.clone(), path: path.to_owned() }))
    }
}

struct Lock {
    env: Memory,
    path: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.env.state().locked.remove(&self.path);
    }
}

struct Writer {
    env: Memory,
    path: PathBuf,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.env.state().files.get_mut(&self.path).ok_or_else(missing)?.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteFile for Writer {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct Reader {
    bytes: Vec<u8>,
    stable: bool,
}

impl ReadFile for Reader {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read<'a>(&'a self, offset: u64, length: usize, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        super::slice(&self.bytes, offset, length)
    }

    fn is_stable(&self) -> bool {
        self.stable
    }
}
