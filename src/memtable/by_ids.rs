//! The records of an id in a memtable.

use super::atomics::{Arena, AtomicArray, AtomicU32, Ordering};
use super::buckets::{Buckets, count_step};

/// The records of each id.
#[derive(Debug)]
pub(crate) struct ByIds {
    /// All of them.
    pub(super) all: Buckets,
    /// Of each record the next one of the shorter list, counted from 1.
    pub(super) live: AtomicArray<AtomicU32>,
}

impl ByIds {
    /// For so many records; `None` if there is not so much memory.
    pub(super) fn new(records: usize, arena: &mut Arena) -> Option<Self> {
        Some(Self { all: Buckets::new(records, arena)?, live: arena.array(records)? })
    }

    /// The next record of the shorter list behind this one.
    pub(crate) fn live(&self, record: u32) -> Option<u32> {
        count_step();
        // A reader that has the record has acquired what was stored before it.
        self.live.as_slice().get(record as usize).and_then(|next| next.load(Ordering::Relaxed).checked_sub(1))
    }
}
