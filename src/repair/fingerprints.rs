//! The fingerprints of a damaged segment, in order.
//!
//! Every table has all fingerprints of 64 bits. The primary table has the order of the ids, and its index has the
//! number and the bounds of the fingerprints of a damaged block; other tables fill the block if they have all of them.
//! Without that index, the other tables together must have all fingerprints of the segment.
//!
//! Wider fingerprints are whole only in their rows, a known number in each page.
//!
//! The fingerprints of a key index are the numbers of its records, in one table. The numbers behind the keys of the run
//! fill it as another table would, and so do ids that are numbers themselves.

use super::numbers::PIECES;
use crate::codec::BlockShape;
use crate::error::{Error, Result};
use crate::extsort::{Sorted, Sorter, Workspace};
use crate::fingerprint::Fingerprint;
use crate::segment::{PageBuffer, Salvage, SalvagedUnit, Scratch, Table};
use std::cmp::Ordering;
use std::iter::Peekable;

/// Part of the memory of a sort for fingerprints from elsewhere.
const PART_OF_FILL: u64 = 2;

/// A fingerprint; or the offset of its bytes, if it is lost.
pub(super) type Slot<F> = std::result::Result<F, u64>;

/// The fingerprints of the damaged blocks of the primary table, from other tables; all fingerprints if its index or its
/// codes are damaged. The ids of the segments in `same` are fingerprints of this one.
pub(super) fn fill(salvage: &Salvage, same: &[&Salvage], workspace: &Workspace) -> Result<Sorted<u64>> {
    let mut sorter = Sorter::new(workspace, workspace.memory_of_records() / PART_OF_FILL);
    let (mut scratch, mut ranges) = (Scratch::default(), Vec::new());
    match salvage.primary_table() {
        _ if salvage.footer().parameters.width() > 64 => return sorter.finish(),
        None => ranges.push((0, u64::MAX)),
        Some(first) => {
            for block in 0..first.index().len() {
                if first.block(block, &mut scratch).is_err()
                    && let Some(BlockShape { base, last, .. }) = first.index().shape(block)?
                {
                    ranges.push((base, last));
                    sorter.push(last)?;
                }
            }
        }
    }
    let is_lost = |fingerprint: u64| {
        let behind = ranges.partition_point(|&(_, last)| last < fingerprint);
        ranges.get(behind).is_some_and(|&(base, _)| base <= fingerprint)
    };
    for table in salvage.other_tables().filter(|_| !ranges.is_empty()) {
        let mut is_whole = true;
        for block in 0..table.index().len() {
            let Ok(keys) = table.block(block, &mut scratch) else {
                is_whole = false;
                continue;
            };
            for fingerprint in keys.iter().map(|&key| table.layout().permutation.invert(key)) {
                if is_lost(fingerprint) {
                    sorter.push(fingerprint)?;
                }
            }
        }
        if is_whole {
            // The other tables have the same fingerprints.
            break;
        }
    }
    for other in same.iter().filter(|_| !ranges.is_empty()) {
        let mut ids = other.ids();
        // Contradictions are found where these ids are read for themselves.
        while let Ok(Some(unit)) = ids.next_unit() {
            let SalvagedUnit::Sound(ids) = unit else { continue };
            for number in ids.iter().filter_map(|(_, id)| id.number()).filter(|&number| is_lost(number)) {
                sorter.push(number)?;
            }
        }
    }
    sorter.finish()
}

/// The fingerprints of a segment in order.
pub(super) type Slots<'a, F> = Box<dyn Iterator<Item = Result<Slot<F>>> + 'a>;

/// The fingerprints of a segment in order, from a [`fill`] where the primary table is damaged. Fails with `Damaged` if
/// parts that hold contradict each other.
pub(super) fn slots<'a, F: Fingerprint>(salvage: &'a Salvage, fill: &'a Sorted<u64>) -> Result<Slots<'a, F>> {
    if F::WIDTH > 64 {
        let mut buffer = PageBuffer::default();
        return Ok(Box::new((0..salvage.row_pages()).flat_map(move |page| salvage.rows(page, &mut buffer)).map(Ok)));
    }
    let Some(first) = salvage.primary_table() else {
        let found = fill.chunks(PIECES).try_fold(0, |sum, chunk| chunk.map(|keys| sum + keys.len() as u64))?;
        let wanted = salvage.footer().fingerprints;
        let offset = salvage.footer().tables.first().map_or(0, |table| table.data.offset);
        return match found.cmp(&wanted) {
            Ordering::Less => Ok(Box::new((0..wanted).map(move |_| Ok(Err(offset))))),
            Ordering::Equal => Ok(Box::new(fill.items(PIECES).map(|key| key.map(|key| Ok(of(key)))))),
            Ordering::Greater => Err(contradiction(offset)),
        };
    };
    let (mut fill, mut scratch) = (fill.items(PIECES).peekable(), Scratch::default());
    let blocks = (0..first.index().len()).map(move |block| of_block(first, block, &mut fill, &mut scratch));
    Ok(Box::new(blocks.flat_map(|slots| match slots {
        Ok(slots) => slots.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })))
}

fn of<F: Fingerprint>(key: u64) -> F {
    F::from_words(|_| key)
}

fn contradiction(offset: u64) -> Error {
    Error::damaged("the tables do not hold the same fingerprints").at_offset(offset)
}

/// The fingerprints of a block of the primary table. A damaged block gets those of the other tables, if they have all.
fn of_block<F: Fingerprint>(
    table: &Table,
    block: usize,
    fill: &mut Peekable<impl Iterator<Item = Result<u64>>>,
    scratch: &mut Scratch,
) -> Result<Vec<Slot<F>>> {
    let mut fingerprints = Vec::new();
    if table.fingerprints(block, scratch, &mut fingerprints).is_ok() {
        return Ok(fingerprints.into_iter().map(Ok).collect());
    }
    let Some(BlockShape { base, last, count, .. }) = table.index().shape(block)? else { return Ok(Vec::new()) };
    let offset = table.block_offset(block).unwrap_or_default();
    let mut slots = Vec::new();
    while let Some(key) = fill.next_if(|key| key.as_ref().map_or(true, |&key| key <= last)) {
        slots.push(Ok(of(key?)));
    }
    if slots.len() > count {
        return Err(contradiction(offset));
    }
    if last.checked_sub(base).is_some_and(|rest| rest == (count as u64).wrapping_sub(1)) {
        // No other fingerprints fit between the bounds.
        return Ok((base..=last).map(|key| Ok(of(key))).collect());
    }
    if slots.len() < count {
        // The index has the last fingerprint.
        slots = vec![Err(offset); count - 1];
        slots.push(Ok(of(last)));
    }
    Ok(slots)
}
