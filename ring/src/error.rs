//! The error of this package.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The coarse cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no file at the path.
    NotFound,
    /// There is a file where one was to be created.
    AlreadyExists,
    /// The file is not a ring file, or breaks a rule of the format.
    Damaged,
    /// The file has a later version of the format, or a hash that this version does not know.
    Unsupported,
    /// A process changes the records of the ring, or was interrupted.
    Locked,
    /// An argument is not acceptable.
    InvalidInput,
    /// The operating system refused; see the source error.
    Io,
}

/// An error: its kind, the file it concerns, and what to do about it.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    path: Option<PathBuf>,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), path: None, source: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            _ => ErrorKind::Io,
        };
        Self { kind, message: error.to_string(), path: Some(path.to_owned()), source: Some(error) }
    }

    /// The same error of a file: what is not acceptable as an argument is damage there.
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        if self.kind == ErrorKind::InvalidInput {
            self.kind = ErrorKind::Damaged;
        }
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The coarse cause.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The file that the error concerns.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The message without the path.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
