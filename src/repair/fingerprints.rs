//! The fingerprints of a damaged segment, in order.
//!
//! Every table has all fingerprints of 64 bits. The primary table has the order of the ids, and its index has the
//! number and the bounds of the fingerprints of a damaged block; other tables fill the block if they have all of them.
//! Without that index, the other tables together must have all fingerprints of the segment.
//!
//! Wider fingerprints are whole only in their rows, a known number in each page.

use crate::codec::BlockShape;
use crate::error::{Error, Result};
use crate::extsort::{Sorted, Sorter, Workspace};
use crate::fingerprint::Fingerprint;
use crate::segment::{Salvage, Scratch, Table};
use std::cmp::Ordering;
use std::iter::Peekable;

/// Bytes of a chunk of sorted keys.
const PIECES: u64 = 32 << 20;

/// A fingerprint; or the offset of its bytes, if it is lost.
pub(super) type Slot<F> = std::result::Result<F, u64>;

/// The fingerprints of the damaged blocks of the primary table, from other tables; all fingerprints if its index or its
/// codes are damaged.
pub(super) fn fill(salvage: &Salvage, workspace: &Workspace) -> Result<Sorted<u64>> {
    let mut sorter = Sorter::new(workspace, workspace.memory_of_records());
    let (mut scratch, mut ranges) = (Scratch::default(), Vec::new());
    match salvage.primary_table() {
        _ if salvage.footer().parameters.width() > 64 => return sorter.finish(),
        None => ranges.push((0, u64::MAX)),
        Some(first) => {
            for block in 0..first.index().len() {
                if first.block(block, &mut scratch).is_err()
                    && let Some(BlockShape { base, last, .. }) = first.index().shape(block)
                {
                    ranges.push((base, last));
                    sorter.push(last)?;
                }
            }
        }
    }
    for table in salvage.other_tables().filter(|_| !ranges.is_empty()) {
        let mut is_whole = true;
        for block in 0..table.index().len() {
            let Ok(keys) = table.block(block, &mut scratch) else {
                is_whole = false;
                continue;
            };
            for fingerprint in keys.iter().map(|&key| table.layout().permutation.invert(key)) {
                let behind = ranges.partition_point(|&(_, last)| last < fingerprint);
                if ranges.get(behind).is_some_and(|&(base, _)| base <= fingerprint) {
                    sorter.push(fingerprint)?;
                }
            }
        }
        if is_whole {
            // The other tables have the same fingerprints.
            break;
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
        let mut buffer = Vec::new();
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
    let Some(BlockShape { last, count, .. }) = table.index().shape(block) else { return Ok(Vec::new()) };
    let offset = table.block_offset(block).unwrap_or_default();
    let mut slots = Vec::new();
    while let Some(key) = fill.next_if(|key| key.as_ref().map_or(true, |&key| key <= last)) {
        slots.push(Ok(of(key?)));
    }
    if slots.len() > count {
        return Err(contradiction(offset));
    }
    if slots.len() < count {
        // The index has the last fingerprint.
        slots = vec![Err(offset); count - 1];
        slots.push(Ok(of(last)));
    }
    Ok(slots)
}
