//! Vectors whose memory is used again: the system clears all memory that is asked for anew.

use crate::executor::Mutex;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Vectors that came back. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Pool<T>(Arc<Mutex<Vec<Vec<T>>>>);

/// A vector that goes back to its pool when it is dropped.
#[derive(Debug)]
pub(crate) struct Lent<T> {
    items: Vec<T>,
    pool: Pool<T>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone> Pool<T> {
    /// A vector with anything in it, of at least this capacity.
    pub(crate) fn take(&self, capacity: usize) -> Vec<T> {
        let space = self.0.lock().pop().filter(|space| space.capacity() >= capacity);
        space.unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    /// The same vector, which comes back.
    pub(crate) fn lend(&self, items: Vec<T>) -> Lent<T> {
        Lent { items, pool: self.clone() }
    }
}

impl<T> Deref for Lent<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        self.pool.0.lock().push(std::mem::take(&mut self.items));
    }
}
