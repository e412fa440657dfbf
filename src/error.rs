//! The one error type of the library.
//!
//! An error has a message, a place (the path and, for bytes on disk, the offset) and a remedy. Programs branch on the
//! coarse [`ErrorKind`]; the text is for people.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// `std::result::Result` with this library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The coarse kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is nothing at the path.
    NotFound,
    /// There is a store or something else where a store was to be created.
    AlreadyExists,
    /// Bytes on disk are not the written ones: a checksum, a length or a field does not hold.
    Damaged,
    /// The file is sound but this version cannot read it, or this store does not support the request.
    Unsupported,
    /// An argument or an input record is not acceptable.
    InvalidInput,
    /// Another process has the store open for writing.
    Locked,
    /// The store was opened for reading only.
    ReadOnly,
    /// An earlier write failed and left the state on disk unknown; open the store again.
    Poisoned,
    /// The work was stopped.
    Stopped,
    /// The operating system refused; see the source error.
    Io,
}

/// An error of the library: message, place and remedy.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    path: Option<PathBuf>,
    offset: Option<u64>,
    row: Option<u64>,
    remedy: Option<&'static str>,
    source: Option<io::Error>,
    /// The device has, or would have, too little space.
    out_of_space: bool,
}

/// The source of an error: the store's directory is not the one that was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Displaced;

impl fmt::Display for Displaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the directory at this path is not the one that was opened, which was moved or removed")
    }
}

impl std::error::Error for Displaced {}

pub(crate) const LARGER_TMP_DIR: &str = "free some space there, or make temporary files on a larger device";

impl Error {
    /// An error without place and remedy.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            path: None,
            offset: None,
            row: None,
            remedy: None,
            source: None,
            out_of_space: false,
        }))
    }

    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Damaged, message)
            .with_remedy("run `fpdump verify` to see the extent, then restore the file from a copy or load it again")
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// An error of the operating system from `action` on `path`.
    pub(crate) fn io(action: &str, path: &Path, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            // A file that ends before its recorded length was cut after it was written.
            io::ErrorKind::UnexpectedEof => ErrorKind::Damaged,
            _ => ErrorKind::Io,
        };
        let displaced = source.get_ref().is_some_and(|source| source.is::<Displaced>());
        let remedy = match source.kind() {
            _ if displaced => Some("close the store, and open it where it is now; acknowledged writes are kept"),
            io::ErrorKind::StorageFull => Some("free some space on the device and run it again"),
            io::ErrorKind::QuotaExceeded => Some("free some space, or raise the quota, and run it again"),
            io::ErrorKind::FileTooLarge => Some("raise the limit of file sizes (ulimit -f) and run it again"),
            io::ErrorKind::PermissionDenied => Some("check the permissions of the directory and its files"),
            _ => None,
        };
        let mut error = Self::new(kind, format!("{action}: {source}")).at_path(path);
        error.0.remedy = remedy;
        error.0.source = Some(source);
        error
    }

    /// As [`Error::io`], for a temporary file in `directory`.
    pub(crate) fn temporary(action: &str, directory: &Path, source: io::Error) -> Self {
        let full = source.kind() == io::ErrorKind::StorageFull;
        let error = Self::io(action, directory, source);
        if full { error.with_remedy(LARGER_TMP_DIR) } else { error }
    }

    pub(crate) fn stopped() -> Self {
        Self::new(ErrorKind::Stopped, "stopped before the end")
    }

    pub(crate) fn no_thread(source: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Io, format!("cannot start threads: {source}"))
            .with_remedy("raise the limit of processes, or use fewer threads")
    }

    pub(crate) fn too_little_space(message: String, path: &Path) -> Self {
        let mut error = Self::new(ErrorKind::Io, message)
            .at_path(path)
            .with_remedy("free some space on the device, or put the store on a larger one");
        error.0.out_of_space = true;
        error
    }

    pub(crate) fn is_out_of_room(&self) -> bool {
        let full = |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        self.0.out_of_space || self.0.source.as_ref().is_some_and(|source| full(source.kind()))
    }

    pub(crate) fn is_displaced(&self) -> bool {
        let source = self.0.source.as_ref().and_then(io::Error::get_ref);
        source.is_some_and(|source| source.is::<Displaced>())
    }

    /// Sets the file, unless a deeper layer has set one.
    #[must_use]
    pub fn at_path(mut self, path: &Path) -> Self {
        self.0.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Sets the byte offset in the file, unless a deeper layer has set one.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Sets the row of a table, unless a deeper layer has set one.
    #[must_use]
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.row.get_or_insert(row);
        self
    }

    /// Adds the number of earlier rows to the row of the error, if it has one.
    #[must_use]
    pub fn after_rows(mut self, rows: u64) -> Self {
        self.0.row = self.0.row.map(|row| row.saturating_add(rows));
        self
    }

    /// Sets the remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &'static str) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file or directory concerned, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The byte offset in the file, if the error is about bytes on disk.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The row of the input, counted from 0, if the error is about a record of a table.
    #[must_use]
    pub fn row(&self) -> Option<u64> {
        self.0.row
    }

    /// The message without place and remedy.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(row) = self.0.row {
            write!(f, "row {row}: ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(offset) = self.0.offset {
            write!(f, " (at byte {offset})")?;
        }
        if let Some(remedy) = self.0.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_place_of_the_deepest_layer_and_the_remedy() {
        let error = Error::damaged("page checksum does not match").at_path(Path::new("s/1.segment")).at_offset(4096);
        let error = error.at_path(Path::new("outer")).at_offset(2);
        let text = error.to_string();
        assert!(
            text.starts_with("s/1.segment: page checksum does not match (at byte 4096); run `fpdump verify`"),
            "{text}"
        );
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert_eq!((error.path(), error.offset()), (Some(Path::new("s/1.segment")), Some(4096)));
    }

    #[test]
    fn counts_rows_from_the_beginning_of_the_input() {
        let error = Error::invalid("the id is null").at_row(2).at_row(7).after_rows(100);
        assert_eq!((error.row(), error.to_string().as_str()), (Some(102), "row 102: the id is null"));
        assert_eq!(Error::invalid("no row").after_rows(100).row(), None);
    }
}
