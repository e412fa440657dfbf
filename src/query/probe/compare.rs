//! Comparing the keys of a block with a query, for every form of table.

use crate::bits::low_mask;
use crate::codec::{CHUNK, near, near_leads, near_rows};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::plan::TableForm;
use crate::query_stats::QueryStats;
use crate::segment::{Scratch, Segment, Table};
use std::ops::ControlFlow;

/// A stored fingerprint within the distance of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found<F> {
    pub(crate) fingerprint: F,
    /// Its rank in the primary table, if the table that found it knows the rank.
    pub(crate) rank: Option<u64>,
}

/// A row that a narrow key names, to be compared with a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedRow {
    pub(crate) query: u32,
    pub(crate) row: u64,
}

/// Decodes a block of narrow keys and appends the rows of those whose leading bits are within `radius` of `query`.
pub(crate) fn name_rows<F: Fingerprint>(
    table: &Table,
    (lead, row): (u32, u32),
    block: usize,
    (query, radius): (F, u32),
    scratch: &mut Scratch,
    rows: &mut Vec<NamedRow>,
) -> Result<()> {
    let wanted = table.layout().permutation.head(query).checked_shr(64 - lead).unwrap_or(0);
    for chunk in table.block(block, scratch)?.chunks(CHUNK) {
        for position in ones(near_leads(chunk, wanted, row, radius)) {
            let Some(key) = chunk.get(position) else { break };
            rows.push(NamedRow { query: 0, row: key & low_mask(row) });
        }
    }
    Ok(())
}

/// Decodes a block of whole fingerprints and visits those within distance `k` of `query`.
pub(crate) fn visit_fingerprints<F: Fingerprint, B>(
    table: &Table,
    block: usize,
    query: F,
    k: u32,
    scratch: &mut Scratch,
    stats: &mut QueryStats,
    visit: &mut impl FnMut(Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    stats.blocks += 1;
    // Only in the primary table the rank of a key is that of the fingerprint.
    let rank = if table.is_first() { Some(table.index().rank(block)?) } else { None };
    let rank = |position: usize| rank.map(|rank| rank + position as u64);
    if table.form() == TableForm::Rows {
        let rows = table.rows(block, scratch)?;
        for (number, chunk) in rows.chunks(CHUNK * F::BYTES).enumerate() {
            stats.candidates += (chunk.len() / F::BYTES) as u64;
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
    stats.candidates += keys.len() as u64;
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

/// Compares named rows with their queries. Calls `visit` with the number of the query and each row within distance `k`,
/// until it breaks.
pub(crate) fn visit_rows<F: Fingerprint, B>(
    segment: &Segment,
    (queries, k): (&[F], u32),
    named: &[NamedRow],
    scratch: &mut Scratch,
    stats: &mut QueryStats,
    mut visit: impl FnMut(usize, Found<F>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>> {
    /// Rows that are prefetched ahead.
    const AHEAD: usize = 32;
    let table = segment.primary_table()?;
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
        let Some(&query) = queries.get(number as usize) else { continue };
        if row >= known {
            return Err(Error::damaged("a narrow key names a row that is not there").at_path(segment.path()));
        }
        let bytes = table.row(row, scratch)?;
        stats.candidates += 1;
        if near_rows(bytes, query, k) == 0 {
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
