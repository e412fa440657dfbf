//! Sorted items, one by one.

use crate::error::Result;
use crate::extsort::item::Item;
use crate::extsort::piece::Piece;
use crate::extsort::sorted::{Chunks, Sorted};

pub(crate) struct Walk<'a, T: Item> {
    chunks: Chunks<'a, T>,
    chunk: Option<Piece<'a, T>>,
    at: usize,
}

impl<'a, T: Item> Walk<'a, T> {
    /// Stands before the first item; takes `memory` bytes.
    pub(crate) fn new(sorted: &'a Sorted<T>, memory: u64) -> Self {
        Self { chunks: sorted.chunks(memory), chunk: None, at: 0 }
    }

    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<T>> {
        loop {
            if let Some(&item) = self.chunk.as_ref().and_then(|chunk| chunk.get(self.at)) {
                return Ok(Some(item));
            }
            // Its memory is for the chunk after the next one.
            self.chunk = None;
            self.chunk = self.chunks.next().transpose()?;
            self.at = 0;
            if self.chunk.is_none() {
                return Ok(None);
            }
        }
    }

    /// Moves past the next item and returns it, if it is wanted.
    #[inline]
    pub(crate) fn next_if(&mut self, wanted: impl Fn(&T) -> bool) -> Result<Option<T>> {
        let next = self.peek()?.filter(wanted);
        self.at += usize::from(next.is_some());
        Ok(next)
    }
}
