//! Files that appear whole or not at all.

use super::{Env, WriteFile};
use crate::error::{Error, Result};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Ending of the names of files that are not finished; such a file may be removed at any time by the next writer.
pub(crate) const TEMP_SUFFIX: &str = ".tmp";

/// A file under a temporary name beside its final one. Dropped without [`TempFile::commit`] it is removed.
pub(crate) struct TempFile {
    env: Arc<dyn Env>,
    file: Option<BufWriter<Box<dyn WriteFile>>>,
    temporary: PathBuf,
    target: PathBuf,
    written: u64,
}

impl TempFile {
    /// Begins the file that is to appear as `name` in `directory`.
    pub(crate) fn create(env: &Arc<dyn Env>, directory: &Path, name: &str) -> Result<Self> {
        let temporary = directory.join(format!("{name}{TEMP_SUFFIX}"));
        let file = env.create(&temporary).map_err(|error| Error::io("cannot create", &temporary, error))?;
        Ok(Self {
            env: Arc::clone(env),
            file: Some(BufWriter::with_capacity(1 << 18, file)),
            temporary,
            target: directory.join(name),
            written: 0,
        })
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes).map_err(|error| Error::io("cannot write", &self.temporary, error))?;
        }
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Number of bytes appended.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Makes the file durable under its final name and returns that.
    pub(crate) fn commit(mut self) -> Result<PathBuf> {
        let fail = |action: &'static str, path: &Path| {
            let path = path.to_owned();
            move |error| Error::io(action, &path, error)
        };
        let mut file = self.file.take();
        if let Some(file) = &mut file {
            file.flush().map_err(fail("cannot write", &self.temporary))?;
            file.get_mut().sync().map_err(fail("cannot sync", &self.temporary))?;
        }
        drop(file);
        self.env.rename(&self.temporary, &self.target).map_err(fail("cannot rename", &self.temporary))?;
        // From here on there is no temporary file to remove.
        let temporary = std::mem::take(&mut self.temporary);
        let directory = temporary.parent().unwrap_or(Path::new("."));
        self.env.sync_dir(directory).map_err(fail("cannot sync", directory))?;
        Ok(std::mem::take(&mut self.target))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Unflushed bytes go with the file.
        drop(self.file.take().map(BufWriter::into_parts));
        if !self.temporary.as_os_str().is_empty() {
            // What stays is removed by the next writer.
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
