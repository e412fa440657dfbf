//! Memory as a file system.

use super::handles::{Handle, Lock, Reader, Scratch, Writer};
use super::names::Change;
use super::{Memory, missing};
use crate::env::traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
use std::io;
use std::path::Path;
use std::sync::Arc;

impl Env for Memory {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.state().names.make_directories(path);
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        if state.names.list(path).ok_or_else(missing)?.next().is_some() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        state.names.change(Change::RemoveDirectory(path.to_owned()));
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        let inside = state.names.list(path).ok_or_else(missing)?;
        Ok(inside.filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())).collect())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        Ok(Box::new(Writer { handle: Handle::create(self, path)?, position: 0 }))
    }

    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        let bytes = self.bytes(path).ok_or_else(missing)?;
        Ok(Box::new(Reader { bytes, stable: mode == ReadMode::Mmap }))
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(Handle::create(self, path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let file = state.found(from)?;
        if !state.names.has_place_for(to) {
            return Err(missing());
        }
        // As on Unix, both names stay if they lead to one file already.
        if state.names.file(to) != Some(file) {
            state.names.change(Change::Rename(from.to_owned(), to.to_owned(), file));
        }
        Ok(())
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let file = state.found(from)?;
        if !state.names.has_place_for(to) {
            return Err(missing());
        }
        if state.names.file(to).is_some() || state.names.is_directory(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.names.change(Change::Link(to.to_owned(), file));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.found(path)?;
        state.names.change(Change::Unlink(path.to_owned()));
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        if !state.names.is_directory(path) {
            return Err(missing());
        }
        state.names.sync(path);
        state.forget_lost_files();
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>> {
        let mut state = self.state();
        let file = state.create_in_directory(path)?;
        if state.locked.contains_key(path) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let number = state.new_number();
        state.locked.insert(path.to_owned(), number);
        Ok(Arc::new(Lock { env: self.clone(), path: path.to_owned(), number, file }))
    }

    fn scratch(&self, _: &Path) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(Scratch::default()))
    }
}
