//! Ids that no record has.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id};
use crate::load::records::RecordSorter;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Ids that are not there are named, at most so many.
pub(crate) const NAMED: usize = 5;

/// Ids that no record has.
#[derive(Debug, Default)]
pub(crate) struct Unknown {
    pub(crate) count: u64,
    /// The smallest of them.
    pub(crate) some: BTreeSet<Id>,
}

impl Unknown {
    pub(crate) fn add(&mut self, id: Id) {
        self.count += 1;
        self.some.insert(id);
        self.keep_few();
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        self.count += other.count;
        self.some.extend(other.some);
        self.keep_few();
        self
    }

    fn keep_few(&mut self) {
        while self.some.len() > NAMED {
            self.some.pop_last();
        }
    }
}

pub(crate) fn push<F: Fingerprint>(found: &Mutex<RecordSorter<F>>, fingerprint: F, id: &Id) -> Result<()> {
    found.lock().unwrap_or_else(PoisonError::into_inner).push(fingerprint, id.as_ref())
}
