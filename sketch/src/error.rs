//! Errors in a request. All of them are found before the first document is read.

use std::fmt;

/// A request that cannot be met, with a hint at one that can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

/// The result of functions of this crate.
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
