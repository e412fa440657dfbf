//! The keys of the tables behind the first, merged from those of several segments.

use crate::error::Result;
use crate::extsort::{Sorter, Workspace};
use crate::fingerprint::Fingerprint;
use crate::plan::TableLayout;
use crate::segment::{Scratch, SecondaryKeySource, Segment, Table};
use crate::version::Losers;
use std::iter::Peekable;
use std::sync::{Arc, Mutex, PoisonError};

/// Keys that are handed on at once.
const CHUNK: usize = 1 << 15;
/// Places all over the largest table from which blocks are taken as a sample, and how many at each.
const SAMPLED: usize = 256;
const NEIGHBOURS: usize = 4;

/// The tables of segments that become one.
#[derive(Debug)]
pub(crate) struct MergedTables<'a> {
    segments: &'a [Arc<Segment>],
    dropped: &'a DroppedKeys,
    /// Bytes of memory for the keys of dropped fingerprints of a table.
    memory: u64,
}

/// The fingerprints that are in tables and have no records left: their keys, for each table behind the first, to be left
/// out there.
#[derive(Debug)]
pub(crate) struct DroppedKeys {
    layouts: Vec<TableLayout>,
    sorters: Mutex<Vec<Option<Sorter<u64>>>>,
}

impl DroppedKeys {
    /// None yet. They may take so many bytes of memory; what exceeds them goes to temporary files.
    pub(crate) fn new(layouts: &[TableLayout], workspace: &Workspace, memory: u64) -> Self {
        let layouts: Vec<TableLayout> = layouts.iter().skip(1).cloned().collect();
        let each = memory / (layouts.len() as u64).max(1);
        let sorters = layouts.iter().map(|_| Some(Sorter::new(workspace, each))).collect();
        Self { layouts, sorters: Mutex::new(sorters) }
    }

    /// Takes another one.
    pub(crate) fn push<F: Fingerprint>(&self, fingerprint: F) -> Result<()> {
        let mut sorters = self.sorters.lock().unwrap_or_else(PoisonError::into_inner);
        for (layout, sorter) in self.layouts.iter().zip(&mut *sorters) {
            if let Some(sorter) = sorter {
                sorter.push(layout.permutation.head(fingerprint))?;
            }
        }
        Ok(())
    }

    /// The keys of a table, to be asked for once.
    fn take(&self, table: usize) -> Option<Sorter<u64>> {
        let mut sorters = self.sorters.lock().unwrap_or_else(PoisonError::into_inner);
        table.checked_sub(1).and_then(|number| sorters.get_mut(number)?.take())
    }
}

impl<'a> MergedTables<'a> {
    /// The tables of segments of 64-bit fingerprints: wider ones have keys that name rows, which are other ones then.
    pub(crate) fn new(segments: &'a [Arc<Segment>], dropped: &'a DroppedKeys, memory: u64) -> Self {
        Self { segments, dropped, memory }
    }

    fn tables(&self, number: usize) -> Vec<&'a Table> {
        self.segments.iter().filter_map(|segment| segment.tables().get(number)).collect()
    }
}

impl SecondaryKeySource for MergedTables<'_> {
    fn sample(&self, table: usize) -> Result<Vec<u64>> {
        let largest = self.tables(table).into_iter().max_by_key(|table| table.index().fingerprints());
        largest.map_or(Ok(Vec::new()), sample_of)
    }

    fn keys(&self, table: usize, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let sorted = self.dropped.take(table).map(Sorter::finish).transpose()?;
        let mut dropped = sorted.iter().flat_map(|sorted| sorted.chunks(self.memory)).flat_map(|chunk| match chunk {
            Ok(chunk) => chunk.iter().copied().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        });
        merge_keys(self.tables(table), &mut dropped, visit)
    }
}

/// Runs of neighbouring keys from all over a table.
pub(crate) fn sample_of(table: &Table) -> Result<Vec<u64>> {
    let (mut scratch, mut sample) = (Scratch::default(), Vec::new());
    let blocks = table.index().len();
    let step = (blocks / SAMPLED).max(NEIGHBOURS);
    for start in (0..blocks).step_by(step) {
        for block in start..(start + NEIGHBOURS).min(blocks) {
            sample.extend_from_slice(table.block(block, &mut scratch)?);
        }
    }
    Ok(sample)
}

/// The keys of one table, block by block.
struct Cursor<'a> {
    table: &'a Table,
    scratch: Scratch,
    keys: Vec<u64>,
    /// The next one of them.
    at: usize,
    next_block: usize,
}

