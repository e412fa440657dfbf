//! Merges the secondary tables of several segments.

use crate::error::Result;
use crate::segment::{KeySorters, Scratch, SecondaryKeySource, Segment, Table};
use crate::version::Losers;
use std::iter::Peekable;
use std::sync::Arc;

const CHUNK: usize = 1 << 15;
/// A sample has blocks from this many places of the largest table, and this many neighbours at each.
const SAMPLED: usize = 256;
const NEIGHBOURS: usize = 4;

#[derive(Debug)]
pub(crate) struct MergedTables<'a> {
    pub(crate) segments: &'a [Arc<Segment>],
    /// The keys of the fingerprints without live records.
    pub(crate) dropped: &'a KeySorters<'a>,
}

impl<'a> MergedTables<'a> {
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
        let sorted = self.dropped.take(table)?;
        let mut dropped = sorted.iter().flat_map(|sorted| sorted.items(self.dropped.memory()));
        merge_keys(self.tables(table), &mut dropped, visit)
    }
}

fn sample_of(table: &Table) -> Result<Vec<u64>> {
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

struct Cursor<'a> {
    table: &'a Table,
    scratch: Scratch,
    keys: Vec<u64>,
    at: usize,
    next_block: usize,
}

impl<'a> Cursor<'a> {
    fn new(table: &'a Table) -> Self {
        Self { table, scratch: Scratch::default(), keys: Vec::new(), at: 0, next_block: 0 }
    }

    fn load(&mut self) -> Result<()> {
        while self.at == self.keys.len() && self.next_block < self.table.index().len() {
            self.table.prefetch_ahead(self.next_block);
            self.keys.clear();
            self.keys.extend_from_slice(self.table.block(self.next_block, &mut self.scratch)?);
            (self.at, self.next_block) = (0, self.next_block + 1);
        }
        Ok(())
    }

    fn key(&self) -> Option<u64> {
        self.keys.get(self.at).copied()
    }
}

struct Cursors<'a> {
    cursors: Vec<Cursor<'a>>,
    order: Losers,
}

/// Calls `visit` with the distinct keys of all tables but those of `dropped`, which ascend.
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
        cursors.next_chunk(before, &mut chunk)?;
        if chunk.is_empty() {
            return Ok(());
        }
        if dropped.peek().is_none() {
            visit(&chunk)?;
            continue;
        }
        alive.clear();
        for &key in &chunk {
            if !is_dropped(&mut dropped, key)? {
                alive.push(key);
            }
        }
        if !alive.is_empty() {
            visit(&alive)?;
        }
    }
}

fn is_dropped(dropped: &mut Peekable<&mut dyn Iterator<Item = Result<u64>>>, key: u64) -> Result<bool> {
    while dropped.next_if(|next| next.as_ref().is_ok_and(|&next| next < key)).is_some() {}
    match dropped.peek() {
        Some(Ok(next)) => Ok(*next == key),
        Some(Err(_)) => dropped.next().transpose().map(|_| false),
        None => Ok(false),
    }
}

/// Whether cursor `a` comes before cursor `b`. Cursors at their end come last.
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

    /// Appends the next keys, each once, without `before`, the last key so far; none at the end.
    fn next_chunk(&mut self, mut before: Option<u64>, chunk: &mut Vec<u64>) -> Result<()> {
        while chunk.len() < CHUNK {
            // The cursor with the least key goes on alone up to the least key of its rivals.
            let rivals = self.order.rivals().filter_map(|number| self.cursors.get(number)?.key());
            let second = rivals.min().unwrap_or(u64::MAX);
            let Some(cursor) = self.cursors.get_mut(self.order.winner()) else { return Ok(()) };
            let rest = cursor.keys.get(cursor.at..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            let alone = rest.iter().take(CHUNK).take_while(|&&key| key <= second).count().max(1);
            let taken = rest.get(..alone).unwrap_or_default();
            // Several cursors may have the same key.
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
