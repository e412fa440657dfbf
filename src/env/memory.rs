//! Files in memory, for tests and for stores that need not last.
//!
//! What was synced is remembered apart: [`Memory::crash`] leaves just that, as a power failure does at its worst. The
//! bytes of a file last when the file was synced, its name when its directory was.

use super::{Env, ReadFile, ReadMode, ScratchFile, WriteFile};
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
    files: BTreeMap<PathBuf, File>,
    directories: BTreeSet<PathBuf>,
    locked: BTreeSet<PathBuf>,
    /// The names that would be found after a crash, and what they would lead to.
    durable_files: BTreeMap<PathBuf, File>,
    durable_directories: BTreeSet<PathBuf>,
}

/// A file, whatever its names.
#[derive(Clone, Debug, Default)]
struct File(Arc<Mutex<Content>>);

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    synced: Vec<u8>,
}

impl File {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves no state here half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        self.state().files.get(path).map(|file| file.content().bytes.clone())
    }

    /// Replaces the bytes of a file, or makes it.
    pub fn set_bytes(&self, path: &Path, bytes: Vec<u8>) {
        let file = File::default();
        file.content().bytes = bytes;
        self.state().files.insert(path.to_owned(), file);
    }

    /// Loses everything that was not synced, and all locks.
    pub fn crash(&self) {
        let mut state = self.state();
        state.locked.clear();
        state.directories = state.durable_directories.clone();
        state.files = state.durable_files.clone();
        let State { files, directories, .. } = &mut *state;
        files.retain(|path, file| {
            let mut content = file.content();
            content.bytes = content.synced.clone();
            path.parent().is_some_and(|parent| directories.contains(parent))
        });
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
        let file = File::default();
        self.state().files.insert(path.to_owned(), file.clone());
        Ok(Box::new(Writer(file)))
    }

    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        let bytes = self.bytes(path).ok_or_else(missing)?;
        Ok(Box::new(Reader { bytes, stable: mode == ReadMode::Mmap }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let file = state.files.remove(from).ok_or_else(missing)?;
        state.files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state().files.remove(path).map(|_| ()).ok_or_else(missing)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        if !state.directories.contains(path) {
            return Err(missing());
        }
        let State { files, directories, durable_files, durable_directories, .. } = &mut *state;
        let within = |name: &PathBuf| {
            name.parent()
                .is_some_and(|parent| parent == path || parent.as_os_str().is_empty() && path == Path::new("."))
        };
        durable_files.retain(|name, _| !within(name));
        durable_files
            .extend(files.iter().filter(|(name, _)| within(name)).map(|(name, file)| (name.clone(), file.clone())));
        durable_directories.extend(directories.iter().filter(|name| within(name)).cloned());
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        self.create(path)?;
        if !self.state().locked.insert(path.to_owned()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(Lock { env: self.clone(), path: path.to_owned() }))
    }

    fn scratch(&self, _: &Path) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(Scratch::default()))
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

struct Writer(File);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.content().bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteFile for Writer {
    fn sync(&mut self) -> io::Result<()> {
        let mut content = self.0.content();
        content.synced = content.bytes.clone();
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Scratch(Vec<u8>);

impl ScratchFile for Scratch {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        bytes.copy_from_slice(super::slice(&self.0, offset, bytes.len())?);
        Ok(())
    }

    fn length(&self) -> u64 {
        self.0.len() as u64
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
