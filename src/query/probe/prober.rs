//! Probing the tables of a segment, in stages.
//!
//! What a query costs is waiting for memory: every prefix it asks for lies somewhere else. So nothing is fetched one
//! after another. All prefixes are computed and the filter's words asked for; those that the filter lets pass are
//! looked up in the block index, each step for all of them before the next one is taken; their blocks are asked for, of
//! the memory and, where they have not been read before, of the disk; and only then the first block is decoded. Rows
//! that narrow keys name are fetched last, again many at a time. Several queries may go together.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, leading_ones};
use crate::plan::TableForm;
use crate::query::probe::asked::Asked;
use crate::query::probe::found::Found;
use crate::query::probe::plan::TableProbe;
use crate::query::probe::visit::{NamedRow, Near, visit_block, visit_rows};
use crate::query_stats::QueryStats;
use crate::segment::{FilterPrefix, Scratch, Table};
use std::ops::ControlFlow;

/// Most prefixes that are on the way together: what they bring near fits the second-level cache.
const TOGETHER: usize = 512 + 32;

/// The prefixes of one query and table that a filter was asked for.
#[derive(Clone, Copy, Debug)]
struct ProbeRun {
    /// Number of the query.
    query: u32,
    /// Number of the table's entry in the plan.
    step: u32,
    /// How many.
    length: usize,
}

/// A prefix to be looked for in the block index.
#[derive(Clone, Copy, Debug)]
struct ProbePlace {
    query: u32,
    step: u32,
    /// The least key that has the prefix.
    first: u64,
    /// Where the index has it.
    slot: usize,
}

/// A block to be decoded for a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    query: u32,
    step: u32,
    block: usize,
}

/// The buffers of the stages, used again from query to query.
#[derive(Debug, Default)]
pub(crate) struct Prober {
    /// Prefixes that filters were asked for, run by run.
    prefixes: Vec<FilterPrefix>,
    runs: Vec<ProbeRun>,
    places: Vec<ProbePlace>,
    visits: Vec<Visit>,
    /// Rows that narrow keys name.
    rows: Vec<NamedRow>,
    pub(crate) scratch: Scratch,
}

impl Prober {
    /// Calls `visit` with the number of a query and each fingerprint within the distance, once or more for each table
    /// that sees it, until it breaks. Of every table's masks only those in `part` are tried.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading blocks.
    pub(crate) fn probe<F: Fingerprint, B>(
        &mut self,
        asked: Asked<'_, F>,
        plan: &[TableProbe],
        part: ProbePart,
        work: &mut QueryStats,
        visit: &mut impl FnMut(usize, Found<F>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        for (query, &fingerprint) in (0u32..).zip(asked.queries) {
            for (step, probe) in (0u32..).zip(plan) {
                let Some(table) = asked.segment.tables().get(probe.table) else { continue };
                let key = table.layout().permutation.head(fingerprint) & leading_ones(probe.prefix);
                for masks in part.of(&probe.masks).chunks(TOGETHER) {
                    if self.prefixes.len() + self.places.len() + masks.len() > TOGETHER {
                        let found = self.finish(asked, plan, work, visit)?;
                        if found.is_break() {
                            return Ok(found);
                        }
                    }
                    work.probes += masks.len() as u64;
                    if let Some(filter) = probe.filter(table) {
                        self.prefixes.extend(filter.ask(masks.iter().map(|mask| key ^ mask)));
                        self.runs.push(ProbeRun { query, step, length: masks.len() });
                    } else {
                        let place =
                            |mask| ProbePlace { query, step, first: key ^ mask, slot: table.index().slot(key ^ mask) };
                        self.places.extend(masks.iter().map(place));
                    }
                }
            }
        }
        self.finish(asked, plan, work, visit)
    }

    /// Takes the prefixes that were gathered through all further stages.
    fn finish<F: Fingerprint, B>(
        &mut self,
        asked: Asked<'_, F>,
        plan: &[TableProbe],
        work: &mut QueryStats,
        visit: &mut impl FnMut(usize, Found<F>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        let of = |step: u32| {
            let probe = plan.get(step as usize)?;
            Some((probe, asked.segment.tables().get(probe.table)?))
        };
        let mut prefixes = &self.prefixes[..];
        for &ProbeRun { query, step, length } in &self.runs {
            let (run, rest) = prefixes.split_at(length.min(prefixes.len()));
            prefixes = rest;
            let Some((table, filter)) = of(step).and_then(|(probe, table)| Some((table, probe.filter(table)?))) else {
                continue;
            };
            self.places.extend(filter.pass(run).map(|prefix| {
                let slot = table.index().slot(prefix.first);
                ProbePlace { query, step, first: prefix.first, slot }
            }));
        }
        self.prefixes.clear();
        self.runs.clear();
        work.index_lookups += self.places.len() as u64;
        for place in &self.places {
            of(place.step).into_iter().for_each(|(_, table)| table.index().prefetch_slot(place.slot));
        }
        for place in &self.places {
            of(place.step)
                .into_iter()
                .for_each(|(probe, table)| blocks_of(table, place, probe.prefix, &mut self.visits));
        }
        self.places.clear();
        once(&mut self.visits);
        // Taken, not borrowed: an error must not leave visits or rows to the next query.
        let mut visits = std::mem::take(&mut self.visits);
        let mut rows = std::mem::take(&mut self.rows);
        let mut result = ControlFlow::Continue(());
        for Visit { query, step, block } in visits.drain(..) {
            let Some(((probe, table), &fingerprint)) = of(step).zip(asked.queries.get(query as usize)) else {
                continue;
            };
            let near = Near { query: fingerprint, number: query, k: asked.k, radius: probe.radius };
            result = visit_block(table, block, near, &mut self.scratch, work, &mut rows, visit)?;
            if result.is_break() {
                break;
            }
        }
        self.visits = visits;
        if result.is_continue() && !rows.is_empty() {
            result = visit_rows(asked, &rows, &mut self.scratch, work, visit)?;
        }
        rows.clear();
        self.rows = rows;
        Ok(result)
    }
}

/// Which of the masks of a plan are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbePart {
    /// All.
    All,
    /// The one without flips: where a near key most likely is.
    Home,
    /// All others.
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

/// Appends the blocks that may hold keys with the prefix, and asks for their bytes.
fn blocks_of(table: &Table, place: &ProbePlace, prefix: u32, visits: &mut Vec<Visit>) {
    /// Flips of the prefix's last bits lead to the same few blocks again and again.
    const RECENT: usize = 8;
    let index = table.index();
    let last = place.first | !leading_ones(prefix);
    let mut block = index.find_in(place.slot, place.first);
    // The range ends in the first block that reaches its last key.
    while let Some(block_key) = index.key(block) {
        let visit = Visit { query: place.query, step: place.step, block };
        if !visits.iter().rev().take(RECENT).any(|recent| *recent == visit) {
            table.will_read(block);
            table.prefetch_block(block);
            visits.push(visit);
        }
        // Of rows, the next block may begin with the same 64 bits.
        if block_key > last || (block_key == last && table.form() != TableForm::Rows) {
            break;
        }
        block += 1;
    }
}

/// Drops visits that occur again among those that are on the way together. Of few, the check for recent ones has found
/// nearly all; of many, as wide radii make them, this finds the rest.
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
            (0..3 * count).map(|number| Visit { query: 0, step: 0, block: number * 7 % count }).collect()
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
