//! A hash table of chains that only grow: numbers by a key, the newest first.

use super::atomics::{Arena, AtomicArray, AtomicU32, AtomicU64, Ordering};
use crate::codec::prefetch;

#[cfg(test)]
thread_local! {
    /// Links that this thread has followed.
    pub(super) static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[inline]
pub(super) fn count_step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

/// Bits of [`Buckets::marks`] per chain.
const MARKS: usize = 8;

/// The flag of a number that readers might know before it was entered.
const SEEN: u32 = 1 << 31;

/// Chains of numbers. Keys are not stored: the caller compares the numbers of a chain with its key.
#[derive(Debug)]
pub(super) struct Buckets {
    /// A bit for each place: whether a number was entered there. Most look-ups of absent keys end here, in a small
    /// array that stays in the caches.
    marks: AtomicArray<AtomicU64>,
    /// The newest number of each chain, counted from 1.
    heads: AtomicArray<AtomicU32>,
    /// For each entered number, the next older one of its chain, counted from 2, or 1 at the end; with [`SEEN`] if
    /// readers might know the number already. For a number that is not entered, 0 or [`SEEN`] and a count.
    older: AtomicArray<AtomicU32>,
    /// The number of low bits of a hash that are ignored.
    shift: u32,
}

impl Buckets {
    /// Buckets for the numbers below `numbers`; `None` without enough memory.
    pub(super) fn new(numbers: usize, arena: &mut Arena) -> Option<Self> {
        let heads = numbers.next_power_of_two().max(64 / MARKS);
        let places = heads.checked_mul(MARKS)?;
        Some(Self {
            marks: arena.array(places / 64)?,
            heads: arena.array(heads)?,
            older: arena.array(numbers)?,
            shift: 64 - places.trailing_zeros(),
        })
    }

    /// The place of a key; [`MARKS`] places share a chain. Multiplicative hashing (Knuth, "The Art of Computer
    /// Programming", 6.4).
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of places")]
    pub(super) fn place(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline]
    pub(super) fn prefetch_mark(&self, place: usize) {
        prefetch(self.marks.as_slice(), place / 64);
    }

    #[inline]
    pub(super) fn is_marked(&self, place: usize) -> bool {
        // A reader that sees a record has acquired all stores before its publication.
        self.marks.as_slice().get(place / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (place % 64) & 1 == 1)
    }

    #[inline]
    pub(super) fn prefetch(&self, place: usize) {
        prefetch(self.heads.as_slice(), place / MARKS);
    }

    #[inline]
    pub(super) fn prefetch_older(&self, number: u32) {
        prefetch(self.older.as_slice(), number as usize);
    }

    #[inline]
    pub(super) fn newest(&self, place: usize) -> Option<u32> {
        self.heads.as_slice().get(place / MARKS).and_then(|head| head.load(Ordering::Acquire).checked_sub(1))
    }

    #[inline]
    pub(super) fn older(&self, number: u32) -> Option<u32> {
        count_step();
        // A thread that has the number has acquired the stores before it.
        (self.state(number) & !SEEN).checked_sub(2)
    }

    /// Whether a number was entered before any reader could know it. Then a reader that knows it sees all numbers
    /// entered before.
    pub(super) fn has(&self, number: u32) -> bool {
        count_step();
        (1..SEEN).contains(&self.state(number))
    }

    /// The count of a number that is not entered, or 0.
    pub(super) fn count(&self, number: u32) -> u32 {
        self.state(number).saturating_sub(SEEN)
    }

    /// Sets the count of a number that is not entered. One thread at a time.
    pub(super) fn set_count(&self, number: u32, count: u32) {
        self.older.as_slice().get(number as usize).inspect(|state| state.store(SEEN | count, Ordering::Relaxed));
    }

    fn state(&self, number: u32) -> u32 {
        self.older.as_slice().get(number as usize).map_or(0, |state| state.load(Ordering::Relaxed))
    }

    /// Adds a number at the front of the key's chain. One thread at a time.
    pub(super) fn enter(&self, key: u64, number: u32) {
        self.put(key, number, 0);
    }

    /// As [`Buckets::enter`], for a number that readers know already.
    pub(super) fn enter_seen(&self, key: u64, number: u32) {
        self.put(key, number, SEEN);
    }

    fn put(&self, key: u64, number: u32, seen: u32) {
        let place = self.place(key);
        if let Some(word) = self.marks.as_slice().get(place / 64) {
            word.store(word.load(Ordering::Relaxed) | 1 << (place % 64), Ordering::Relaxed);
        }
        let (head, older) = (self.heads.as_slice().get(place / MARKS), self.older.as_slice().get(number as usize));
        if let (Some(head), Some(older)) = (head, older) {
            older.store(seen | (head.load(Ordering::Relaxed) + 1), Ordering::Relaxed);
            // Readers of the head see the link and the record of the number.
            head.store(number + 1, Ordering::Release);
        }
    }

    /// The numbers of a key's chain, newest first, and perhaps of other keys.
    pub(super) fn chain(&self, key: u64) -> impl Iterator<Item = u32> + '_ {
        let place = self.place(key);
        let chain = if self.is_marked(place) { Some(self.chain_at(place)) } else { None };
        chain.into_iter().flatten()
    }

    pub(super) fn chain_at(&self, place: usize) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.newest(place), |&number| self.older(number))
    }
}

/// The records of each id, in two lists.
#[derive(Debug)]
pub(super) struct ByIds {
    pub(super) all: Buckets,
    /// The shorter list: for each record the next one, counted from 1.
    pub(super) live: AtomicArray<AtomicU32>,
}

impl ByIds {
    pub(super) fn new(records: usize, arena: &mut Arena) -> Option<Self> {
        Some(Self { all: Buckets::new(records, arena)?, live: arena.array(records)? })
    }

    /// The next record of the shorter list.
    pub(super) fn live(&self, record: u32) -> Option<u32> {
        count_step();
        // A reader that has the record has acquired the stores before it.
        self.live.as_slice().get(record as usize).and_then(|next| next.load(Ordering::Relaxed).checked_sub(1))
    }
}
