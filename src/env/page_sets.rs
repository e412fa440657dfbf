//! Pages in sets of a few, so that a look-up waits for memory only three times: for the set, for the slot in it, and for
//! the counts of the page's owners. (quick_cache waits some six times; benches/results/queries.md.)
//!
//! The place of a page determines its set. Where a set is full, the page leaves that has been there longest of those
//! that were not read again. Pages that were do not leave for pages read once, as by a scan, however many; if they
//! become more than three quarters of a set, all but the newest count one reading less, so that they leave in the end
//! for others that are read again and again.

use crate::codec;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of a file, and an offset in it.
pub(super) type Place = (u64, u64);

/// Bytes that a page takes besides its own: its slot and the counts of its owners.
pub(super) const BESIDE: usize = 96;
/// Bytes of the counts of a page's owners.
const COUNTS: usize = 2 * size_of::<usize>();
/// The size of most pages.
pub(super) const USUAL: usize = 4096;

/// Most pages of a set. It has space for one of the largest block size.
const WAYS: usize = 16;
/// Most readings of a page that count.
const MOST_READINGS: u8 = 3;
/// In the place of the readings of a page: there is none.
const EMPTY: u8 = u8::MAX;
/// Most pages of a set that were read again.
const MOST_READ_AGAIN: usize = WAYS / 4 * 3;

#[derive(Debug)]
pub(super) struct PageSets {
    sets: Vec<Line<Mutex<Set>>>,
    /// Most bytes of a set.
    most: usize,
}

/// Begins a cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Line<T>(T);

/// With its lock, what comes before the slots is one cache line. It decides which page leaves.
#[derive(Debug)]
#[repr(C)]
struct Set {
    /// Eight bits of the hashes of pages.
    tags: [u8; WAYS],
    /// Readings of each page since the one that brought it, or [`EMPTY`].
    readings: [u8; WAYS],
    /// The slot that was filled last; the next ones were filled before, in this order.
    newest: usize,
    read_again: usize,
    bytes: usize,
    slots: [Option<(Place, Arc<[u8]>)>; WAYS],
}

impl Default for Set {
    fn default() -> Self {
        let slots = Default::default();
        Self { tags: [0; WAYS], readings: [EMPTY; WAYS], newest: 0, read_again: 0, bytes: 0, slots }
    }
}

impl PageSets {
    /// Sets that hold this many bytes together.
    pub(super) fn new(bytes: u64) -> Self {
        let sets = (usize::try_from(bytes).unwrap_or(usize::MAX) / (WAYS * (USUAL + BESIDE))).max(1);
        let most = usize::try_from(bytes / sets as u64).unwrap_or(usize::MAX);
        Self { sets: std::iter::repeat_with(Line::default).take(sets).collect(), most }
    }

    /// The page at this place, and counts that it was read.
    #[inline]
    pub(super) fn get(&self, place: Place) -> Option<Arc<[u8]>> {
        let (mut set, tag) = self.set(place)?;
        let way = set.way(place, tag)?;
        set.count(way);
        set.page(way)
    }

    /// Prefetches what a look-up of this place waits for first.
    #[inline]
    pub(super) fn prefetch(&self, place: Place) {
        codec::prefetch(&self.sets, self.number_and_tag(place).0);
    }

    /// Calls `prefetch` with the page at this place if it is there, and returns whether it is. A look-up soon after this
    /// one finds everything in the nearest cache.
    #[inline]
    pub(super) fn announce(&self, place: Place, prefetch: impl FnOnce(&[u8])) -> bool {
        let Some((set, tag)) = self.set(place) else { return false };
        let slot = set.way(place, tag).and_then(|way| set.slots.get(way)?.as_ref());
        let Some((_, page)) = slot else { return false };
        // The count of owners lies before the bytes.
        codec::prefetch_address(page.as_ptr().wrapping_sub(COUNTS));
        prefetch(page);
        true
    }

    /// Enters a page, unless it is larger than a set.
    pub(super) fn insert(&self, place: Place, page: &Arc<[u8]>) {
        let bytes = page.len() + BESIDE;
        let Some((mut set, tag)) = self.set(place) else { return };
        if let Some(way) = set.way(place, tag) {
            set.remove(way);
        }
        while set.bytes + bytes > self.most || set.oldest(EMPTY).is_none() {
            let Some(way) = set.leaving() else { return };
            set.remove(way);
        }
        set.enter((place, Arc::clone(page)), tag);
    }

