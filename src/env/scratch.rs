//! Temporary files of the real file system.
//!
//! Such a file has no name: the operating system frees its space as soon as nobody has it open, so nothing of it
//! remains however the process ends.

use super::ScratchFile;
use super::filesystem::read_exact_at;
use std::fs::File;
use std::io;
use std::path::Path;

/// An open file without a name.
#[derive(Debug)]
pub(super) struct Scratch {
    file: File,
    length: u64,
}

impl Scratch {
    pub(super) fn create(directory: &Path) -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(directory)?, length: 0 })
    }
}

impl ScratchFile for Scratch {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Where to write is said every time: reads move the file's own position on some systems.
        write_all_at(&self.file, bytes, self.length)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, bytes, offset)
    }

    fn length(&self) -> u64 {
        self.length
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => {
                bytes = bytes.get(count..).unwrap_or_default();
                offset += count as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Env, Failing, FileSystem, Memory};
    use super::*;
    use std::sync::Arc;

    fn holds(env: &dyn Env, directory: &Path) {
        let mut file = env.scratch(directory).unwrap();
        file.append(b"abc").unwrap();
        let mut bytes = [0; 2];
        file.read_at(1, &mut bytes).unwrap();
        assert_eq!(&bytes, b"bc");
        file.append(b"def").unwrap();
        file.read_at(2, &mut bytes).unwrap();
        assert_eq!((&bytes, file.length()), (b"cd", 6));
        assert_eq!(file.read_at(5, &mut bytes).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(env.list(directory).unwrap().is_empty(), "the file has a name");
    }

    #[test]
    fn is_read_back_and_has_no_name() {
        let directory = tempfile::tempdir().unwrap();
        holds(&FileSystem, directory.path());
        let missing = FileSystem.scratch(&directory.path().join("missing"));
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
        let memory = Memory::default();
        memory.create_dir(directory.path()).unwrap();
        holds(&memory, directory.path());
        holds(&Failing::new(Arc::new(memory), 0..0), directory.path());
    }

    #[test]
    fn a_failed_append_leaves_what_was_there() {
        let memory = Memory::default();
        memory.create_dir(Path::new("d")).unwrap();
        let failing = Failing::new(Arc::new(memory), 2..3);
        let mut file = failing.scratch(Path::new("d")).unwrap();
        file.append(b"abc").unwrap();
        file.append(b"def").unwrap_err();
        let mut bytes = [0; 3];
        file.read_at(0, &mut bytes).unwrap();
        assert_eq!((&bytes, failing.operations()), (b"abc", 4));
    }
}
