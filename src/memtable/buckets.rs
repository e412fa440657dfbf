//! A hash table of chains that only grows: numbers by a key, the newest first.

use crate::codec::prefetch;
use crate::env::AtomicArray;
use std::sync::atomic::{AtomicU32, Ordering};

/// Chains of numbers. Keys are not stored: who follows a chain compares.
#[derive(Debug)]
pub(super) struct Buckets {
    /// The newest number of each chain, counted from 1.
    heads: AtomicArray<AtomicU32>,
    /// Of each number the next older one of its chain, counted from 1.
    older: AtomicArray<AtomicU32>,
    /// Bits of a hash that do not tell heads apart.
    shift: u32,
}

impl Buckets {
    /// For so many numbers, those below it; `None` if there is not so much memory.
    pub(super) fn new(numbers: usize) -> Option<Self> {
        let heads = numbers.next_power_of_two().max(2);
        let shift = 64 - heads.trailing_zeros();
        Some(Self { heads: AtomicArray::new(heads)?, older: AtomicArray::new(numbers)?, shift })
    }

    /// Where the head of a key's chain is. Multiplicative hashing (Knuth, "The Art of Computer Programming", 6.4).
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of heads")]
    pub(super) fn slot(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Brings a head near.
    #[inline]
    pub(super) fn prefetch(&self, slot: usize) {
        prefetch(self.heads.as_slice(), slot);
    }

    /// Brings the link of a number near.
    #[inline]
    pub(super) fn prefetch_older(&self, number: u32) {
        prefetch(self.older.as_slice(), number as usize);
    }

    /// The newest number of the chain at a slot.
    #[inline]
    pub(super) fn newest(&self, slot: usize) -> Option<u32> {
        self.heads.as_slice().get(slot).and_then(|head| head.load(Ordering::Acquire).checked_sub(1))
    }

    /// The number that was entered before this one in its chain.
    #[inline]
    pub(super) fn older(&self, number: u32) -> Option<u32> {
        // Whoever has the number has acquired what was stored before it.
        self.older.as_slice().get(number as usize).and_then(|older| older.load(Ordering::Relaxed).checked_sub(1))
    }

    /// Puts a number at the front of its key's chain. One thread at a time.
    pub(super) fn enter(&self, key: u64, number: u32) {
        let slot = self.slot(key);
        if let (Some(head), Some(older)) = (self.heads.as_slice().get(slot), self.older.as_slice().get(number as usize))
        {
            older.store(head.load(Ordering::Relaxed), Ordering::Relaxed);
            // Readers of the head see the link, and all that the number stands for.
            head.store(number + 1, Ordering::Release);
        }
    }

    /// The numbers of a key's chain, newest first; those of other keys may be among them.
    pub(super) fn chain(&self, key: u64) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.newest(self.slot(key)), |&number| self.older(number))
    }
}