    #[inline]
    fn set(&self, place: Place) -> Option<(MutexGuard<'_, Set>, u8)> {
        let (number, tag) = self.number_and_tag(place);
        // A panic of another thread leaves at most a page that is not found.
        Some((self.sets.get(number)?.0.lock().unwrap_or_else(PoisonError::into_inner), tag))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the upper half of a product is less than the number of sets")]
    fn number_and_tag(&self, (file, offset): Place) -> (usize, u8) {
        // Most offsets are multiples of 4096. Multiples of the golden ratio are evenly spread (Knuth, The Art of Computer
        // Programming, volume 3, section 6.4), so the sets of a file's pages fill evenly.
        let page = offset.rotate_right(12).wrapping_add(file.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (((u128::from(hash) * self.sets.len() as u128) >> 64) as usize, (hash >> 24) as u8)
    }
}

impl Set {
    #[inline]
    fn way(&self, place: Place, tag: u8) -> Option<usize> {
        let mut slots = self.tags.iter().zip(&self.slots);
        slots.position(|(known, slot)| *known == tag && slot.as_ref().is_some_and(|slot| slot.0 == place))
    }

    #[inline]
    fn page(&self, way: usize) -> Option<Arc<[u8]>> {
        self.slots.get(way)?.as_ref().map(|slot| Arc::clone(&slot.1))
    }

    /// Counts a reading of a page.
    #[inline]
    fn count(&mut self, way: usize) {
        let Some(readings) = self.readings.get_mut(way) else { return };
        *readings = (*readings + 1).min(MOST_READINGS);
        if *readings == 1 {
            self.read_again += 1;
            if self.read_again > MOST_READ_AGAIN {
                self.age(Some(way));
            }
        }
    }

    /// Counts a reading less for each page but one.
    #[cold]
    fn age(&mut self, but: Option<usize>) {
        let pages = self.readings.iter_mut().enumerate().filter(|(_, readings)| **readings < EMPTY);
        pages.filter(|(way, _)| Some(*way) != but).for_each(|(_, readings)| *readings = readings.saturating_sub(1));
        let read_again = self.readings.iter().filter(|readings| (1..EMPTY).contains(*readings));
        self.read_again = read_again.count();
    }

    /// The slot with so many readings that was filled first.
    fn oldest(&self, readings: u8) -> Option<usize> {
        let mut ways = (1..=WAYS).map(|step| (self.newest + step) % WAYS);
        ways.find(|&way| self.readings.get(way) == Some(&readings))
    }

    /// The page that leaves next, if there is one.
    fn leaving(&mut self) -> Option<usize> {
        for _ in 0..MOST_READINGS {
            if let Some(way) = self.oldest(0) {
                return Some(way);
            }
            self.age(None);
        }
        self.oldest(0)
    }

    fn remove(&mut self, way: usize) {
        let (slot, readings) = (self.slots.get_mut(way).and_then(Option::take), self.readings.get_mut(way));
        if let (Some((_, page)), Some(readings)) = (slot, readings) {
            self.bytes -= page.len() + BESIDE;
            self.read_again -= usize::from(std::mem::replace(readings, EMPTY) > 0);
        }
    }

    /// Enters a page, if a slot is empty.
    fn enter(&mut self, page: (Place, Arc<[u8]>), tag: u8) {
        let Some(way) = self.oldest(EMPTY) else { return };
        let places = (self.slots.get_mut(way), self.tags.get_mut(way), self.readings.get_mut(way));
        if let (Some(slot), Some(known), Some(readings)) = places {
            self.bytes += page.1.len() + BESIDE;
            (*slot, *known, *readings, self.newest) = (Some(page), tag, 0, way);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn page(byte: usize, length: usize) -> Arc<[u8]> {
        vec![byte as u8; length].into()
    }

    #[test]
    fn a_look_up_touches_the_line_of_the_set_and_a_slot() {
        assert_eq!(size_of::<Line<Mutex<Set>>>(), 64 + WAYS * 32);
        assert_eq!(std::mem::offset_of!(Set, slots), 56);
    }

    /// As a map from places to pages that forgets some; its bytes are bounded and counted.
    #[test]
    fn any_sequence() {
        for (bytes, sizes) in
            [(1usize << 20, [4096, 4096, 100]), (1 << 18, [65_536, 4096, 9000]), (5000, [4096, 7000, 1])]
        {
            let sets = PageSets::new(bytes as u64);
            let (mut model, mut random, mut hits) = (BTreeMap::new(), 1u64, 0);
            for step in 0..20_000usize {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let place = (random >> 60, (random >> 33) % 64 * 4096);
                let (length, is_found) = (sizes[step % 3], sets.announce(place, |_| {}));
                match sets.get(place) {
                    Some(found) => {
                        assert_eq!(Some(&found), model.get(&place));
                        hits += 1;
                    }
                    None => assert!(!is_found),
                }
                if step % 4 != 0 {
                    sets.insert(place, &page(step, length));
                    model.insert(place, page(step, length));
                    assert_eq!(sets.announce(place, |_| {}), length + BESIDE <= sets.most);
                }
            }
            let mut all = 0;
            for set in &sets.sets {
                let set = set.0.lock().unwrap();
                let sum: usize = set.slots.iter().flatten().map(|slot| slot.1.len() + BESIDE).sum();
                assert_eq!(sum, set.bytes);
                assert_eq!(
                    set.read_again,
                    set.readings.iter().filter(|readings| (1..EMPTY).contains(*readings)).count()
                );
                all += sum;
            }
            assert!(all <= bytes && hits > 10, "{all} {hits}");
        }
    }

    #[test]
    fn pages_read_again_stay_for_a_scan_and_leave_for_others() {
        let sets = PageSets::new(1 << 20);
        let read = |file: u64, number: u64| {
            let place = (file, number * 4096);
            let found = sets.get(place);
            if found.is_none() {
                sets.insert(place, &page(7, 4096));
            }
            found.is_some()
        };
        for _ in 0..4 {
            (0..100).for_each(|number| _ = read(0, number));
        }
        (0..100_000).for_each(|number| _ = read(1, number));
        assert_eq!((0..100).filter(|&number| read(0, number)).count(), 100);
        // Others instead, as many.
        for _ in 0..8 {
            (0..100).for_each(|number| _ = read(2, number));
        }
        assert_eq!((0..100).filter(|&number| read(2, number)).count(), 100);
    }

    #[test]
    fn a_files_pages_fill_the_sets_evenly() {
        let sets = PageSets::new(64 << 20);
        // Nine tenths of what there is space for.
        let most = 64 * (1 << 20) / (USUAL + BESIDE) as u64 * 9 / 10;
        (0..most).for_each(|number| sets.insert((3, 4096 * number), &page(1, 4096)));
        let there = (0..most).filter(|&number| sets.announce((3, 4096 * number), |_| {})).count() as u64;
        assert!(there > most * 98 / 100, "{there} of {most}");
    }
}
