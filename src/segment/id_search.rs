//! Binary search for one id of a fingerprint, over units and within a unit.
//!
//! The ids of a fingerprint ascend over consecutive units, so the number of units that a look-up reads is logarithmic.
//! If the ids of a damaged unit do not ascend, the answer may be wrong, but the search always ends; `verify` reports
//! such a unit.

use crate::error::Result;
use std::cmp::Ordering;
use std::ops::Range;

/// Position of an id relative to those that a unit holds of the fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Before them, or the unit holds none.
    Before,
    /// Between the first and the last, and whether it is one of them.
    Within(bool),
    /// After them.
    Behind,
}

/// Whether one of the units holds an id; `probe` returns the id's position in a unit. Probes the first unit, which
/// holds all ids of most fingerprints, then by halves.
pub(super) fn in_pages(pages: Range<u64>, mut probe: impl FnMut(u64) -> Result<Position>) -> Result<bool> {
    let Range { start: mut low, end: mut high } = pages;
    let mut page = low;
    while low < high {
        match probe(page)? {
            Position::Before => high = page,
            Position::Within(found) => return Ok(found),
            Position::Behind => low = page + 1,
        }
        page = low + high.saturating_sub(low) / 2;
    }
    Ok(false)
}

/// Position of an id among records of one unit; `order` compares a record's id with it.
pub(super) fn in_page(records: Range<usize>, mut order: impl FnMut(usize) -> Result<Ordering>) -> Result<Position> {
    let Range { start: mut low, end: mut high } = records;
    while low < high {
        let middle = low + (high - low) / 2;
        match order(middle)? {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(Position::Within(true)),
            Ordering::Greater => high = middle,
        }
    }
    Ok(match low {
        _ if low == records.start => Position::Before,
        _ if low == records.end => Position::Behind,
        _ => Position::Within(false),
    })
}
