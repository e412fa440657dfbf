//! Divides `--memory`: first the ids, then the documents that are read, then the texts that are compared.

use fpsketch::Features;
use fpsketch::compare::Measure;

use fpstore_tools::memory;

use super::ids::Ids;
use crate::lines::MEMORY;

/// The memory limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(u64);

impl Budget {
    pub(super) fn new(asked: Option<u64>) -> Self {
        Self(asked.unwrap_or(MEMORY))
    }

    /// Returns the memory beside that of the program itself.
    fn free(self) -> u64 {
        memory::of_load(Some(self.0))
    }

    /// Returns the most memory of ids.
    pub(super) fn ids(self) -> u64 {
        self.free() / 2
    }

    /// Returns the memory of the program without these ids, while documents are read.
    pub(super) fn documents(self, ids: &Ids) -> Option<u64> {
        Some(self.0.saturating_sub(ids.memory()))
    }

    /// Returns the bytes of text that are compared at the same time: a comparison needs more than the texts.
    pub(super) fn batch(self, ids: &Ids, measure: Measure) -> u64 {
        self.free().saturating_sub(ids.memory()) / (1 + working(measure))
    }
}

/// Approximate working memory of a comparison, for each byte of its texts: a bit matrix, an automaton, tables of
/// features.
fn working(measure: Measure) -> u64 {
    match measure {
        Measure::Edit => 64,
        Measure::Substring => 512,
        Measure::Cosine(Features::Chars(_)) | Measure::Euclidean(Features::Chars(_)) => 200,
        Measure::Jaccard(Features::Chars(_)) => 200,
        Measure::Cosine(_) | Measure::Euclidean(_) | Measure::Jaccard(_) => 100,
    }
}
