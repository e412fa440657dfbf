//! The costs of a design on given data.
//!
//! Real fingerprints come in families, and queries are near stored ones: they find existing prefixes far more often
//! than by chance, and where keys are dense. So the prediction simulates some hundred queries on the data itself,
//! without building anything. For each table
//!
//! * block keys come from a sorted sample of the table's keys (`blocks`), so that the prefix length is that of an open
//!   store, and prefixes lead to blocks as in its index;
//! * with a filter, one pass over all fingerprints finds the queries' prefixes that exist (`wanted`); the others pass
//!   at the filter's false positive rate, which for lines is found from the data too (`unsure`);
//! * the bits of a key, and so the keys of a block, are estimated from runs of neighbours (`bits`).
//!
//! The time is bounded: at most [`MOST_WANTED`] prefixes a table, and one pass. All listed designs together are 56
//! tables.

mod bits;
mod blocks;
mod unsure;
mod wanted;

use super::cost::{Cost, Goal, ProbedTable, Step, Workload, cost, even_bits, evenly, probed};
use super::filter_shape::FilterShape;
use super::masks::masks;
use super::probing::{self, Probing};
use super::{Design, Permutation};
use crate::error::Result;
use crate::executor::Executor;
use crate::fingerprint::leading_ones;
use blocks::{BlockKeys, Visited, number};
use rayon::prelude::*;
use std::sync::Arc;
use wanted::Wanted;

/// The width of measured fingerprints; predictions for wider ones are those for evenly spread keys.
const WIDTH: u32 = 64;
const QUERIES: usize = 512;
/// Fewest simulated queries of a table, for any number of prefixes.
const LEAST_QUERIES: usize = 16;
/// Most prefixes of all queries together in a table.
const MOST_WANTED: usize = 1 << 17;
/// A query with more prefixes in one table is not simulated.
const MOST_MASKS: f64 = 65_536.0;
/// Most bits of a sample query that differ from the stored fingerprint it was made from.
const MOST_FLIPS: u64 = 3;

/// The skew of given fingerprints, as far as it affects the costs of queries.
///
/// Predictions are for queries *near stored fingerprints*: a sample of stored values with none to three random bits
/// flipped, from a fixed seed. A query that is near none costs less: if half of the queries are such, expect between
/// half of the predicted blocks and all of them.
///
/// ```
/// use fpstore::plan::{Design, Skew, Workload};
/// let fingerprints: Vec<u64> = (1..=100_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
/// let skew = Skew::new(fingerprints);
/// let workload = Workload { fingerprints: 100_000, width: 64, distance: 3, block_size: 512, filter: true };
/// let cost = skew.predict(Design::Tables { parts: 2 }, &workload)?;
/// assert!(!cost.scan && cost.blocks < 20.0);
/// # Ok::<(), fpstore::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Skew {
    /// Sorted and distinct.
    fingerprints: Arc<Vec<u64>>,
    queries: Vec<u64>,
    /// Ratio of a key's bits to those of evenly spread keys.
    bits_ratio: f64,
    executor: Arc<Executor>,
}

impl Skew {
    /// Measures fingerprints in any order; equal ones count once.
    #[must_use]
    pub fn new(fingerprints: Vec<u64>) -> Self {
        Self::by(fingerprints, Arc::default())
    }

    pub(crate) fn by(mut fingerprints: Vec<u64>, executor: Arc<Executor>) -> Self {
        fingerprints.sort_unstable();
        fingerprints.dedup();
        Self::of_sorted(Arc::new(fingerprints), executor)
    }

