//! Damages of a file.

use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::path::{Path, PathBuf};

/// A damaged place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// The part of the file, in the words of format-spec/.
    pub section: String,
    /// Offset of the damaged unit (a page, a chunk, a structure), or of the fault within it.
    pub offset: Option<u64>,
    /// The fault.
    pub message: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.section)?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Damage {
    /// Turns an error into the damage that it reports; returns every other error.
    pub(crate) fn from_error(path: &Path, section: &str, error: Error) -> Result<Self> {
        match error.kind() {
            // An unreadable part is as bad as a damaged one, and must not hide the others.
            ErrorKind::Io if error.offset().is_none() => Err(error),
            ErrorKind::Io | ErrorKind::Damaged | ErrorKind::NotFound | ErrorKind::Unsupported => Ok(Self {
                path: error.path().unwrap_or(path).to_owned(),
                section: section.to_owned(),
                offset: error.offset(),
                message: error.message().to_owned(),
            }),
            _ => Err(error),
        }
    }
}
