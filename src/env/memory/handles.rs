//! Open files, locks and scratch files.
//!
//! A file open for writing is known by its number, so its names may change. Writes to a file without a name vanish.

use super::Memory;
use super::file::File;
use crate::env::traits::{LockFile, LogFile, ReadFile, ScratchFile, WriteFile, slice};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Handle {
    env: Memory,
    file: u64,
    crashes: u64,
}

impl Handle {
    pub(super) fn create(env: &Memory, path: &Path) -> io::Result<Self> {
        let mut state = env.state();
        let file = state.create_in_directory(path)?;
        Ok(Self { env: env.clone(), file, crashes: state.crashes })
    }

    fn with(&self, work: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.env.state();
        if state.crashes != self.crashes {
            return Err(io::Error::other("the file was opened before a crash"));
        }
        state.files.get_mut(&self.file).map_or(Ok(()), work)
    }

    fn sync(&self) -> io::Result<()> {
        self.with(|file| {
            file.sync();
            Ok(())
        })
    }
}

impl LogFile for Handle {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(|file| file.write_at(offset, bytes))
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        self.with(|file| file.lengthen(length))
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.with(|file| {
            file.shorten(usize::try_from(length).unwrap_or(usize::MAX));
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }
}

pub(super) struct Writer {
    pub(super) handle: Handle,
    pub(super) position: u64,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.handle.write_at(self.position, bytes)?;
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteFile for Writer {
    fn sync(&mut self) -> io::Result<()> {
        self.handle.sync()
    }
}

#[derive(Debug)]
pub(super) struct Lock {
    pub(super) env: Memory,
    pub(super) path: PathBuf,
    pub(super) number: u64,
    pub(super) file: u64,
}

impl LockFile for Lock {
    fn is_at(&self, path: &Path) -> io::Result<bool> {
        Ok(self.env.state().names.file(path) == Some(self.file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // After a crash another handle may have the lock.
        let locked = &mut self.env.state().locked;
        if locked.get(&self.path) == Some(&self.number) {
            locked.remove(&self.path);
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Scratch(Vec<u8>);

impl ScratchFile for Scratch {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        bytes.copy_from_slice(slice(&self.0, offset, bytes.len())?);
        Ok(())
    }

    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn into_reader(self: Box<Self>) -> io::Result<Box<dyn ReadFile>> {
        Ok(Box::new(Reader { bytes: self.0, stable: true }))
    }
}

#[derive(Debug)]
pub(super) struct Reader {
    pub(super) bytes: Vec<u8>,
    pub(super) stable: bool,
}

impl ReadFile for Reader {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read<'a>(&'a self, offset: u64, length: usize, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        slice(&self.bytes, offset, length)
    }

    fn is_stable(&self) -> bool {
        self.stable
    }
}
