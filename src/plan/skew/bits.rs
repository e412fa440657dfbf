//! The bits of a key in a table, estimated without encoding it.
//!
//! Runs of neighbours stand for blocks, each in the cheaper of the two encodings of `codec`: gaps, at the entropy of
//! random gaps, or flipped bits, whose first symbol (their number, and the highest) costs its entropy over all runs and
//! whose other bits are a choice of the places below the highest.

use crate::plan::cost::TABLE_OVERHEAD;
use std::collections::BTreeMap;

/// Keys of a run, about those of a block.
const RUN: usize = 128;
const RUNS: usize = 512;
/// Most flipped bits of a symbol; pairs with more are gaps.
const SPELLED: u32 = 8;

/// Bits a key of sorted, distinct ones, index and checksums included; `None` for fewer than a run.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(super) fn of_a_key(sorted: &[u64]) -> Option<f64> {
    let stride = (sorted.len() / RUN / RUNS).max(1);
    let runs: Vec<&[u64]> = sorted.chunks_exact(RUN).step_by(stride).collect();
    let mut symbols: BTreeMap<Symbol, u32> = BTreeMap::new();
    runs.iter().flat_map(|run| pairs(run)).for_each(|(a, b)| *symbols.entry(symbol(a, b)).or_default() += 1);
    let all = f64::from(symbols.values().sum::<u32>());
    let costs = runs.iter().map(|run| {
        let gap = |a: u64, b: u64| ((b - a) as f64).log2() + std::f64::consts::LOG2_E;
        let (&first, &last) = (run.first()?, run.last()?);
        let even = gap(0, (last - first) / (RUN as u64 - 1));
        let spelled = pairs(run).map(|(a, b)| {
            let symbol = symbol(a, b);
            let code = (all / symbols.get(&symbol).copied().map_or(1.0, f64::from)).log2();
            code + symbol.map_or_else(|| gap(a, b), |(flips, top)| choices(top, flips - 1))
        });
        Some(even.min(spelled.sum::<f64>() / (RUN as f64 - 1.0)).max(1.0))
    });
    let total: f64 = costs.clone().flatten().sum();
    (!runs.is_empty()).then(|| total / runs.len() as f64 * TABLE_OVERHEAD)
}

/// Number of flipped bits and the highest; `None` for too many.
type Symbol = Option<(u32, u32)>;

fn symbol(a: u64, b: u64) -> Symbol {
    let flipped = a ^ b;
    let flips = flipped.count_ones();
    (1..=SPELLED).contains(&flips).then(|| (flips, flipped.ilog2()))
}

/// log2 of the number of choices of `k` of `n` places.
fn choices(n: u32, k: u32) -> f64 {
    (0..k.min(n)).map(|i| (f64::from(n - i) / f64::from(i + 1)).log2()).sum()
}

fn pairs(run: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    run.iter().copied().zip(run.iter().copied().skip(1))
}
