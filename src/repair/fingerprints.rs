//! The fingerprints of a damaged segment by their rank, from whatever holds them.
//!
//! **64 bits.** Every table has every fingerprint. The first one, in whose order the ranks are, gives what it can; blocks that do
//! not hold are filled from the others, whose keys are turned back into fingerprints. The index tells how many fingerprints a
//! block had, from where to where, and which one was the last: so it is known whether all are back. If they are, so are
//! their ranks. If some are missing, those that are there may have any of several ranks.
//!
//! Without an index of the first table there are no blocks to fill: then the others have to have everything, or no
//! fingerprint's rank is known.
//!
//! **Wider ones** stand whole in their rows alone, a known number in each page. Other tables know some of the bits of each,
//! and rarely all.

use crate::codec::BlockShape;
use crate::error::{Error, Result};
use crate::extsort::{Chunk, Sorted, Sorter, Workspace};
use crate::fingerprint::Fingerprint;
use crate::repair::bits::{self, Bits};
use crate::segment::{Salvage, Scratch, Table};
use std::collections::BTreeMap;
use std::iter::Peekable;

/// Fingerprints whose ranks follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stretch<F> {
    /// All of them, in order.
    Known(Vec<F>),
    /// Not all of them.
    Torn(Torn<F>),
}

/// Fingerprints some of which are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Torn<F> {
    /// How many there were.
    pub(crate) count: u64,
    /// Those that are there, in order; their ranks are not known.
    pub(crate) found: Vec<F>,
    /// What is known of single ones, by their rank in the segment.
    pub(crate) bits: BTreeMap<u64, Bits<F>>,
    /// The damaged part, and where it begins.
    pub(crate) section: &'static str,
    pub(crate) offset: u64,
}

