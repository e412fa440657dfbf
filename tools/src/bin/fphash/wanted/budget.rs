//! Divides `--memory`: first the ids, then the documents that are read, then the texts that are compared.

use fpstore_tools::memory;

use super::ids::Ids;
use crate::lines::MEMORY;

/// The memory limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget(u64);

impl Budget {
    pub(crate) fn new(asked: Option<u64>) -> Self {
        Self(asked.unwrap_or(MEMORY))
    }

    /// Returns the memory beside that of the program itself.
    fn free(self) -> u64 {
        memory::of_load(Some(self.0))
    }

    /// Returns the most memory of ids.
    pub(crate) fn ids(self) -> u64 {
        self.free() / 2
    }

    /// Returns the memory of the program without these ids, while documents are read.
    pub(crate) fn documents(self, ids: &Ids) -> Option<u64> {
        Some(self.0.saturating_sub(ids.memory()))
    }

    /// Returns the memory that is left for texts that are compared.
    pub(crate) fn texts(self, ids: &Ids) -> u64 {
        self.free().saturating_sub(ids.memory())
    }
}
