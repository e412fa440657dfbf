//! Binary search for one id among those of a fingerprint, over pages and within a page.
//!
//! The ids of a fingerprint ascend over consecutive pages, so a look-up reads a number of pages that grows with the
//! logarithm of theirs. A page whose ids do not ascend may give a wrong answer, but never an endless search; `verify`
//! reports such a page.

use crate::error::Result;
use std::cmp::Ordering;
use std::ops::Range;

/// Position of an id relative to those that a page holds of the fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// In front of them, or the page holds none.
    Before,
    /// Between the first and the last, and whether it is one of them.
    Within(bool),
    /// Behind them.
    Behind,
}

/// Whether one of some pages holds an id; `probe` returns the id's position in a page. Probes the first page, which
/// holds all ids of most fingerprints, then by halves.
///
/// # Errors
/// Those of `probe`.
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

/// Position of an id among records of one page; `order` compares a record's id with it.
///
/// # Errors
/// Those of `order`.
pub(super) fn in_page(records: Range<usize>, mut order: impl FnMut(usize) -> Result<Ordering>) -> Result<Position> {
    let Range { start, end } = records;
    if start >= end {
        return Ok(Position::Before);
    }
    match order(start)? {
        Ordering::Less => {}
        Ordering::Equal => return Ok(Position::Within(true)),
        Ordering::Greater => return Ok(Position::Before),
    }
    match order(end - 1)? {
        Ordering::Less => return Ok(Position::Behind),
        Ordering::Equal => return Ok(Position::Within(true)),
        Ordering::Greater => {}
    }
    let (mut low, mut high) = (start + 1, end - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        match order(middle)? {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(Position::Within(true)),
            Ordering::Greater => high = middle,
        }
    }
    Ok(Position::Within(false))
}
