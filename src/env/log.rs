//! Log files of the real file system.

use super::positioned::write_all_at;
use crate::env::traits::LogFile;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

#[derive(Debug)]
pub(super) struct Log {
    file: File,
    /// Setting a length could cut off a concurrent write after it. Writers share this lock; setting a length takes it
    /// alone.
    length: RwLock<()>,
}

impl Log {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, length: RwLock::default() })
    }

    /// Makes the file at least so long without allocating space.
    fn lengthen(&self, length: u64) -> io::Result<()> {
        let _alone = self.length.write().unwrap_or_else(PoisonError::into_inner);
        if self.file.metadata()?.len() < length { self.file.set_len(length) } else { Ok(()) }
    }
}

impl LogFile for Log {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let _shared = self.length.read().unwrap_or_else(PoisonError::into_inner);
        write_all_at(&self.file, bytes, offset)
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        // Other systems set the length alone: a full disk is noticed by a write, which then fails.
        #[cfg(target_os = "linux")]
        if length > 0 {
            use rustix::fs::{FallocateFlags, fallocate};
            use rustix::io::{Errno, retry_on_intr};
            match retry_on_intr(|| fallocate(&self.file, FallocateFlags::empty(), 0, length)) {
                // Not every file system can allocate space in advance.
                Err(Errno::OPNOTSUPP) => {}
                done => return Ok(done?),
            }
        }
        self.lengthen(length)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        let _alone = self.length.write().unwrap_or_else(PoisonError::into_inner);
        if self.file.metadata()?.len() > length { self.file.set_len(length) } else { Ok(()) }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_set_without_cutting() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let log = Log::create(&path).unwrap();
        log.write_at(0, b"abc").unwrap();
        log.lengthen(5).unwrap();
        log.lengthen(4).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"abc\0\0");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn space_is_allocated() {
        use std::os::unix::fs::MetadataExt;
        const LENGTH: u64 = 1 << 20;
        let directory = tempfile::tempdir().unwrap();
        let log = Log::create(&directory.path().join("x")).unwrap();
        log.allocate(LENGTH).unwrap();
        // Some file systems allocate no space in advance.
        let other = File::create(directory.path().join("y")).unwrap();
        let _ = rustix::fs::fallocate(&other, rustix::fs::FallocateFlags::empty(), 0, LENGTH);
        let blocks = |file: &File| file.metadata().unwrap().blocks();
        assert_eq!(blocks(&log.file), blocks(&other));
        assert_eq!(log.file.metadata().unwrap().len(), LENGTH);
    }
}
