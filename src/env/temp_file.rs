//! Files that appear whole or not at all: written under a temporary name, synced, and renamed.

use crate::env::traits::{Env, ReadFile, WriteFile};
use crate::error::{Error, Result};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Suffix of unfinished files. The next writer removes such files.
pub(crate) const TEMP_SUFFIX: &str = ".tmp";

const PIECE: u64 = 1 << 20;

/// A file under a temporary name beside its final one. Dropped without [`TempFile::commit`] it is removed.
pub(crate) struct TempFile {
    env: Arc<dyn Env>,
    file: Option<BufWriter<Box<dyn WriteFile>>>,
    temporary: PathBuf,
    target: PathBuf,
    written: u64,
}

impl TempFile {
    /// Creates the file that [`TempFile::commit`] names `name` in `directory`.
    pub(crate) fn create(env: &Arc<dyn Env>, directory: &Path, name: &str) -> Result<Self> {
        let temporary = directory.join(format!("{name}{TEMP_SUFFIX}"));
        let file = env.create(&temporary).map_err(|error| Error::io("cannot create", &temporary, error))?;
        let file = Some(BufWriter::with_capacity(1 << 18, file));
        Ok(Self { env: Arc::clone(env), file, temporary, target: directory.join(name), written: 0 })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes).map_err(|error| Error::io("cannot write", &self.temporary, error))?;
        }
        self.written += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn copied(mut self, file: &dyn ReadFile, path: &Path) -> Result<Self> {
        let (mut offset, mut buffer) = (0, Vec::new());
        while offset < file.length() {
            let length = PIECE.min(file.length() - offset);
            let bytes = file.read(offset, usize::try_from(length).unwrap_or(0), &mut buffer);
            self.write(bytes.map_err(|error| Error::io("cannot read", path, error))?)?;
            offset += length;
        }
        Ok(self)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    pub(crate) fn sync(&mut self) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.flush().map_err(|error| Error::io("cannot write", &self.temporary, error))?;
            file.get_mut().sync().map_err(|error| Error::io("cannot sync", &self.temporary, error))?;
        }
        Ok(())
    }

    /// Makes the file durable under its final name and returns the path.
    pub(crate) fn commit(mut self) -> Result<PathBuf> {
        self.finish()?;
        self.place()
    }

    /// Makes the file durable under its temporary name, and closes it.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.sync()?;
        drop(self.file.take());
        Ok(())
    }

    /// Renames a finished file durably and returns its path.
    pub(crate) fn place(mut self) -> Result<PathBuf> {
        let renamed = self.env.rename(&self.temporary, &self.target);
        renamed.map_err(|error| Error::io("cannot rename", &self.temporary, error))?;
        // There is no temporary file to remove any more.
        let temporary = std::mem::take(&mut self.temporary);
        let directory = temporary.parent().unwrap_or(Path::new("."));
        self.env.sync_dir(directory).map_err(|error| Error::io("cannot sync", directory, error))?;
        Ok(std::mem::take(&mut self.target))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Drop unflushed bytes.
        drop(self.file.take().map(BufWriter::into_parts));
        if !self.temporary.as_os_str().is_empty() {
            // If this fails, the next writer removes the file.
            let _ = self.env.remove(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    #[test]
    fn appears_on_commit_only() {
        let env: Arc<dyn Env> = Arc::new(Memory::default());
        let directory = Path::new("d");
        env.create_dir(directory).unwrap();
        let mut file = TempFile::create(&env, directory, "x").unwrap();
        file.write(b"abc").unwrap();
        assert_eq!(env.list(directory).unwrap(), ["x.tmp"]);
        drop(file);
        assert!(env.list(directory).unwrap().is_empty());
        let mut file = TempFile::create(&env, directory, "x").unwrap();
        file.write(b"abc").unwrap();
        assert_eq!(file.commit().unwrap(), directory.join("x"));
        assert_eq!(env.list(directory).unwrap(), ["x"]);
    }
}
