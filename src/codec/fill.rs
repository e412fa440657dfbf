//! How many keys go into a block, and in which kind.

use super::{Codes, flips, gap, split, xor};
use crate::bits::bit_length;
use crate::codec::kind::BlockKind;

/// Most keys in one block; the index counts them in 16 bits.
pub(crate) const MAX_KEYS: usize = 65_535;

const TRIED: usize = 5;

/// The kind of the next block, and how many of `keys` fit `budget` bytes.
///
/// `keys` are the remaining keys of the table, or at least [`MAX_KEYS`] of them. The last key of a block takes no bytes
/// here; it stands in the index.
pub(crate) fn fill_block(codes: &Codes, base: u64, keys: &[u64], budget: usize) -> (BlockKind, usize) {
    let keys = keys.get(..MAX_KEYS).unwrap_or(keys);
    let budget = u32::try_from(budget * 8).unwrap_or(u32::MAX);
    let coded = keys.split_last().map_or(&[][..], |(_, coded)| coded);
    match codes {
        Codes::Xor(code) => {
            let fitting = fitting(base, coded, [0], |_, previous, key, total: &mut [u32; 1]| {
                let (symbol, _, rest) = xor::split(previous, key);
                total[0] += code.length(symbol).unwrap_or(0) + rest;
                total[0] <= budget
            });
            (BlockKind::Xor, fitting.0 + 1)
        }
        Codes::Adaptive { flips } => {
            let widths = low_widths(base, coded);
            let start = if flips.is_some() { [0, 0, 0, 0, 0, flips::FRAME] } else { [0, 0, 0, 0, 0, u32::MAX] };
            let (count, totals) = fitting(base, coded, start, |at, previous, key, totals: &mut [u32; TRIED + 1]| {
                let delta = key.wrapping_sub(previous).wrapping_sub(1);
                let (gap_totals, flips_total) = totals.split_at_mut(TRIED);
                for (total, &width) in gap_totals.iter_mut().zip(&widths) {
                    *total = total.saturating_add(gap::cost(delta, width));
                }
                let flips_total = flips_total.first_mut().filter(|total| **total <= budget);
                if let (Some(code), Some(total)) = (flips, flips_total) {
                    *total = total.saturating_add(flips::cost(code, base.wrapping_sub(1), coded, at));
                }
                totals.iter().any(|&total| total <= budget)
            });
            let kinds = widths.iter().map(|&low_width| BlockKind::Gap { low_width }).chain([BlockKind::Flips]);
            // Gaps decode faster: flips have to be strictly smaller.
            let best = kinds.zip(totals).min_by_key(|&(_, total)| total);
            (best.map_or(BlockKind::Flips, |(kind, _)| kind), count + 1)
        }
    }
}

/// Adds up the costs of keys from `start` on until `fits` returns false. `fits` gets the key's number, the key before
/// it and the key. Returns how many keys fit, and their totals.
fn fitting<const N: usize>(
    base: u64,
    keys: &[u64],
    start: [u32; N],
    mut fits: impl FnMut(usize, u64, u64, &mut [u32; N]) -> bool,
) -> (usize, [u32; N]) {
    let mut totals = start;
    let mut previous = base.wrapping_sub(1);
    for (count, &key) in keys.iter().enumerate() {
        let before = totals;
        if !fits(count, previous, key, &mut totals) {
            return (count, before);
        }
        previous = key;
    }
    (keys.len(), totals)
}

/// The low widths worth trying: one bit above to three bits below the mean bit length of the first gaps.
pub(super) fn low_widths(base: u64, keys: &[u64]) -> [u32; TRIED] {
    const LOOK_AHEAD: usize = 64;
    let mut previous = base.wrapping_sub(1);
    let (mut sum, mut count) = (0, 0);
    for &key in keys.iter().take(LOOK_AHEAD) {
        sum += bit_length(key.wrapping_sub(previous).wrapping_sub(1));
        count += 1;
        previous = key;
    }
    let typical = sum.checked_div(count).unwrap_or(0);
    let lowest = typical.saturating_sub(3).min(split::MAX_LOW_WIDTH - 4);
    [lowest, lowest + 1, lowest + 2, lowest + 3, lowest + 4]
}
