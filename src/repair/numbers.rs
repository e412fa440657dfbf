//! Numbers of records of a key index as ranges: few, where records were numbered as they came.

use crate::error::Result;
use crate::extsort::Sorted;

/// Bytes of a chunk of sorted numbers.
pub(super) const PIECES: u64 = 32 << 20;

/// Part of the memory of a sort for the numbers of saved or lost records.
pub(super) const PART_OF_NUMBERS: u64 = 8;

/// The first and the last number of each range, and how many numbers there are.
pub(super) fn ranges(numbers: &Sorted<u64>) -> Result<(Vec<(u64, u64)>, u64)> {
    let (mut ranges, mut count) = (Vec::new(), 0);
    for number in numbers.items(PIECES) {
        add(&mut ranges, number?);
        count += 1;
    }
    Ok((ranges, count))
}

/// Adds a number that is greater than all before it.
pub(super) fn add(ranges: &mut Vec<(u64, u64)>, number: u64) {
    match ranges.last_mut() {
        Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
        _ => ranges.push((number, number)),
    }
}
