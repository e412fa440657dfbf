//! The lock of a sharded store: a program holds it while it changes which records are where.

use super::read::read;
use crate::error::{Error, ErrorKind, Result};
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The exclusive right to change a ring file and the records of its nodes, until it is dropped. The lock is on a file
/// beside the ring file, NAME.lock, where NAME is the same for all links to the ring file.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    former: PathBuf,
}

impl Lock {
    /// Takes the lock.
    ///
    /// # Errors
    /// `Locked` if a process has it; `NotFound` if there is no ring file; `Io`.
    pub fn take(ring_file: &Path) -> Result<Self> {
        let path = beside(ring_file, ".lock")?;
        let open = || File::options().create(true).truncate(false).write(true).open(&path);
        let file = open().map_err(|error| Error::io(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file, former: former_path(ring_file)? }),
            Err(TryLockError::WouldBlock) => {
                let message = "a program changes the records of this ring, such as `fpring rebalance`; try again later";
                Err(Error::new(ErrorKind::Locked, message).in_file(&path))
            }
            Err(TryLockError::Error(error)) => Err(Error::io(&path, error)),
        }
    }

    /// Refuses a ring whose records are still being moved: an interrupted run may bring back what is removed now.
    ///
    /// # Errors
    /// `Locked` if a run of `fpring rebalance` was interrupted after it had replaced the ring file.
    pub fn check_settled(&self) -> Result<()> {
        if fs::symlink_metadata(&self.former).is_err() {
            return Ok(());
        }
        let message = "an interrupted `fpring rebalance` has to be run again before records are added or removed";
        Err(Error::new(ErrorKind::Locked, message).in_file(&self.former))
    }
}

/// The file that has the former ring while records are removed from nodes that they have left: NAME.former.
///
/// # Errors
/// As [`read`], if there is no ring file.
pub fn former_path(ring_file: &Path) -> Result<PathBuf> {
    beside(ring_file, ".former")
}

/// The path of the ring file without links, with an ending.
fn beside(ring_file: &Path, ending: &str) -> Result<PathBuf> {
    let path = fs::canonicalize(ring_file).map_err(|error| {
        // The error of reading says what to do where there is no file.
        read(ring_file).err().unwrap_or_else(|| Error::io(ring_file, error))
    })?;
    let mut name = OsString::from(path);
    name.push(ending);
    Ok(PathBuf::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn all_names_of_a_ring_file_have_one_lock() {
        let directory = tempfile::tempdir().unwrap();
        let [file, link] = ["ring.json", "link.json"].map(|name| directory.path().join(name));
        assert_eq!(Lock::take(&file).unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let lock = Lock::take(&file).unwrap();
        assert_eq!(Lock::take(&link).unwrap_err().kind(), ErrorKind::Locked);
        lock.check_settled().unwrap();
        fs::write(former_path(&link).unwrap(), "").unwrap();
        assert_eq!(lock.check_settled().unwrap_err().kind(), ErrorKind::Locked);
        drop(lock);
        Lock::take(&link).unwrap();
    }
}