    /// Predicts on this many threads instead of one a processor.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.executor = Arc::new(Executor::new(threads));
        self
    }

    /// For sorted, distinct fingerprints.
    pub(crate) fn of_sorted(fingerprints: Arc<Vec<u64>>, executor: Arc<Executor>) -> Self {
        let queries = queries(&fingerprints);
        let even = even_bits(number(&fingerprints), WIDTH);
        let bits_ratio = bits::of_a_key(&fingerprints).map_or(1.0, |bits| bits / even);
        Self { fingerprints, queries, bits_ratio, executor }
    }

    /// Number of distinct fingerprints.
    #[must_use]
    pub fn fingerprints(&self) -> u64 {
        self.fingerprints.len() as u64
    }

    /// The costs of a design on this data.
    ///
    /// A workload of more fingerprints is assumed to have more families of the same size. Queries then meet the same
    /// families, at the larger store's prefix lengths, and as many unrelated keys as among evenly spread ones. Without
    /// data the result is that of [`super::predict`].
    ///
    /// # Errors
    /// `InvalidInput` if the design does not fit the width.
    pub fn predict(&self, design: Design, workload: &Workload) -> Result<Cost> {
        if self.fingerprints.is_empty() || workload.width != WIDTH {
            return super::predict(design, workload);
        }
        let probed = probed(design, workload, self.bits_ratio)?;
        let steps = self.executor.run(|| Ok(probed.par_iter().map(|table| self.step(table)).collect::<Vec<Step>>()))?;
        cost(design, workload, self.bits_ratio, &steps)
    }

    /// The listed design with the best score on this data.
    ///
    /// Skew makes queries more expensive than on evenly spread keys of the same size. So designs are tried in the order
    /// of their scores there, until those alone are clearly worse than the best so far.
    ///
    /// # Errors
    /// `InvalidInput` if no listed design fits the workload's width.
    pub fn recommend(&self, goal: Goal, workload: &Workload) -> Result<Design> {
        /// If many keys share a prefix, filters have fewer false positives than on evenly spread keys, and queries cost
        /// less, but hardly less than this ratio.
        const LEAST: f64 = 0.5;
        let evenly = |(listed, design)| Ok((goal.score(&evenly(design, workload, self.bits_ratio)?), listed, design));
        let mut designs =
            Design::listed(workload.width).into_iter().enumerate().map(evenly).collect::<Result<Vec<_>>>()?;
        designs.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        let mut best: Option<(f64, usize, Design)> = None;
        for (evenly, listed, design) in designs {
            if best.is_some_and(|(score, ..)| score < LEAST * evenly) {
                break;
            }
            // Of equal ones the first in the list, as in `best`.
            let score = goal.score(&self.predict(design, workload)?);
            if best.is_none_or(|(least, first, _)| score < least || score <= least && listed < first) {
                best = Some((score, listed, design));
            }
        }
        Ok(best.map_or(Design::Tables { parts: 2 }, |(.., design)| design))
    }

    fn step(&self, table: &ProbedTable) -> Step {
        let table = &ProbedTable { filter: self.filter(table), ..table.clone() };
        let size = table.size;
        let growth = size.keys / number(&self.fingerprints);
        let blocks = BlockKeys::new(&self.fingerprints, &table.layout.permutation, size.blocks);
        let covered = blocks.covered(size.blocks);
        let reach = |prefix: u32| covered.get(prefix as usize).copied().unwrap_or(0.0);
        let chosen = probing::choose(table.shape(WIDTH), table.radius, reach);
        let filter = table.filter.filter(|_| chosen.filtered);
        let done = |places: f64, read: f64| {
            let read = read.min(size.blocks);
            let candidates = read * size.block_keys;
            let nanos = probing::nanos(chosen.filtered, chosen.probes, places, read, candidates);
            Step { planned: chosen.nanos, probes: chosen.probes, blocks: read, candidates, nanos }
        };
        let most = filter.map_or(chosen.probes, |filter| filter.wanted(table.radius, table.distance));
        if most > MOST_MASKS || filter.is_none() && growth > 1.0 {
            return done(chosen.places, chosen.blocks);
        }
        let all = || masks(chosen.prefix, table.radius);
        let masks = filter.map_or_else(all, |filter| filter.wanted_masks(table.radius, table.distance));
        let queries = self.queries.iter().take((MOST_WANTED / masks.len()).max(LEAST_QUERIES));
        let homes: Vec<u64> = queries.map(|&query| home(query, &table.layout.permutation, chosen)).collect();
        let Some(filter) = filter else {
            let visited = blocks.visit(&homes, &masks, chosen.prefix, |_| true);
            return done(visited.places, visited.blocks);
        };
        let wanted = Wanted::new(homes.iter().flat_map(|home| masks.iter().map(move |mask| home ^ mask)));
        let found = wanted.find(&self.fingerprints, &table.layout.permutation, chosen.prefix);
        let visited = blocks.visit(&homes, &masks, chosen.prefix, |first| found.has(first));
        // Some of the prefixes that do not exist here exist in a larger store, and some are false positives.
        let Visited { places: exist, blocks: read } = visited;
        let by_chance = (size.keys - number(&self.fingerprints)).max(0.0) / 2f64.powf(chosen.prefix.into());
        let wrong = filter.false_positives_of(found.distinct_prefixes() * growth);
        let more = (most - exist).max(0.0) * by_chance.min(1.0) + (chosen.probes - exist).max(0.0) * wrong;
        done(exist + more, read + more * (1.0 + size.blocks / 2f64.powf(chosen.prefix.into())))
    }

    /// The filter of a table, with as many keys without a place as there would be of these fingerprints; as for evenly
    /// spread keys, if these are too few for such a filter.
    fn filter(&self, table: &ProbedTable) -> Option<FilterShape> {
        let of_these = FilterShape::of_table(table.form, self.fingerprints(), table.layout.leading, Some(table.radius));
        let (Some(filter @ FilterShape::Lines(_)), Some(FilterShape::Lines(lines))) = (table.filter, of_these) else {
            return table.filter;
        };
        Some(filter.of_unsure(unsure::share(&self.fingerprints, &table.layout.permutation, lines)))
    }
}

fn home(query: u64, permutation: &Permutation, chosen: Probing) -> u64 {
    permutation.apply(query) & leading_ones(chosen.prefix)
}

/// Stored values with up to [`MOST_FLIPS`] random bits flipped.
fn queries(fingerprints: &[u64]) -> Vec<u64> {
    let mut random = Random(20_070_508);
    let query = |_| {
        let stored = *fingerprints.get(random.below(fingerprints.len() as u64))?;
        let flips = random.below(MOST_FLIPS + 1);
        let mut mask = 0u64;
        while mask.count_ones() < u32::try_from(flips).unwrap_or(0) {
            mask |= 1 << random.below(WIDTH.into());
        }
        Some(stored ^ mask)
    };
    (0..QUERIES).filter_map(query).collect()
}

/// Splitmix64: the same sample on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `limit`; 0 if there is none.
    #[expect(clippy::cast_possible_truncation, reason = "below the length of something in memory")]
    fn below(&mut self, limit: u64) -> usize {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as usize
    }
}

/// Splitmix64 of one number: a bijection.
pub(crate) fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
