//! What can be wrong with a request: everything is found before the first document is read.

use std::fmt;

/// A request that makes no sense, with what would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

/// What functions here return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
