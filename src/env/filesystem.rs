//! The real file system.

use super::log::Log;
use super::mmap::Mapped;
use super::positioned::Positioned;
use super::scratch::Scratch;
use crate::env::traits::{Env, LockFile, LogFile, ReadFile, ReadMode, ScratchFile, WriteFile};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The operating system's files.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Env for FileSystem {
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        std::path::absolute(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        Ok(Box::new(File::create(path)?))
    }

    fn open(&self, path: &Path, mode: ReadMode) -> io::Result<Box<dyn ReadFile>> {
        let file = File::open(path)?;
        Ok(match mode {
            ReadMode::Mmap => Box::new(Mapped::new(&file)?),
            ReadMode::Pread => Box::new(Positioned::new(file)?),
        })
    }

    fn create_log(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(Log::create(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Windows cannot sync directories; it journals renames.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn lock(&self, path: &Path) -> io::Result<Arc<dyn LockFile>> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            // A failed creation removes its lock file: this handle may have locked the removed file.
            Ok(()) if !is_at(&file, path)? => return self.lock(path),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The message has the holder if it can be read.
                let _ = file.take(64).read_to_string(&mut holder);
                return Err(io::Error::new(io::ErrorKind::WouldBlock, holder.trim().to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        writeln!(file, "process {}", std::process::id())?;
        Ok(Arc::new(file))
    }

    // On other systems the free space is unknown: a load that does not fit fails when the disk is full.
    #[cfg(target_os = "linux")]
    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        let status = rustix::fs::statvfs(directory).ok()?;
        status.f_bavail.checked_mul(status.f_frsize)
    }

    // On other systems the free memory is unknown, and the callers' fixed limits hold.
    #[cfg(target_os = "linux")]
    fn available_memory(&self) -> Option<u64> {
        super::available::available()
    }

    fn scratch(&self, directory: &Path) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(Scratch::create(directory)?))
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match fs::metadata(path) {
        Ok(found) => Ok(identity(found) == identity(file.metadata()?)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(error),
    }
}

/// An open file cannot be removed on other systems.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

impl LockFile for File {
    fn is_at(&self, path: &Path) -> io::Result<bool> {
        is_at(self, path)
    }
}

impl WriteFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}
