//! The one error type of the library.
//!
//! Every error says what went wrong, where (path and, for bytes on disk, the offset) and what the user can do about
//! it. [`ErrorKind`] is coarse on purpose: it is what a caller branches on; the text is for people.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// `std::result::Result` with this library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What a caller can branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is nothing at the path.
    NotFound,
    /// A store was to be created where there is one, or where something else is.
    AlreadyExists,
    /// Bytes on disk are not what was written: a checksum, a length or a field does not hold.
    Damaged,
    /// The file is sound but this version cannot read it, or the request is not supported by this store.
    Unsupported,
    /// An argument or an input record is not acceptable.
    InvalidInput,
    /// Another process has the store open for writing.
    Locked,
    /// The store was opened for reading only.
    ReadOnly,
    /// An earlier write failed so that the state on disk is not known; open the store again.
    Poisoned,
    /// Somebody had the work stop.
    Stopped,
    /// The operating system refused; the source error says how.
    Io,
}

/// What went wrong, where, and what to do about it.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    path: Option<PathBuf>,
    offset: Option<u64>,
    remedy: Option<&'static str>,
    source: Option<io::Error>,
    /// There is, or would be, too little room on the device.
    out_of_room: bool,
}

/// The source of the error of a change in a store's directory that is another one than the one that was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Displaced;

impl fmt::Display for Displaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the directory at this path is not the one that was opened, which was moved or removed")
    }
}

impl std::error::Error for Displaced {}

/// What helps where temporary files do not fit.
const LARGER_TMP_DIR: &str = "free some space there, or make temporary files on a larger device";

impl Error {
    /// An error of `kind` with a sentence that says what went wrong.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            path: None,
            offset: None,
            remedy: None,
            source: None,
            out_of_room: false,
        }))
    }

    /// Bytes on disk that are not what was written.
    #[must_use]
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Damaged, message)
            .with_remedy("run `fpdump verify` to see the extent, then restore the file from a copy or load it again")
    }

    /// A caller's argument or record that is not acceptable.
    #[must_use]
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// What the operating system said while `action` was done to `path`.
    #[must_use]
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
            _ if displaced => Some("close the store, and open it where it is now; what was acknowledged is there"),
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

    /// What the operating system said when the action was tried on a temporary file in `directory`.
    #[must_use]
    pub(crate) fn temporary(action: &str, directory: &Path, source: io::Error) -> Self {
        let full = source.kind() == io::ErrorKind::StorageFull;
        let error = Self::io(action, directory, source);
        if full { error.with_remedy(LARGER_TMP_DIR) } else { error }
    }

    /// Somebody had the work stop.
    #[must_use]
    pub(crate) fn stopped() -> Self {
        Self::new(ErrorKind::Stopped, "stopped before the end")
    }

    /// The operating system has no thread for us.
    #[must_use]
    pub(crate) fn no_thread(source: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Io, format!("cannot start threads: {source}"))
            .with_remedy("raise the limit of processes, or use fewer threads")
    }

    /// There will be too little room on the device that `path` is on.
    #[must_use]
    pub(crate) fn too_little_room(message: String, path: &Path) -> Self {
        let mut error = Self::new(ErrorKind::Io, message)
            .at_path(path)
            .with_remedy("free some space on the device, or put the store on a larger one");
        error.0.out_of_room = true;
        error
    }

    /// There will be too little room for temporary files in `directory`.
    #[must_use]
    pub(crate) fn no_room(message: String, directory: &Path) -> Self {
        Self::new(ErrorKind::Io, message).at_path(directory).with_remedy(LARGER_TMP_DIR)
    }

    /// Whether the device has, or is known to get, too little room.
    #[must_use]
    pub(crate) fn is_out_of_room(&self) -> bool {
        let full = |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        self.0.out_of_room || self.0.source.as_ref().is_some_and(|source| full(source.kind()))
    }

    /// Whether the directory of the store is another one than the one that was opened.
    #[must_use]
    pub(crate) fn is_displaced(&self) -> bool {
        let source = self.0.source.as_ref().and_then(io::Error::get_ref);
        source.is_some_and(|source| source.is::<Displaced>())
    }

    /// Names the file, unless a deeper layer has named one already.
    #[must_use]
    pub fn at_path(mut self, path: &Path) -> Self {
        self.0.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Names the byte offset in the file, unless a deeper layer has named one already.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Says what the user can do about it.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &'static str) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// What a caller can branch on.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file or directory concerned, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The byte offset in the file, where the error is about bytes on disk.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// What went wrong, without place and remedy.
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
    fn names_file_offset_and_remedy() {
        let error = Error::damaged("page checksum does not match").at_path(Path::new("s/1.segment")).at_offset(4096);
        let text = error.to_string();
        assert!(
            text.starts_with("s/1.segment: page checksum does not match (at byte 4096); run `fpdump verify`"),
            "{text}"
        );
        assert_eq!(error.kind(), ErrorKind::Damaged);
    }

    #[test]
    fn the_deepest_layer_names_the_place() {
        let error = Error::invalid("x").at_path(Path::new("inner")).at_offset(1);
        let error = error.at_path(Path::new("outer")).at_offset(2);
        assert_eq!((error.path(), error.offset()), (Some(Path::new("inner")), Some(1)));
    }
}
