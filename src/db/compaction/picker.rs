//! Which runs are merged, and when. Pure: sizes in, a range out.
//!
//! Runs stand in the order of their ages, and only neighbours are merged, so that what is newer stays newer. Queries ask
//! every run, so there have to be few; merging rewrites what it merges, so it must not come too often. The rule:
//!
//! * **Sizes.** When a run's newer neighbours, [`FEWEST`] runs with it at least, are together as large as it, they become
//!   one with it. So of any [`FEWEST`] neighbours and those behind them the oldest is larger than all secondary together:
//!   there are at most log2(n / m) + FEWEST of them, for n bytes in all and m in the smallest; and a record is rewritten
//!   only when what it stands in at least doubles, at most log2(n / m) times.
//! * **Tombstones.** When runs newer than one remove a quarter of as many records as it has, they become one with it: what
//!   was removed takes no more than so much room for long.
//!
//! Of several ranges the one that begins with the oldest run is taken: what it leaves needs no merging at once.
//!
//! However fast records are written, memtables make no more runs than that, and one: a flush that would make another waits
//! until they are merged (`store::pressure`), unless merging fails.

use std::ops::Range;

/// Fewest runs that are merged because of their sizes.
pub(crate) const FEWEST: usize = 4;
/// When so many times the removed records are as many as those of an older run, it is merged.
const REMOVED_WEIGHT: u64 = 4;

/// What decides about a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunSize {
    /// Bytes of its files.
    pub(crate) bytes: u64,
    /// Its records.
    pub(crate) records: u64,
    /// Records that it removes from older ones, or says again.
    pub(crate) tombstones: u64,
}

/// The runs, oldest first, that are to be merged now, if any are.
pub(crate) fn due(runs: &[RunSize]) -> Option<Range<usize>> {
    let (mut bytes, mut tombstones, mut from) = (0u64, 0u64, None);
    for (number, run) in runs.iter().enumerate().rev() {
        let newer = runs.len() - number - 1;
        let by_size = newer + 1 >= FEWEST && bytes >= run.bytes;
        // A run of tombstones alone has nothing to lose.
        let by_removals = tombstones > 0 && run.records > 0 && tombstones.saturating_mul(REMOVED_WEIGHT) >= run.records;
        if by_size || by_removals {
            from = Some(number);
        }
        bytes = bytes.saturating_add(run.bytes);
        tombstones = tombstones.saturating_add(run.tombstones);
    }
    from.map(|from| from..runs.len())
}

/// How many runs there may be: more are due to be merged, whatever their sizes.
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
    fn neighbours_that_are_as_large_together_become_one() {
        assert_eq!(due(&sized(&[])), None);
        assert_eq!(due(&sized(&[1, 1, 1])), None);
        assert_eq!(due(&sized(&[1, 1, 1, 1])), Some(0..4));
        assert_eq!(due(&sized(&[100, 1, 1, 1])), None);
        assert_eq!(due(&sized(&[100, 1, 1, 1, 1])), Some(1..5));
        assert_eq!(due(&sized(&[7, 4, 1, 1, 1])), Some(0..5));
    }

    #[test]
    fn more_runs_than_there_may_be_are_due() {
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
        // As many as there may be, and none of them due.
        let most_of_all: Vec<u64> = [1, 1, 1].into_iter().chain((2..20).map(|n| 1 << n)).rev().collect();
        let runs = sized(&most_of_all);
        assert!(due(&runs).is_none() && runs.len() + 2 >= most(&runs), "{} {}", runs.len(), most(&runs));
    }

    #[test]
    fn removals_are_carried_out_when_they_are_many() {
        let removing = |tombstones| RunSize { bytes: 1, records: 0, tombstones };
        let runs = |tombstones| [sized(&[1000, 100]), vec![removing(tombstones)]].concat();
        assert_eq!(due(&runs(24)), None);
        assert_eq!(due(&runs(25)), Some(1..3));
        assert_eq!(due(&runs(250)), Some(0..3));
        assert_eq!(due(&[removing(5), removing(5)]), None);
    }

    /// The sizes after `flushes` of one each, and how much was written for them.
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
    fn there_are_few_runs_and_little_is_written_however_many_flushes_there_were() {
        for flushes in [10u64, 100, 1000, 10_000] {
            let (most, written) = history(flushes);
            let doublings = flushes.ilog2() as usize;
            assert!(most <= doublings + FEWEST, "{most} runs after {flushes}");
            assert!(written <= flushes * (doublings as u64 + 1), "{written} written for {flushes}");
        }
    }
}
