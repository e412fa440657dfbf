//! Comparing what a block holds with a query, whatever the form of its table.

use crate::bits::low_mask;
use crate::codec::{CHUNK, near, near_leads, near_rows};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::plan::TableForm;
use crate::query::probe::asked::Asked;
use crate::query::probe::found::Found;
use crate::query_stats::QueryStats;
use crate::segment::{Scratch, Table};
use std::ops::ControlFlow;

/// What a block is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<F> {
    pub(crate) query: F,
    /// The query's number.
    pub(crate) number: u32,
    /// Greatest distance of an answer.
    pub(crate) k: u32,
    /// Greatest distance of the leading bits of a narrow key.
    pub(crate) radius: u32,
}

/// A row that a narrow key names: to be compared with the query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedRow {
    /// The query's number.
    pub(crate) query: u32,
    /// The row's.
    pub(crate) row: u64,
}

/// Decodes a block and visits its fingerprints within the distance, or notes the rows that may be.
pub(crate) fn visit_block<F: Fingerprint, B>(
    table: &Table,
    block: usize,
    what: Near<F>,
    scratch: &mut Scratch,
    work: &mut QueryStats,
    rows: &mut Vec<NamedRow>,
    visit: &mut impl FnMut(usize, Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    let TableForm::Narrow { lead, row } = table.form() else {
        let mut pass = |found| visit(what.number as usize, found);
        return visit_fingerprints(table, block, what.query, what.k, scratch, work, &mut pass);
    };
    let wanted = table.layout().permutation.head(what.query).checked_shr(64 - lead).unwrap_or(0);
    let keys = table.block(block, scratch)?;
    work.blocks += 1;
    for chunk in keys.chunks(CHUNK) {
        for position in ones(near_leads(chunk, wanted, row, what.radius)) {
            let Some(key) = chunk.get(position) else { break };
            rows.push(NamedRow { query: what.number, row: key & low_mask(row) });
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Decodes a block of whole fingerprints and visits those within distance `k` of `query`.
pub(crate) fn visit_fingerprints<F: Fingerprint, B>(
    table: &Table,
    block: usize,
    query: F,
    k: u32,
    scratch: &mut Scratch,
    work: &mut QueryStats,
    visit: &mut impl FnMut(Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    work.blocks += 1;
    // Only in the first table keys are fingerprints, so only there a key's rank is the fingerprint's.
    let rank = |position: usize| table.is_first().then(|| table.index().rank(block) + position as u64);
    if table.form() == TableForm::Rows {
        let rows = table.rows(block, scratch)?;
        for (number, chunk) in rows.chunks(CHUNK * F::BYTES).enumerate() {
            work.candidates += (chunk.len() / F::BYTES) as u64;
            for position in ones(near_rows(chunk, query, k)) {
                let row = chunk.chunks_exact(F::BYTES).nth(position).and_then(F::from_le_bytes);
                let Some(fingerprint) = row else { break };
                let found = visit(Found { fingerprint, rank: rank(number * CHUNK + position) });
                if found.is_break() {
                    return Ok(found);
                }
            }
        }
        return Ok(ControlFlow::Continue(()));
    }
    let permutation = &table.layout().permutation;
    let key = permutation.head(query);
    let keys = table.block(block, scratch)?;
    work.candidates += keys.len() as u64;
    for (number, chunk) in keys.chunks(CHUNK).enumerate() {
        for position in ones(near(chunk, key, k)) {
            let Some(&candidate) = chunk.get(position) else { break };
            let fingerprint = F::from_words(|_| permutation.invert(candidate));
            let found = visit(Found { fingerprint, rank: rank(number * CHUNK + position) });
            if found.is_break() {
                return Ok(found);
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Compares rows with the queries that narrow keys named them for.
pub(crate) fn visit_rows<F: Fingerprint, B>(
    asked: Asked<'_, F>,
    named: &[NamedRow],
    scratch: &mut Scratch,
    work: &mut QueryStats,
    mut visit: impl FnMut(usize, Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    /// Rows that are on the way together.
    const AHEAD: usize = 32;
    let table = asked.segment.first_table()?;
    let known = table.index().fingerprints();
    let fetch = |row: &NamedRow| {
        if row.row < known {
            table.prefetch_row(row.row);
        }
    };
    named.iter().take(AHEAD).for_each(fetch);
    let mut ahead = named.iter().skip(AHEAD);
    for &NamedRow { query: number, row } in named {
        ahead.next().into_iter().for_each(fetch);
        let Some(&query) = asked.queries.get(number as usize) else { continue };
        if row >= known {
            let message = "a narrow key names a row that is not there";
            return Err(Error::damaged(message).at_path(asked.segment.path()));
        }
        let bytes = table.row(row, scratch)?;
        work.candidates += 1;
        if near_rows(bytes, query, asked.k) == 0 {
            continue;
        }
        let Some(fingerprint) = F::from_le_bytes(bytes) else { continue };
        let found = visit(number as usize, Found { fingerprint, rank: Some(row) });
        if found.is_break() {
            return Ok(found);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The numbers of the bits that are set, ascending.
#[inline]
pub(crate) fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let position = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(position as usize)
    })
}
