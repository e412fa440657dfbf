//! Items in order, chunk by chunk.

use crate::error::Result;
use crate::extsort::ahead::Ahead;
use crate::extsort::item::Item;
use crate::extsort::merge::merged;
use crate::extsort::piece::Piece;
use crate::extsort::pool::Lent;
use crate::extsort::runs::Runs;
use crate::extsort::walk::Walk;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum Sorted<T> {
    /// Ascending; equal ones as the sorter keeps them.
    Memory(Vec<T>),
    Runs(Arc<Runs>),
}

impl<T: Item> Sorted<T> {
    /// All items, ascending, if nothing was written to a temporary file.
    pub(crate) fn in_memory(&self) -> Option<&[T]> {
        match self {
            Self::Memory(items) => Some(items),
            Self::Runs(_) => None,
        }
    }

    /// Number of items; equal ones in several runs count several times.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Memory(items) => items.len() as u64,
            Self::Runs(runs) => runs.records,
        }
    }

    /// All items, ascending, in chunks that are not empty; equal ones as the sorter keeps them. The iterator, with the
    /// chunk it returned last, takes `memory` bytes at most ([`merged`]), and nothing if all items are in memory anyway.
    pub(crate) fn chunks(&self, memory: u64) -> Chunks<'_, T> {
        match self {
            Self::Memory(items) => Chunks::Memory(Some(&**items).filter(|items| !items.is_empty())),
            Self::Runs(runs) => Chunks::Runs(merged(runs, memory)),
        }
    }

    /// As [`Sorted::chunks`], item by item.
    pub(crate) fn items(&self, memory: u64) -> impl Iterator<Item = Result<T>> {
        let mut walk = Walk::new(self, memory);
        std::iter::from_fn(move || walk.next_if(|_| true).transpose())
    }
}

pub(crate) enum Chunks<'a, T: Item> {
    Memory(Option<&'a [T]>),
    Runs(Ahead<Lent<T>>),
}

impl<'a, T: Item> Iterator for Chunks<'a, T> {
    type Item = Result<Piece<'a, T>>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Memory(items) => items.take().map(|items| Ok(Piece::Borrowed(items))),
            Self::Runs(chunks) => chunks.next().map(|chunk| chunk.map(Piece::Lent)),
        }
    }
}
