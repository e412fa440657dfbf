//! Sorted items, one after another.

use crate::error::Result;
use crate::extsort::{Chunks, Item, Sorted};
use std::borrow::Cow;

/// Walks over sorted items.
pub(crate) struct Walk<'a, T: Item> {
    chunks: Chunks<'a, T>,
    chunk: Option<Cow<'a, [T]>>,
    at: usize,
}

impl<'a, T: Item> Walk<'a, T> {
    /// Before the first one, with so many bytes of memory.
    pub(crate) fn new(sorted: &'a Sorted<T>, memory: u64) -> Self {
        Self { chunks: sorted.chunks(memory), chunk: None, at: 0 }
    }

    /// The next item, if there is one.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<T>> {
        loop {
            if let Some(&item) = self.chunk.as_ref().and_then(|chunk| chunk.get(self.at)) {
                return Ok(Some(item));
            }
            self.chunk = self.chunks.next().transpose()?;
            self.at = 0;
            if self.chunk.is_none() {
                return Ok(None);
            }
        }
    }

    /// The next item, if there is one and it is wanted; goes behind it.
    #[inline]
    pub(crate) fn next_if(&mut self, wanted: impl Fn(&T) -> bool) -> Result<Option<T>> {
        let next = self.peek()?.filter(wanted);
        self.at += usize::from(next.is_some());
        Ok(next)
    }
}
