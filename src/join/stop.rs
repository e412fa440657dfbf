//! Why a join ends early.

use crate::error::Error;

/// Whether a join goes on.
pub(crate) type Step = std::result::Result<(), Stop>;

/// Why a join ends before all pairs were found.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Nobody wants more.
    Enough,
    /// Something cannot be read or written.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
