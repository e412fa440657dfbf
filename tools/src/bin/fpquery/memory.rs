//! How the memory is shared out: `--memory`.

use anyhow::bail;
use fpstore::{Fingerprint, Store};
use fpstore_tools::{memory, size};

/// Memory for queries and answers where none is told; prefix filters have their own then.
const DEFAULT: u64 = 1 << 30;

/// The least with which answers can be given.
const LEAST: u64 = 8 << 20;

/// Most answers of a thread that wait to be written.
const PIECE: u64 = 4 << 20;

/// Bytes for each part of the work, beside the store's index and filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Queries that are answered together.
    pub(crate) queries: u64,
    /// What is found of them.
    pub(crate) answers: u64,
}

impl Memory {
    /// The most that prefix filters may take: half of what was told, or what `--filter-memory` says if that is less.
    pub(crate) fn filters(asked: Option<u64>, filters: Option<u64>) -> Option<u64> {
        let half = asked.map(|asked| memory::of_load(Some(asked)) / 2);
        match (half, filters) {
            (Some(half), Some(filters)) => Some(half.min(filters)),
            (half, filters) => half.or(filters),
        }
    }

    /// What an open store leaves, and documents that are read and take so much of what was asked for.
    pub(crate) fn beside<F: Fingerprint>(asked: Option<u64>, documents: u64, store: &Store<F>) -> anyhow::Result<Self> {
        let left = match asked {
            None => DEFAULT,
            Some(asked) => {
                let filters = store.filter_statistics();
                let taken = store.statistics().resident_bytes + filters.wanted_bytes - filters.refused_bytes;
                let has = memory::of_load(Some(asked)).saturating_sub(documents);
                if has < taken + LEAST {
                    let least = size::at_least(asked - has + taken + LEAST);
                    bail!(
                        "--memory {}: the index of {} and its prefix filters take {} of it; give {least} at least",
                        size::at_least(asked),
                        store.path().display(),
                        size::at_least(taken)
                    );
                }
                has - taken
            }
        };
        Ok(Self { queries: left / 4, answers: left / 4 * 3 })
    }

    /// Answers that each of so many pieces may hold before it is written.
    pub(crate) fn piece(self, pieces: usize) -> usize {
        // Texts grow by doubling.
        bytes((self.answers / 4 / pieces as u64).min(PIECE))
    }

    /// What is found of one query while all threads answer some.
    pub(crate) fn of_thread(self) -> usize {
        bytes(self.answers / 2 / rayon::current_num_threads() as u64)
    }

    /// What is found of one query that is answered by itself.
    pub(crate) fn of_one(self) -> usize {
        bytes(self.answers / 2)
    }
}

fn bytes(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
