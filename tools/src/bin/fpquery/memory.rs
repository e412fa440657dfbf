//! Division of the memory: `--memory`.

use std::path::Path;

use anyhow::bail;
use fpstore_tools::{memory, size};

/// Default memory for queries and answers; prefix filters have memory of their own then.
const DEFAULT: u64 = 1 << 30;

/// Least memory for answers.
const LEAST: u64 = 8 << 20;

/// Most bytes of a thread's answers that wait to be written.
const PIECE: u64 = 4 << 20;

/// Bytes for each part of the work, beside the store's index and filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Memory of the queries in a batch.
    pub(crate) queries: u64,
    /// Memory of their matches.
    pub(crate) answers: u64,
}

impl Memory {
    /// Returns the most memory of prefix filters: half of the limit, or `--filter-memory` if that is less.
    pub(crate) fn filters(asked: Option<u64>, filters: Option<u64>) -> Option<u64> {
        let half = asked.map(|asked| memory::of_load(Some(asked)) / 2);
        match (half, filters) {
            (Some(half), Some(filters)) => Some(half.min(filters)),
            (half, filters) => half.or(filters),
        }
    }

    /// Divides the memory that remains beside the documents in flight and an open store with its filters, which take
    /// this many bytes.
    pub(crate) fn beside(asked: Option<u64>, documents: u64, store: &Path, taken: u64) -> anyhow::Result<Self> {
        let left = match asked {
            None => DEFAULT,
            Some(asked) => {
                let has = memory::of_load(Some(asked)).saturating_sub(documents);
                if has < taken.saturating_add(LEAST) {
                    let least = size::at_least((asked - has + LEAST).saturating_add(taken));
                    bail!(
                        "--memory {}: what is in memory of {} takes {} of it; give {least} at least",
                        size::at_least(asked),
                        store.display(),
                        size::at_least(taken)
                    );
                }
                has - taken
            }
        };
        Ok(Self { queries: left / 4, answers: left / 4 * 3 })
    }

    /// Returns the bytes of answers that each of `pieces` pieces may hold before it is written.
    pub(crate) fn piece(self, pieces: usize) -> usize {
        // Buffers grow by doubling.
        bytes((self.answers / 4 / pieces as u64).min(PIECE))
    }

    /// Returns the memory for the matches of one query while all threads answer some.
    pub(crate) fn of_thread(self) -> usize {
        bytes(self.answers / 2 / rayon::current_num_threads() as u64)
    }

    /// Returns the memory for the matches of one query that is answered alone.
    pub(crate) fn of_one(self) -> usize {
        bytes(self.answers / 2)
    }
}

fn bytes(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
