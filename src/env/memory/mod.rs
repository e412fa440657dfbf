//! Files in memory, for tests and for stores that need not last.
//!
//! Unsynced operations are kept one by one. [`Memory::crash`] loses all of them, as the worst power failure does;
//! [`Memory::crash_keeping`] loses any part of them. The bytes of a file are durable once the file was synced, its name
//! once its directory was.

mod environment;
mod file;
mod handles;
mod names;

use file::File;
use names::{Change, Names};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file system of its own in memory; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    state: Arc<Mutex<State>>,
}

#[derive(Clone, Debug, Default)]
struct State {
    names: Names,
    files: BTreeMap<u64, File>,
    locked: BTreeMap<PathBuf, u64>,
    numbers: u64,
    /// Number of crashes: handles from before a crash give errors.
    crashes: u64,
}

impl State {
    fn new_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn file(&mut self, number: u64) -> &mut File {
        self.files.entry(number).or_default()
    }

    fn found(&self, path: &Path) -> io::Result<u64> {
        self.names.file(path).ok_or_else(missing)
    }

    fn create(&mut self, path: &Path) -> u64 {
        if let Some(number) = self.names.file(path) {
            self.file(number).shorten(0);
            return number;
        }
        let number = self.new_number();
        self.files.insert(number, File::default());
        self.names.change(Change::Link(path.to_owned(), number));
        number
    }

    fn create_in_directory(&mut self, path: &Path) -> io::Result<u64> {
        if self.names.has_place_for(path) { Ok(self.create(path)) } else { Err(missing()) }
    }

    fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        self.names.file(path).and_then(|number| self.files.get(&number)).map(|file| file.bytes().to_vec())
    }

    /// Frees the files that no name will ever lead to.
    fn forget_lost_files(&mut self) {
        let numbers = self.names.numbers();
        self.files.retain(|number, _| numbers.contains(number));
    }

    fn crash(&mut self, keep: &mut dyn FnMut() -> bool) {
        self.crashes += 1;
        self.locked.clear();
        self.names.crash(keep);
        self.forget_lost_files();
        self.files.values_mut().for_each(|file| file.crash(keep));
    }
}

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves no half changed state here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        self.state().bytes(path)
    }

    /// Replaces the bytes of a file, or makes it. Earlier unsynced writes are forgotten.
    pub fn set_bytes(&self, path: &Path, bytes: Vec<u8>) {
        let mut state = self.state();
        let number = state.create(path);
        state.file(number).replace(bytes);
    }

    /// Makes the bytes of a file durable, as its writer would.
    ///
    /// # Errors
    /// `NotFound` if there is no such file.
    pub fn sync_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let number = state.found(path)?;
        state.file(number).sync();
        Ok(())
    }

    /// Loses everything that was not synced, and all locks.
    pub fn crash(&self) {
        self.crash_keeping(|| false);
    }

    /// Loses all locks and a part of the unsynced changes. `keep` is called for each unit that reaches the device as a
    /// whole or not at all, and returns whether it did.
    ///
    /// * Each change of names, in order. A rename is one unit: the new name leads to the file and the old one is gone,
    ///   or neither. It may survive where the creation of the old name did not. Files and directories within a lost
    ///   directory are lost.
    /// * For each file that is left, its changes in order: each length from an allocation, an emptying or a write
    ///   beyond the end; each sector, 512 bytes aligned in the file, of each write. The last surviving length counts:
    ///   bytes after it are cut, and bytes that did not survive are zeros.
    ///
    /// The same answers leave the same files. The state that is left counts as synced. Files that were open for writing
    /// give errors from then on.
    pub fn crash_keeping(&self, mut keep: impl FnMut() -> bool) {
        // `keep` may panic or read the files, so it runs on a copy and without the lock.
        let mut state = self.state().clone();
        state.crash(&mut keep);
        *self.state() = state;
    }

    /// An independent copy, synced or not, so that one state can crash in many ways. Open files and held locks stay
    /// with the original.
    #[must_use]
    pub fn deep_copy(&self) -> Self {
        let state = State { locked: BTreeMap::new(), ..self.state().clone() };
        Self { state: Arc::new(Mutex::new(state)) }
    }
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;

    #[test]
    fn unreachable_files_are_freed() {
        let env = Memory::default();
        let [a, b] = ["d/a", "d/b"].map(Path::new);
        env.create_dir(Path::new("d")).unwrap();
        for _ in 0..10 {
            let log = env.create_log(a).unwrap();
            log.sync_data().unwrap();
            env.remove(a).unwrap();
            log.write_at(0, b"y").unwrap();
            env.sync_dir(Path::new("d")).unwrap();
        }
        assert!(env.state().files.is_empty());
        drop(env.create_log(b).unwrap());
        env.crash();
        assert!(env.state().files.is_empty());
    }
}
