//! Items in order, in memory of several kinds.

use crate::extsort::pool::Lent;
use std::ops::Deref;

#[derive(Debug)]
pub(crate) enum Piece<'a, T> {
    Borrowed(&'a [T]),
    Owned(Vec<T>),
    Lent(Lent<T>),
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