impl<'a> Cursor<'a> {
    fn new(table: &'a Table) -> Self {
        Self { table, scratch: Scratch::default(), keys: Vec::new(), at: 0, next_block: 0 }
    }

    /// Goes on to the next block if this one is done.
    fn load(&mut self) -> Result<()> {
        while self.at == self.keys.len() && self.next_block < self.table.index().len() {
            self.table.prefetch_ahead(self.next_block);
            self.keys.clear();
            self.keys.extend_from_slice(self.table.block(self.next_block, &mut self.scratch)?);
            (self.at, self.next_block) = (0, self.next_block + 1);
        }
        Ok(())
    }

    /// The next key, if there is one.
    fn key(&self) -> Option<u64> {
        self.keys.get(self.at).copied()
    }
}

/// The keys of several tables, block by block.
struct Cursors<'a> {
    cursors: Vec<Cursor<'a>>,
    /// Their order by their next keys.
    order: Losers,
}

/// Calls `visit` with the distinct keys of all tables but those of `dropped`, which come in order too.
fn merge_keys(
    tables: Vec<&Table>,
    dropped: &mut dyn Iterator<Item = Result<u64>>,
    visit: &mut dyn FnMut(&[u64]) -> Result<()>,
) -> Result<()> {
    let mut cursors = Cursors::new(tables)?;
    let mut dropped = dropped.peekable();
    let (mut chunk, mut alive) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
    loop {
        let before = chunk.last().copied();
        chunk.clear();
        cursors.next_lot(before, &mut chunk)?;
        if chunk.is_empty() {
            return Ok(());
        }
        if dropped.peek().is_none() {
            visit(&chunk)?;
            continue;
        }
        alive.clear();
        for &key in &chunk {
            if !is_dead(&mut dropped, key)? {
                alive.push(key);
            }
        }
        if !alive.is_empty() {
            visit(&alive)?;
        }
    }
}

fn is_dead(dropped: &mut Peekable<&mut dyn Iterator<Item = Result<u64>>>, key: u64) -> Result<bool> {
    while dropped.next_if(|next| next.as_ref().is_ok_and(|&next| next < key)).is_some() {}
    match dropped.peek() {
        Some(Ok(next)) => Ok(*next == key),
        Some(Err(_)) => dropped.next().transpose().map(|_| false),
        None => Ok(false),
    }
}

/// Whether a cursor comes in front of another; those at their end come last.
fn is_before(cursors: &[Cursor<'_>], a: usize, b: usize) -> bool {
    let key = |number: usize| cursors.get(number).and_then(Cursor::key);
    match (key(a), key(b)) {
        (Some(left), Some(right)) => (left, a) < (right, b),
        (left, right) => left.is_some() || (right.is_none() && a < b),
    }
}

impl<'a> Cursors<'a> {
    fn new(tables: Vec<&'a Table>) -> Result<Self> {
        let mut cursors: Vec<Cursor<'_>> = tables.into_iter().map(Cursor::new).collect();
        cursors.iter_mut().try_for_each(Cursor::load)?;
        let order = Losers::new(cursors.len(), |a, b| is_before(&cursors, a, b));
        Ok(Self { cursors, order })
    }

    /// Appends the next keys of all cursors, each once, `before` not again: none when they are done.
    fn next_lot(&mut self, mut before: Option<u64>, chunk: &mut Vec<u64>) -> Result<()> {
        while chunk.len() < CHUNK {
            // The cursor with the least key may go on alone up to the least one of all secondary.
            let secondary = self.order.rivals().filter_map(|number| self.cursors.get(number)?.key());
            let second = secondary.min().unwrap_or(u64::MAX);
            let Some(cursor) = self.cursors.get_mut(self.order.winner()) else { return Ok(()) };
            let rest = cursor.keys.get(cursor.at..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            let alone = rest.iter().take(CHUNK).take_while(|&&key| key <= second).count().max(1);
            let taken = rest.get(..alone).unwrap_or_default();
            // Others may have the same key as the last one that was taken.
            let repeated = usize::from(before.is_some() && taken.first().copied() == before);
            chunk.extend_from_slice(taken.get(repeated..).unwrap_or_default());
            before = taken.last().copied();
            cursor.at += alone;
            cursor.load()?;
            self.order.replay(|a, b| is_before(&self.cursors, a, b));
        }
        Ok(())
    }
}
