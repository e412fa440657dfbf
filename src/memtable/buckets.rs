//! A hash table of chains that only grows: numbers by a key, the newest first.

use super::atomics::{Arena, AtomicArray, AtomicU32, AtomicU64, Ordering};
use crate::codec::prefetch;

#[cfg(test)]
thread_local! {
    /// How many links this thread has followed, for tests of how that grows.
    pub(super) static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts a link that is followed, in tests.
#[inline]
pub(super) fn count_step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

/// Bits of [`Buckets::marks`] for each head.
const MARKS: usize = 8;

/// Says that readers might have a number before it was entered.
const SEEN: u32 = 1 << 31;

/// Chains of numbers. Keys are not stored: who follows a chain compares.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// For each place a bit: whether anything was ever entered there. What is not there is told by this alone as a rule, and it is so
    /// small that it stays near.
    marks: AtomicArray<AtomicU64>,
    /// The newest number of each chain, counted from 1.
    heads: AtomicArray<AtomicU32>,
    /// Of each number that was entered the next older one of its chain, counted from 2, or 1 if there is none. With the bit
    /// [`SEEN`] if readers might have the number from elsewhere; they might have a number that was not entered, of which a count
    /// may stand here.
    older: AtomicArray<AtomicU32>,
    /// Bits of a hash that do not tell places apart.
    shift: u32,
}

impl Buckets {
    /// For so many numbers, those below it; `None` if there is not so much memory.
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

    /// The place of a key: [`MARKS`] of them share a chain. Multiplicative hashing (Knuth, "The Art of Computer Programming",
    /// 6.4).
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of places")]
    pub(super) fn place(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Brings the mark of a place near.
    #[inline]
    pub(super) fn prefetch_mark(&self, place: usize) {
        prefetch(self.marks.as_slice(), place / 64);
    }

    /// Whether anything was entered at a place that readers may see.
    #[inline]
    pub(super) fn is_marked(&self, place: usize) -> bool {
        // Who knows of a record has acquired everything that was stored before it was published.
        self.marks.as_slice().get(place / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (place % 64) & 1 == 1)
    }

    /// Brings the head of a place's chain near.
    #[inline]
    pub(super) fn prefetch(&self, place: usize) {
        prefetch(self.heads.as_slice(), place / MARKS);
    }

    /// Brings the link of a number near.
    #[inline]
    pub(super) fn prefetch_older(&self, number: u32) {
        prefetch(self.older.as_slice(), number as usize);
    }

    /// The newest number of a place's chain.
    #[inline]
    pub(super) fn newest(&self, place: usize) -> Option<u32> {
        self.heads.as_slice().get(place / MARKS).and_then(|head| head.load(Ordering::Acquire).checked_sub(1))
    }

    /// The number that was entered before this one in its chain.
    #[inline]
    pub(super) fn older(&self, number: u32) -> Option<u32> {
        count_step();
        // A thread that has the number has acquired what was stored before it.
        (self.state(number) & !SEEN).checked_sub(2)
    }

    /// Whether a number was entered before any reader could have it from elsewhere. A reader that has it from there has acquired
    /// all that was entered before it too.
    pub(super) fn has(&self, number: u32) -> bool {
        count_step();
        (1..SEEN).contains(&self.state(number))
    }

    /// What was noted of a number that was not entered; 0 if nothing was.
    pub(super) fn count(&self, number: u32) -> u32 {
        self.state(number).saturating_sub(SEEN)
    }

    /// Notes a count of a number that is not entered. One thread at a time.
    pub(super) fn set_count(&self, number: u32, count: u32) {
        self.older.as_slice().get(number as usize).inspect(|state| state.store(SEEN | count, Ordering::Relaxed));
    }

    fn state(&self, number: u32) -> u32 {
        self.older.as_slice().get(number as usize).map_or(0, |state| state.load(Ordering::Relaxed))
    }

    /// Puts a number at the front of its key's chain. One thread at a time.
    pub(super) fn enter(&self, key: u64, number: u32) {
        self.put(key, number, 0);
    }

    /// The same with a number that readers have from elsewhere.
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
            // Readers of the head see the link, and all that the number stands for.
            head.store(number + 1, Ordering::Release);
        }
    }

    /// The numbers of a key's chain, newest first; those of other keys may be among them.
    pub(super) fn chain(&self, key: u64) -> impl Iterator<Item = u32> + '_ {
        let place = self.place(key);
        let chain = if self.is_marked(place) { Some(self.chain_at(place)) } else { None };
        chain.into_iter().flatten()
    }

    /// The numbers of the chain that a place shares with others, newest first.
    pub(super) fn chain_at(&self, place: usize) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.newest(place), |&number| self.older(number))
    }
}
