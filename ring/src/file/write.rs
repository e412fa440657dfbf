//! Writing a ring file: aside, synced, renamed, and the directory synced.

use super::format::print;
use crate::error::{Error, ErrorKind, Result};
use crate::ring::Ring;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes a ring to a new file, which appears whole.
///
/// # Errors
/// `AlreadyExists` if there is a file; `Io`.
pub fn create(path: &Path, ring: &Ring) -> Result<()> {
    let exists = || {
        let message = "there is a file already; remove it, or change it with `fpring add`, `remove` and `weight`";
        Error::new(ErrorKind::AlreadyExists, message).in_file(path)
    };
    // A link without a target is something, too.
    if fs::symlink_metadata(path).is_ok() {
        return Err(exists());
    }
    let file = aside(path, ring).map_err(|error| Error::io(path, error))?;
    file.persist_noclobber(path).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => Error::io(path, error.error),
    })?;
    sync_directory(path).map_err(|error| Error::io(path, error))
}

/// Replaces the ring in a file, or creates the file. It keeps its permissions, and a link its target.
///
/// # Errors
/// `Io`; the file is as before, unless only the sync of its directory has failed.
pub fn replace(path: &Path, ring: &Ring) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let write = || -> io::Result<()> {
        let file = aside(&target, ring)?;
        if let Ok(before) = fs::metadata(&target) {
            file.as_file().set_permissions(before.permissions())?;
        }
        file.persist(&target).map_err(|error| error.error)?;
        sync_directory(&target)
    };
    write().map_err(|error| Error::io(path, error))
}

/// Writes a ring to a file beside the final one, with the permissions of new files, and syncs it.
fn aside(path: &Path, ring: &Ring) -> io::Result<NamedTempFile> {
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The name of the temporary file would be confusing in the message.
    let mut file = builder.tempfile_in(directory_of(path)).map_err(|error| io::Error::from(error.kind()))?;
    file.write_all(print(ring).as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a rename durable.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    fs::File::open(directory_of(path))?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
