//! Items in order: borrowed, or in memory that is used again.

use crate::executor::Mutex;
use std::ops::Deref;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum Piece<'a, T> {
    Borrowed(&'a [T]),
    Owned(Vec<T>),
    Lent(Lent<T>),
}

/// The memory for pieces. The system clears all memory that is asked for anew, so one that was read goes back.
#[derive(Debug)]
pub(crate) struct Memory<T>(Arc<Mutex<Vec<Vec<T>>>>);

/// A piece whose memory goes back when it is dropped.
#[derive(Debug)]
pub(crate) struct Lent<T> {
    items: Vec<T>,
    memory: Memory<T>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Memory<T> {
    /// A vector with anything in it, of at least this capacity.
    pub(crate) fn take(&self, capacity: usize) -> Vec<T> {
        let space = self.0.lock().pop().filter(|space| space.capacity() >= capacity);
        space.unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    /// These items, in a vector whose memory comes back.
    pub(crate) fn lend(&self, items: Vec<T>) -> Lent<T> {
        Lent { items, memory: Self(Arc::clone(&self.0)) }
    }
}

impl<T> Deref for Lent<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        self.memory.0.lock().push(std::mem::take(&mut self.items));
    }
}

impl<T> Deref for Piece<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Borrowed(items) => items,
            Self::Owned(items) => items,
            Self::Lent(items) => items,
        }
    }
}
