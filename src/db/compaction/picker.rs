//! Picks the runs to compact, by their sizes.
//!
//! Only neighbours in age are merged. Queries search every run, so there must be few; compaction rewrites records, so
//! it must not be frequent. The rule:
//!
//! * **Sizes.** When the newer neighbours of a run, at least [`FEWEST`] runs with it, are together as large as the run,
//!   all of them become one. So among [`FEWEST`] or more newest runs the oldest is larger than the others together:
//!   there are at most log2(n / m) + FEWEST runs, for n bytes in all and m in the smallest. And a record is rewritten
//!   only when its run at least doubles, at most log2(n / m) times.
//! * **Tombstones.** When the runs newer than a run remove a quarter of its records, all of them become one.
//!
//! Of several ranges, the one with the oldest run is taken.
//!
//! Memtables make no more than one run beyond [`most`]: a flush that would make another waits for compaction
//! (`db::pressure`), unless compaction fails.

use crate::version::Run;
use std::ops::Range;
use std::sync::Arc;

const FEWEST: usize = 4;
/// A run is merged when this many times the number of removed records is its number of records.
const REMOVED_WEIGHT: u64 = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunSize {
    pub(crate) bytes: u64,
    records: u64,
    /// Records that the run removes from older ones, or repeats.
    tombstones: u64,
}

pub(crate) fn sizes(runs: &[Arc<Run>]) -> Vec<RunSize> {
    let size = |run: &Arc<Run>| {
        let (entry, records) = (&run.entry, run.entry.records());
        let known = entry.net.and_then(|net| u64::try_from(i128::from(records) - i128::from(net)).ok());
        RunSize { bytes: entry.bytes(), records, tombstones: known.unwrap_or(entry.removed()) }
    };
    runs.iter().map(size).collect()
}

/// The runs, oldest first, that are due for compaction.
pub(crate) fn due(runs: &[RunSize]) -> Option<Range<usize>> {
    let (mut bytes, mut tombstones, mut from) = (0u64, 0u64, None);
    for (number, run) in runs.iter().enumerate().rev() {
        let newer = runs.len() - number - 1;
        let by_size = newer + 1 >= FEWEST && bytes >= run.bytes;
        let by_removals = tombstones > 0 && run.records > 0 && tombstones.saturating_mul(REMOVED_WEIGHT) >= run.records;
        if by_size || by_removals {
            from = Some(number);
        }
        bytes = bytes.saturating_add(run.bytes);
        tombstones = tombstones.saturating_add(run.tombstones);
    }
    from.map(|from| from..runs.len())
}

/// The largest number of runs of which none need be due.
pub(crate) fn most(runs: &[RunSize]) -> usize {
    let bytes = || runs.iter().map(|run| run.bytes.max(1));
    let (all, least) = (bytes().fold(0, u64::saturating_add), bytes().min().unwrap_or(1));
    FEWEST + (all / least).max(1).ilog2() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(bytes: &[u64]) -> Vec<RunSize> {
        bytes.iter().map(|&bytes| RunSize { bytes, records: bytes, tombstones: 0 }).collect()
    }

    #[test]
    fn neighbours_that_are_as_large_as_a_run_are_merged() {
        assert_eq!(due(&sized(&[])), None);
        assert_eq!(due(&sized(&[1, 1, 1])), None);
        assert_eq!(due(&sized(&[1, 1, 1, 1])), Some(0..4));
        assert_eq!(due(&sized(&[100, 1, 1, 1])), None);
        assert_eq!(due(&sized(&[100, 1, 1, 1, 1])), Some(1..5));
        assert_eq!(due(&sized(&[7, 4, 1, 1, 1])), Some(0..5));
    }

    #[test]
    fn more_runs_than_permitted_are_due() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state >> 33
        };
        for _ in 0..20_000 {
            let count = random() % 40;
            let runs: Vec<u64> = (0..count).map(|_| 1 + (random() >> (random() % 31))).collect();
            let runs = sized(&runs);
            assert!(runs.len() <= most(&runs) || due(&runs).is_some(), "{runs:?}");
        }
        // As many as permitted, and none of them due.
        let most_of_all: Vec<u64> = [1, 1, 1].into_iter().chain((2..20).map(|n| 1 << n)).rev().collect();
        let runs = sized(&most_of_all);
        assert!(due(&runs).is_none() && runs.len() + 2 >= most(&runs), "{} {}", runs.len(), most(&runs));
    }

    #[test]
    fn many_removals_are_merged() {
        let removing = |tombstones| RunSize { bytes: 1, records: 0, tombstones };
        let runs = |tombstones| [sized(&[1000, 100]), vec![removing(tombstones)]].concat();
        assert_eq!(due(&runs(24)), None);
        assert_eq!(due(&runs(25)), Some(1..3));
        assert_eq!(due(&runs(250)), Some(0..3));
        assert_eq!(due(&[removing(5), removing(5)]), None);
    }

    /// The largest number of runs during `flushes` of size one, and the total written.
    fn history(flushes: u64) -> (usize, u64) {
        let (mut runs, mut written, mut most) = (Vec::new(), 0, 0);
        for _ in 0..flushes {
            runs.push(1);
            written += 1;
            while let Some(range) = due(&sized(&runs)) {
                let merged = runs.drain(range).sum::<u64>();
                written += merged;
                runs.push(merged);
            }
            most = most.max(runs.len());
        }
        (most, written)
    }

    #[test]
    fn runs_are_few_and_writes_little_after_any_number_of_flushes() {
        for flushes in [10u64, 100, 1000, 10_000] {
            let (most, written) = history(flushes);
            let doublings = flushes.ilog2() as usize;
            assert!(most <= doublings + FEWEST, "{most} runs after {flushes}");
            assert!(written <= flushes * (doublings as u64 + 1), "{written} written for {flushes}");
        }
    }
}
