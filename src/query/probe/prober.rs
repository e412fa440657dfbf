//! Probing the tables of a segment, in stages.
//!
//! The time of a query is waiting for memory: every prefix leads to another place. So each stage is done for all
//! prefixes before the next one: compute the prefixes and prefetch where the filter has them; ask the filter; look
//! those that pass up in the block index; prefetch their blocks, and ask the disk for those that were not read before;
//! decode the blocks. Rows that narrow keys name come last, again many at a time.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, leading_ones};
use crate::plan::TableForm;
use crate::query::probe::compare::{Found, NamedRow, name_rows, visit_fingerprints, visit_rows};
use crate::query::probe::plan::TableProbe;
use crate::query_stats::QueryStats;
use crate::segment::{FilterPrefix, IndexSlot, Nearness, Scratch, Segment, Table};
use std::ops::{ControlFlow, Range};

/// Maximum number of prefixes in one stage: the memory that they prefetch fits the second-level cache.
const TOGETHER: usize = 512 + 32;

/// The prefixes of one table that its filter was asked for.
#[derive(Clone, Debug)]
struct ProbeRun {
    /// Number of the table's entry in the plan.
    step: u32,
    prefixes: Range<usize>,
}

/// A prefix to look up in the block index.
#[derive(Clone, Copy, Debug)]
struct ProbePlace {
    step: u32,
    /// The least and the greatest key with the prefix.
    first: u64,
    last: u64,
    slot: IndexSlot,
}

/// A block to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    step: u32,
    block: usize,
}

/// The buffers of the stages, reused from query to query.
#[derive(Debug, Default)]
pub(crate) struct Prober {
    /// Prefixes that filters were asked for, run by run.
    prefixes: Vec<FilterPrefix>,
    runs: Vec<ProbeRun>,
    places: Vec<ProbePlace>,
    visits: Vec<Visit>,
    rows: Vec<NamedRow>,
    pub(crate) scratch: Scratch,
}

