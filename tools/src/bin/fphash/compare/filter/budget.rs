//! How `--memory` is divided: first the ids, then what is left for documents that are read, then for texts that are compared.

use fpsketch::Features;
use fpsketch::compare::Measure;

use fpstore_tools::memory;

use super::ids::Ids;
use crate::lines::MEMORY;

/// The memory that there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(u64);

impl Budget {
    pub(super) fn new(asked: Option<u64>) -> Self {
        Self(asked.unwrap_or(MEMORY))
    }

    /// Beside what the program takes for itself.
    fn free(self) -> u64 {
        memory::of_load(Some(self.0))
    }

    /// Most for ids.
    pub(super) fn ids(self) -> u64 {
        self.free() / 2
    }

    /// Of the whole program but for these ids, while documents are read.
    pub(super) fn documents(self, ids: &Ids) -> Option<u64> {
        Some(self.0.saturating_sub(ids.memory()))
    }

    /// Bytes of text that are compared at the same time: each takes more than itself.
    pub(super) fn lot(self, ids: &Ids, measure: Measure) -> u64 {
        self.free().saturating_sub(ids.memory()) / (1 + working(measure))
    }
}

/// Bytes that a comparison takes for each byte of its texts, about: a matrix of bits, an automaton, tables of features.
fn working(measure: Measure) -> u64 {
    match measure {
        Measure::Edit => 64,
        Measure::Substring => 512,
        Measure::Cosine(Features::Chars(_)) | Measure::Euclidean(Features::Chars(_)) => 200,
        Measure::Jaccard(Features::Chars(_)) => 200,
        Measure::Cosine(_) | Measure::Euclidean(_) | Measure::Jaccard(_) => 100,
    }
}
