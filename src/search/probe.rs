//! Probing the tables of a segment.

use super::segment_plan::{SegmentPlan, TableProbe};
use super::{Found, Work, scan_segment};
use crate::bits::low_mask;
use crate::error::Result;
use crate::fingerprint::{WIDTH, distance, leading_ones};
use crate::segment::{Scratch, Segment, Table};
use std::ops::ControlFlow;

/// Keys that are compared together.
const LOT: usize = 32;

/// Calls `visit` for every fingerprint of a segment within distance `k`, once for each table that sees it, until it
/// breaks.
///
/// # Errors
/// `Damaged` or `Io` from reading blocks, or what `visit` returns.
pub(crate) fn search_segment<B>(
    segment: &Segment,
    plan: &SegmentPlan,
    query: u64,
    k: u32,
    scratch: &mut Scratch,
    work: &mut Work,
    mut visit: impl FnMut(Found) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    let SegmentPlan::Probe(probes) = plan else {
        return scan_segment(segment, query, k, scratch, work, visit);
    };
    let mut blocks = Vec::new();
    for probe in probes {
        let Some(table) = segment.tables().get(probe.table) else { continue };
        let key = table.layout().permutation.apply(query);
        blocks.clear();
        work.probes += places(table, key, *probe, &mut blocks);
        blocks.sort_unstable();
        blocks.dedup();
        for &block in &blocks {
            let found = visit_block(table, block, probe.table == 0, key, k, scratch, work, &mut visit)?;
            if found.is_break() {
                return Ok(found);
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Decodes a block and visits its keys within distance `k` of `key`.
#[expect(clippy::too_many_arguments, reason = "one call's worth of state; a struct would only rename it")]
pub(super) fn visit_block<B>(
    table: &Table,
    block: usize,
    ranked: bool,
    key: u64,
    k: u32,
    scratch: &mut Scratch,
    work: &mut Work,
    visit: &mut impl FnMut(Found) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    let keys = table.block(block, scratch)?;
    work.blocks += 1;
    work.candidates += keys.len() as u64;
    for (number, lot) in keys.chunks(LOT).enumerate() {
        // Hardly any lot has a match. Looking without leaving early lets the compiler compare several keys at a time.
        if !lot.iter().fold(false, |any, &candidate| any | (distance(candidate, key) <= k)) {
            continue;
        }
        for (&candidate, position) in lot.iter().zip(number * LOT..).filter(|&(&one, _)| distance(one, key) <= k) {
            let rank = ranked.then(|| table.index().rank(block) + position as u64);
            let found = visit(Found { fingerprint: table.layout().permutation.invert(candidate), rank });
            if found.is_break() {
                return Ok(found);
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Appends the blocks that may hold keys whose prefix is within the radius of the query's; returns the number of
/// prefixes.
fn places(table: &Table, key: u64, probe: TableProbe, blocks: &mut Vec<usize>) -> u64 {
    let index = table.index();
    let prefix_bits = leading_ones(probe.prefix);
    let mut probes = 0;
    for_each_flip(probe.prefix, probe.radius, |flips| {
        probes += 1;
        let first = (key ^ flips) & prefix_bits;
        let last = first | !prefix_bits;
        let mut block = index.find(first);
        // The range ends in the first block that reaches its last key.
        while let Some(block_key) = index.key(block) {
            blocks.push(block);
            if block_key >= last {
                break;
            }
            block += 1;
        }
    });
    probes
}

/// Calls `visit` with every mask of at most `radius` ones among the `prefix` leading bits.
fn for_each_flip(prefix: u32, radius: u32, mut visit: impl FnMut(u64)) {
    let shift = WIDTH - prefix;
    visit(0);
    for ones in 1..=radius.min(prefix) {
        let mut mask = low_mask(ones);
        let last = mask << (prefix - ones);
        loop {
            visit(mask << shift);
            if mask == last {
                break;
            }
            // The next greater number with as many ones (Gosper, HAKMEM item 175).
            let lowest = mask & mask.wrapping_neg();
            let ripple = mask + lowest;
            mask = ripple | (((mask ^ ripple) >> 2) / lowest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mask_once() {
        for (prefix, radius, count) in
            [(0, 3, 1), (1, 1, 2), (32, 1, 33), (20, 3, 1 + 20 + 190 + 1140), (64, 2, 2081), (5, 9, 32), (64, 1, 65)]
        {
            let mut seen = std::collections::BTreeSet::new();
            for_each_flip(prefix, radius, |mask| {
                assert!(mask.count_ones() <= radius && mask & !leading_ones(prefix) == 0);
                assert!(seen.insert(mask));
            });
            assert_eq!(seen.len(), count, "{prefix} {radius}");
        }
    }
}