impl Prober {
    /// Calls `visit` with each fingerprint within distance `k`, once or more for each table that sees it, until it
    /// breaks. Tries only the masks in `part`.
    pub(crate) fn probe<F: Fingerprint, B>(
        &mut self,
        segment: &Segment,
        (query, k): (F, u32),
        plan: &[TableProbe],
        part: ProbePart,
        stats: &mut QueryStats,
        visit: &mut impl FnMut(Found<F>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        for (step, probe) in (0u32..).zip(plan) {
            let Some(table) = segment.tables().get(probe.table) else { continue };
            let key = table.layout().permutation.head(query) & leading_ones(probe.prefix);
            for masks in part.of(&probe.masks).chunks(TOGETHER) {
                if self.prefixes.len() + self.places.len() + masks.len() > TOGETHER {
                    let found = self.finish(segment, (query, k), plan, stats, visit)?;
                    if found.is_break() {
                        return Ok(found);
                    }
                }
                stats.probes += masks.len() as u64;
                if let Some(filter) = probe.filter(table) {
                    let begin = self.prefixes.len();
                    filter.begin(key, masks, &mut self.prefixes);
                    self.runs.push(ProbeRun { step, prefixes: begin..self.prefixes.len() });
                } else {
                    let place = |first| {
                        let last = first | !leading_ones(probe.prefix);
                        ProbePlace { step, first, last, slot: table.index().slot(first) }
                    };
                    self.places.extend(masks.iter().map(|mask| place(key ^ mask)));
                }
            }
        }
        self.finish(segment, (query, k), plan, stats, visit)
    }

    /// Takes the gathered prefixes through all further stages.
    fn finish<F: Fingerprint, B>(
        &mut self,
        segment: &Segment,
        (query, k): (F, u32),
        plan: &[TableProbe],
        stats: &mut QueryStats,
        visit: &mut impl FnMut(Found<F>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        let of = |step: u32| {
            let probe = plan.get(step as usize)?;
            Some((probe, segment.tables().get(probe.table)?))
        };
        let filtered = |step: u32| of(step).and_then(|(probe, table)| Some((probe, table, probe.filter(table)?)));
        for &ProbeRun { step, ref prefixes } in &self.runs {
            let (Some((probe, table, filter)), Some(own)) = (filtered(step), self.prefixes.get(prefixes.clone()))
            else {
                continue;
            };
            let near = Nearness { radius: probe.radius, distance: k };
            let place = |first, last| ProbePlace { step, first, last, slot: table.index().slot(first) };
            filter.pass(own, near, |first, last| self.places.push(place(first, last)));
        }
        self.prefixes.clear();
        self.runs.clear();
        stats.index_lookups += self.places.len() as u64;
        for place in &self.places {
            of(place.step).into_iter().for_each(|(_, table)| table.index().prefetch_slot(place.slot));
        }
        // Taken, not borrowed: an error must not leave places, visits or rows to the next query.
        let (mut places, mut visits) = (std::mem::take(&mut self.places), std::mem::take(&mut self.visits));
        for place in places.drain(..) {
            let Some((_, table)) = of(place.step) else { continue };
            blocks_of(table, place, &mut visits)?;
        }
        self.places = places;
        once(&mut visits);
        if segment.tables().first().is_some_and(Table::is_cached) {
            for &Visit { step, block } in &visits {
                of(step).map_or(Ok(()), |(_, table)| table.announce(block))?;
            }
        }
        let mut rows = std::mem::take(&mut self.rows);
        let mut result = ControlFlow::Continue(());
        for Visit { step, block } in visits.drain(..) {
            let Some((probe, table)) = of(step) else { continue };
            if let TableForm::Narrow { lead, row } = table.form() {
                stats.blocks += 1;
                name_rows(table, (lead, row), block, (query, probe.radius), &mut self.scratch, &mut rows)?;
                continue;
            }
            result = visit_fingerprints(table, block, query, k, &mut self.scratch, stats, visit)?;
            if result.is_break() {
                break;
            }
        }
        self.visits = visits;
        if result.is_continue() && !rows.is_empty() {
            result = visit_rows(segment, (&[query], k), &rows, &mut self.scratch, stats, |_, found| visit(found))?;
        }
        rows.clear();
        self.rows = rows;
        Ok(result)
    }
}

/// A part of the masks of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbePart {
    All,
    /// The mask without flips, which most likely leads to a near key.
    Home,
    Others,
}

impl ProbePart {
    fn of(self, masks: &[u64]) -> &[u64] {
        let (home, others) = masks.split_at(masks.len().min(1));
        match self {
            Self::All => masks,
            Self::Home => home,
            Self::Others => others,
        }
    }
}

/// Appends the blocks that may hold keys with the prefix, and approaches them.
fn blocks_of(table: &Table, place: ProbePlace, visits: &mut Vec<Visit>) -> Result<()> {
    /// Flips of the prefix's last bits lead to the same few blocks again and again.
    const RECENT: usize = 8;
    let index = table.index();
    let mut block = index.find_in(place.slot, place.first)?;
    // The range ends in the first block that reaches its last key.
    loop {
        let visit = Visit { step: place.step, block };
        let is_recent = visits.iter().rev().take(RECENT).any(|recent| *recent == visit);
        let block_key = if is_recent { index.key(block)? } else { table.approach(block)? };
        let Some(block_key) = block_key else { break };
        if !is_recent {
            visits.push(visit);
        }
        // The next block of rows may begin with the same 64 bits.
        if block_key > place.last || (block_key == place.last && table.form() != TableForm::Rows) {
            break;
        }
        block += 1;
    }
    Ok(())
}

/// Drops repeated visits. [`blocks_of`] has found nearly all of them among few visits, but not among the many of wide
/// radii.
fn once(visits: &mut Vec<Visit>) {
    const MANY: usize = 64;
    if visits.len() > MANY {
        visits.sort_unstable();
        visits.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_visits_none_is_made_twice() {
        let all = |count: usize| -> Vec<Visit> {
            (0..3 * count).map(|number| Visit { step: 0, block: number * 7 % count }).collect()
        };
        let mut visits = all(50);
        once(&mut visits);
        let blocks: Vec<usize> = visits.iter().map(|visit| visit.block).collect();
        assert_eq!(blocks, (0..50).collect::<Vec<_>>());
        let mut few = all(10);
        once(&mut few);
        assert_eq!(few, all(10));
    }
}
