//! The keys of the tables that a segment would have: all of them, or a sample.
//!
//! A sample must be as dense as the whole, or its gaps would take more bits a key. So it consists of *runs*, ranges of
//! the sorted keys with all keys in them, spread evenly over the table. The *splitters* of a table give the bounds of
//! its runs: fingerprints at equal ranks, as keys of that table, sorted. Adjacent splitters enclose about equally many
//! keys for any distribution.
//!
//! Runs are then moved together: gaps between them would distort the training of the codec and widen chunks of the
//! index. A run moves by a multiple of a large power of two, so that its neighbours still differ in the same bits.

use crate::bits::bit_length;
use crate::error::Result;
use crate::extsort::sorted;
use crate::format::Parameters;
use crate::inspect::segment_view::SegmentView;
use crate::plan::Permutation;
use rayon::prelude::*;

/// Splitters of a table, about.
const SPLITTERS: usize = 1 << 16;
/// Maximum number of runs of a sample, and minimum number of keys of a run.
const RUNS: usize = 64;
const SHORTEST_RUN: usize = 1 << 12;

/// The fingerprints of a segment, or the splitters for sampling them.
pub(super) struct Keys<'a> {
    segment: &'a SegmentView,
    fingerprints: u64,
    /// Number of keys of a sample; `None` = all are encoded.
    sample: Option<usize>,
    /// All fingerprints in ascending order, or the splitters.
    kept: Vec<u64>,
}

impl<'a> Keys<'a> {
    /// All fingerprints of a segment that has at most `sample` of them, or the splitters for a sample of about this
    /// many.
    pub(super) fn new(segment: &'a SegmentView, sample: usize) -> Result<Self> {
        let fingerprints = segment.statistics().fingerprints;
        let sample = (fingerprints > sample as u64).then_some(sample.max(1));
        let step = if sample.is_some() { fingerprints.div_ceil(SPLITTERS as u64).max(1) } else { 1 };
        let mut kept = Vec::new();
        for block in segment.blocks(0)? {
            let block = block?;
            let ranks = block.rank..;
            kept.extend(block.keys.iter().zip(ranks).filter(|(_, rank)| rank.is_multiple_of(step)).map(|(key, _)| key));
        }
        Ok(Self { segment, fingerprints, sample, kept })
    }

    pub(super) fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    /// About how many keys [`Keys::of_table`] returns.
    pub(super) fn encoded(&self) -> usize {
        self.sample.unwrap_or(self.kept.len())
    }

    pub(super) fn of_table(&self, permutation: &Permutation) -> Result<Vec<u64>> {
        let mut keys = sorted(&self.kept, |_, &fingerprint| permutation.apply(fingerprint), |&key| key);
        let Some(sample) = self.sample else { return Ok(keys) };
        let runs = runs(&keys, self.fingerprints, sample);
        keys.clear();
        for block in self.segment.blocks(0)? {
            let of_block = block?.keys.into_iter().map(|fingerprint| permutation.apply(fingerprint));
            keys.extend(of_block.filter_map(|key| moved(&runs, key)));
        }
        keys.par_sort_unstable();
        Ok(keys)
    }
}

/// A run of a sample: the keys from `first` on that are less than `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct KeyRun {
    first: u64,
    /// `None` = the end of the table.
    end: Option<u64>,
    /// The difference by which its keys move down.
    by: u64,
}

/// The moved key; `None` if it is in no run.
fn moved(runs: &[KeyRun], key: u64) -> Option<u64> {
    let run = runs.get(runs.partition_point(|run| run.first <= key).checked_sub(1)?)?;
    run.end.is_none_or(|end| key < end).then(|| key - run.by)
}

/// The runs of a sample of about `sample` of `all` keys, each moved to the end of the one before it.
fn runs(splitters: &[u64], all: u64, sample: usize) -> Vec<KeyRun> {
    let count = (sample / SHORTEST_RUN).clamp(1, RUNS);
    let apart = splitters.len() / count;
    let wanted = (splitters.len() as u128 * sample as u128).div_ceil((u128::from(all) * count as u128).max(1));
    let length = usize::try_from(wanted).unwrap_or(apart).clamp(1, apart.max(1));
    let mut runs = Vec::new();
    let mut moved_to = 0;
    for run in 0..count {
        let start = run * splitters.len() / count + (apart - length.min(apart)) / 2;
        let Some(&first) = splitters.get(start) else { break };
        let end = splitters.get(start + length).copied();
        // A multiple of about a hundredth of the run, for which the run begins a little later.
        let unit = 1 << bit_length(end.unwrap_or(u64::MAX) - first).saturating_sub(7);
        let Some(by) = (first - moved_to).checked_next_multiple_of(unit) else { break };
        runs.push(KeyRun { first: moved_to + by, end, by });
        moved_to = end.unwrap_or(u64::MAX) - by;
    }
    runs
}

/// The width of the fingerprints that can be encoded again.
pub(crate) const WIDTH: u32 = 64;

/// Bits of a stored key.
pub(super) fn bits_of(parameters: &Parameters) -> u32 {
    parameters.keys().map_or(WIDTH, |keys| u32::from(keys.key_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_spread_evenly_and_moved_together() {
        let even: Vec<u64> = (0..65_536).map(|i| i << 48 | 12_345).collect();
        let squares: Vec<u64> = (0..65_536).map(|i| (i * i) << 31).collect();
        for splitters in [even, squares] {
            for (all, sample) in [(10 << 20, 1 << 20), ((1 << 25) + 1, 1 << 25), (100 << 20, 1 << 13), (200_000, 100)] {
                let runs = runs(&splitters, all, sample);
                assert_eq!(runs.len(), (sample >> 12).clamp(1, 64));
                let place = |key: u64| splitters.partition_point(|&splitter| splitter < key);
                let within: usize = runs.iter().map(|run| run.end.map_or(65_536, place) - place(run.first)).sum();
                let expected = usize::try_from(65_536 * sample as u64 / all).unwrap();
                assert!(within.abs_diff(expected) <= runs.len() + expected / 50, "{within} of {expected}");
                let mut end = 0;
                for run in &runs {
                    assert_eq!(run.first - run.by, end, "{runs:?}");
                    let span = run.end.unwrap_or(u64::MAX) - run.first;
                    assert!(run.by.trailing_zeros() >= span.ilog2() - 7, "{runs:?}");
                    assert_eq!(moved(&runs, run.first), Some(end));
                    assert_eq!(moved(&runs, run.first + span - 1), Some(end + span - 1));
                    end += span;
                }
                assert!(runs.windows(2).all(|pair| moved(&runs, pair[1].first - 1).is_none_or(|key| key < end)));
            }
        }
        assert_eq!(moved(&runs(&[7, 9], 4, 2), 6), None);
        assert_eq!(runs(&[7, 9], 4, 2), [KeyRun { first: 7, end: Some(9), by: 7 }]);
        assert_eq!(runs(&[], 4, 2), []);
    }
}
