//! Temporary files of the real file system.
//!
//! Such a file has no name: the operating system frees its space when the last handle is closed, so nothing remains
//! however the process ends.

use super::mmap::Mapped;
use super::positioned::{read_exact_at, write_all_at};
use crate::env::traits::{ReadFile, ScratchFile};
use std::fs::File;
use std::io;
use std::path::Path;

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
        // On some systems reads move the file's own position.
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

    fn into_reader(self: Box<Self>) -> io::Result<Box<dyn ReadFile>> {
        // A failed append may have left a part of its bytes.
        self.file.set_len(self.length)?;
        Ok(Box::new(Mapped::new(&self.file)?))
    }
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
        let reader = file.into_reader().unwrap();
        let mut buffer = Vec::new();
        assert_eq!((reader.read(1, 4, &mut buffer).unwrap(), reader.length()), (&b"bcde"[..], 6));
        assert_eq!(reader.read(5, 2, &mut buffer).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(reader.is_stable());
        assert!(env.list(directory).unwrap().is_empty(), "the file has a name");
        let empty = env.scratch(directory).unwrap().into_reader().unwrap();
        assert_eq!(empty.length(), 0);
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

    #[test]
    fn a_reader_has_no_more_than_was_appended() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = Scratch::create(directory.path()).unwrap();
        file.append(b"abc").unwrap();
        // As a failed append does.
        write_all_at(&file.file, b"de", 3).unwrap();
        assert_eq!(Box::new(file).into_reader().unwrap().bytes().unwrap(), b"abc");
    }

    #[test]
    fn reading_a_finished_file_may_fail() {
        let memory: Arc<dyn Env> = Arc::new(Memory::default());
        memory.create_dir(Path::new("d")).unwrap();
        for fails in 2..4 {
            let failing = Failing::new(Arc::clone(&memory), fails..fails + 1);
            let mut file = failing.scratch(Path::new("d")).unwrap();
            file.append(b"abc").unwrap();
            let read = file.into_reader().and_then(|reader| reader.read(0, 3, &mut Vec::new()).map(<[u8]>::len));
            assert_eq!(read.unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert_eq!(failing.operations(), fails + 1);
        }
    }
}