/// Where the fingerprints of a segment are taken from.
#[derive(Debug)]
pub(crate) enum Fingerprints<'a, F> {
    /// The first table, and what others have of its damaged blocks.
    Blocks(&'a Table, Option<Sorted<u64>>),
    /// The other tables.
    Others(&'a Salvage, Sorted<u64>),
    /// Pages of rows, and what is known of lost ones.
    Rows(&'a Salvage, BTreeMap<u64, Bits<F>>),
}

/// Stretches in order.
pub(crate) type Stretches<'a, F> = Box<dyn Iterator<Item = Result<Stretch<F>>> + 'a>;

impl<'a, F: Fingerprint> Fingerprints<'a, F> {
    /// Finds out what is damaged, and what can stand in for it.
    ///
    /// # Errors
    /// `Damaged` if parts that hold contradict each other; `Io` from temporary files.
    pub(crate) fn find(salvage: &'a Salvage, workspace: &Workspace) -> Result<Self> {
        if F::WIDTH > 64 {
            let mut buffer = Vec::new();
            let mut lost = Vec::new();
            let mut rank = 0;
            for page in 0..salvage.row_pages() {
                let count = salvage.rows_in::<F>(page);
                if salvage.rows::<F>(page, &mut buffer).is_none() {
                    lost.push(rank..rank + count);
                }
                rank += count;
            }
            let bits = if lost.is_empty() { BTreeMap::new() } else { bits::known(salvage, &lost)? };
            return Ok(Self::Rows(salvage, bits));
        }
        let Some(first) = salvage.table(0) else {
            return Ok(Self::Others(salvage, gather(salvage, workspace, &[(0, u64::MAX)])?));
        };
        let (mut scratch, mut damaged) = (Scratch::default(), Vec::new());
        for block in 0..first.index().len() {
            if first.block(block, &mut scratch).is_err() {
                damaged.extend(first.index().shape(block).map(|shape| (shape.base, shape.last)));
            }
        }
        let fill = if damaged.is_empty() { None } else { Some(gather(salvage, workspace, &damaged)?) };
        Ok(Self::Blocks(first, fill))
    }

    /// The fingerprints.
    pub(crate) fn stretches(&'a self) -> Stretches<'a, F> {
        match self {
            Self::Blocks(table, fill) => {
                let mut fill = keys(fill.as_ref()).peekable();
                let mut scratch = Scratch::default();
                let blocks = (0..table.index().len()).map(move |block| of_block(table, block, &mut fill, &mut scratch));
                Box::new(blocks.flat_map(|stretches| match stretches {
                    Ok(stretches) => stretches.into_iter().map(Ok).collect(),
                    Err(error) => vec![Err(error)],
                }))
            }
            Self::Others(salvage, sorted) => of_others(salvage, sorted),
            Self::Rows(salvage, bits) => {
                let (mut buffer, mut rank) = (Vec::new(), 0);
                let pages = (0..salvage.row_pages()).map(move |page| {
                    let first = rank;
                    rank += salvage.rows_in::<F>(page);
                    match salvage.rows(page, &mut buffer) {
                        Some(rows) => vec![Stretch::Known(rows)],
                        None => of_lost_rows(first, rank, salvage.row_page_offset(page), bits),
                    }
                });
                Box::new(joined(pages.flatten()).map(Ok))
            }
        }
    }
}

/// What all tables behind the first can still tell of fingerprints in these ranges, both ends included.
fn gather(salvage: &Salvage, workspace: &Workspace, ranges: &[(u64, u64)]) -> Result<Sorted<u64>> {
    let mut sorter = Sorter::new(workspace, workspace.memory_of_records());
    let mut scratch = Scratch::default();
    for table in salvage.other_tables() {
        let mut whole = true;
        for block in 0..table.index().len() {
            let Ok(keys) = table.block(block, &mut scratch) else {
                whole = false;
                continue;
            };
            for &key in keys {
                let fingerprint = table.layout().permutation.invert(key);
                let behind = ranges.partition_point(|&(_, last)| last < fingerprint);
                if ranges.get(behind).is_some_and(|&(from, _)| from <= fingerprint) {
                    sorter.push(fingerprint)?;
                }
            }
        }
        // The next ones would say the same.
        if whole {
            break;
        }
    }
    sorter.finish()
}

/// Sorted fingerprints one by one.
fn keys(sorted: Option<&Sorted<u64>>) -> Box<dyn Iterator<Item = Result<u64>> + '_> {
    let chunks = sorted.into_iter().flat_map(|sorted| sorted.chunks(PIECES));
    Box::new(chunks.flat_map(|chunk| match chunk {
        Ok(Chunk::Borrowed(keys)) => Box::new(keys.iter().copied().map(Ok)) as Box<dyn Iterator<Item = _>>,
        Ok(Chunk::Owned(keys)) => Box::new(keys.into_iter().map(Ok)),
        Err(error) => Box::new(std::iter::once(Err(error))),
    }))
}

/// Bytes of memory for keys on their way.
const PIECES: u64 = 32 << 20;

/// The fingerprints of a block of the first table; of one that does not hold, what others have of it.
fn of_block<F: Fingerprint>(
    table: &Table,
    block: usize,
    fill: &mut Peekable<impl Iterator<Item = Result<u64>>>,
    scratch: &mut Scratch,
) -> Result<Vec<Stretch<F>>> {
    let mut fingerprints = Vec::new();
    if table.fingerprints(block, scratch, &mut fingerprints).is_ok() {
        return Ok(vec![Stretch::Known(fingerprints)]);
    }
    let Some(BlockShape { base, last, count, .. }) = table.index().shape(block) else { return Ok(Vec::new()) };
    let offset = table.block_offset(block).unwrap_or_default();
    let mut found = Vec::new();
    while let Some(key) = fill.next_if(|key| key.as_ref().is_ok_and(|&key| key < last)) {
        found.extend(Some(key?).filter(|&key| key >= base));
    }
    if let Some(Err(_)) = fill.peek() {
        fill.next().transpose()?;
    }
    // The index says that it is there.
    fill.next_if(|key| key.as_ref().is_ok_and(|&key| key == last));
    let of = |key: u64| F::from_words(|_| key);
    let last = of(last);
    let mut found: Vec<F> = found.into_iter().map(of).collect();
    let count = count.saturating_sub(1);
    if found.len() > count {
        return Err(Error::damaged("the tables do not hold the same fingerprints").at_offset(offset));
    }
    if found.len() == count {
        found.push(last);
        return Ok(vec![Stretch::Known(found)]);
    }
    let count = count as u64;
    let torn = Torn { count, found, bits: BTreeMap::new(), section: "table 0 data", offset };
    Ok(vec![Stretch::Torn(torn), Stretch::Known(vec![last])])
}

/// All fingerprints from the tables behind the first.
fn of_others<'a, F: Fingerprint>(salvage: &'a Salvage, sorted: &'a Sorted<u64>) -> Stretches<'a, F> {
    let wanted = salvage.footer().fingerprints;
    let counted = sorted.chunks(PIECES).try_fold(0, |sum, chunk| chunk.map(|keys| sum + keys.len() as u64));
    let of = |keys: &[u64]| keys.iter().map(|&key| F::from_words(|_| key)).collect::<Vec<F>>();
    match counted {
        Err(error) => Box::new(std::iter::once(Err(error))),
        Ok(count) if count > wanted => {
            let error = Error::damaged("the tables do not hold the same fingerprints");
            Box::new(std::iter::once(Err(error)))
        }
        Ok(count) if count == wanted => {
            Box::new(sorted.chunks(PIECES).map(move |chunk| chunk.map(|keys| Stretch::Known(of(&keys)))))
        }
        Ok(_) => {
            let found = keys(Some(sorted)).map(|key| key.map(|key| F::from_words(|_| key))).collect::<Result<_>>();
            let section = "table 0 index";
            let offset = salvage.footer().tables.first().map_or(0, |table| table.index.offset);
            let torn = |found| Stretch::Torn(Torn { count: wanted, found, bits: BTreeMap::new(), section, offset });
            Box::new(std::iter::once(found.map(torn)))
        }
    }
}

/// The rows from rank `first` to before `end`, whose page does not hold.
fn of_lost_rows<F: Fingerprint>(first: u64, end: u64, offset: u64, bits: &BTreeMap<u64, Bits<F>>) -> Vec<Stretch<F>> {
    let torn = |count, bits| Stretch::Torn(Torn { count, found: Vec::new(), bits, section: "table 0 data", offset });
    let (mut stretches, mut since, mut some) = (Vec::new(), first, BTreeMap::new());
    for (&rank, bits) in bits.range(first..end) {
        let Some(whole) = bits.whole() else {
            some.insert(rank, *bits);
            continue;
        };
        if since < rank {
            stretches.push(torn(rank - since, std::mem::take(&mut some)));
        }
        stretches.push(Stretch::Known(vec![whole]));
        since = rank + 1;
    }
    if since < end {
        stretches.push(torn(end - since, some));
    }
    stretches
}

/// Joins torn stretches that follow one another, and known ones.
fn joined<F: Fingerprint>(stretches: impl Iterator<Item = Stretch<F>>) -> impl Iterator<Item = Stretch<F>> {
    let mut stretches = stretches.peekable();
    std::iter::from_fn(move || {
        let mut stretch = stretches.next()?;
        if let Stretch::Torn(torn) = &mut stretch {
            while let Some(Stretch::Torn(more)) = stretches.next_if(|next| matches!(next, Stretch::Torn(_))) {
                torn.count += more.count;
                torn.bits.extend(more.bits);
            }
        }
        Some(stretch)
    })
}
