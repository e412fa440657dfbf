//! Pages in sets of sixteen, so that a look-up waits for memory only three times: for the set, for the slot in it, and
//! for the counts of the page's owners. (quick_cache waits some six times; benches/results/queries.md.)
//!
//! The place of a page determines its set. Where a set is full, a page leaves that was not read again. Those that were
//! stay for pages read once, as by a scan, however many, up to three quarters of the set. If they become more, each but
//! the one just read counts one reading less, so that they leave in the end for others that are read again. A page that
//! comes back soon after it left counts as read again: so pages that are read in turn displace older ones, too. (S3-FIFO
//! has the same two rules: Yang et al., "FIFO queues are all you need for cache eviction", 2023.)

use crate::codec;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of a file, and an offset in it.
pub(super) type Place = (u64, u64);

/// Bytes that a page takes besides its own: its part of the set, the counts of its owners, and what an allocation takes.
pub(super) const BESIDE: usize = 96;
/// Bytes of the counts of a page's owners.
const COUNTS: usize = 2 * size_of::<usize>();
/// The size of most pages.
pub(super) const USUAL: usize = 4096;

/// Most pages of a set. That many of the usual size take as much as one of the greatest.
const WAYS: usize = 16;
/// Most readings of a page that count.
const MOST_READINGS: u8 = 3;
/// In the place of the readings of a page: there is none.
const EMPTY: u8 = u8::MAX;
/// Sets that are made together, when the first of them is needed.
const TOGETHER: usize = 64;
/// Most bytes: a list of all sets takes 4 MiB then.
const MOST: u64 = 1 << 40;

/// [`TOGETHER`] sets.
type Sets = OnceLock<Box<[Line<Mutex<Set>>]>>;

#[derive(Debug)]
pub(super) struct PageSets {
    sets: Vec<Sets>,
    count: usize,
    /// Most bytes of a set.
    most: usize,
}

/// Begins a cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Line<T>(T);

/// With its lock, what comes before the slots is one cache line. What comes after them is for pages that enter.
#[derive(Debug)]
#[repr(C)]
struct Set {
    /// Sixteen bits of the hashes of pages.
    tags: [u16; WAYS],
    /// Readings of each page since the one that brought it, or [`EMPTY`].
    readings: [u8; WAYS],
    /// Bytes of the pages with readings.
    read_again: usize,
    slots: [Option<(Place, Arc<[u8]>)>; WAYS],
    bytes: usize,
    /// The slot that was filled last. The search for a page that leaves begins after it.
    newest: usize,
    /// Tags of pages that left, and the place of the last of them.
    left: [u16; WAYS],
    last_left: usize,
}

impl Default for Set {
    fn default() -> Self {
        let (tags, slots, left) = Default::default();
        Self { tags, readings: [EMPTY; WAYS], read_again: 0, slots, bytes: 0, newest: 0, left, last_left: 0 }
    }
}

impl PageSets {
    /// Sets that hold this many bytes together, at most [`MOST`]; they take no memory before they are needed.
    pub(super) fn new(bytes: u64) -> Self {
        let bytes = usize::try_from(bytes.min(MOST)).unwrap_or(usize::MAX);
        let count = (bytes / (WAYS * (USUAL + BESIDE))).max(1);
        let sets = std::iter::repeat_with(OnceLock::new).take(count.div_ceil(TOGETHER)).collect();
        Self { sets, count, most: bytes / count }
    }

    /// The page at this place, and counts that it was read.
    #[inline]
    pub(super) fn get(&self, place: Place) -> Option<Arc<[u8]>> {
        let (number, tag) = self.number_and_tag(place);
        let mut set = lock(self.set(number)?);
        let way = set.way(place, tag)?;
        set.count(way, self.most);
        set.slots.get(way)?.as_ref().map(|slot| Arc::clone(&slot.1))
    }

    /// Prefetches what a look-up of this place waits for first.
    #[inline]
    pub(super) fn prefetch(&self, place: Place) {
        self.set(self.number_and_tag(place).0)
            .into_iter()
            .for_each(|set| codec::prefetch(std::slice::from_ref(set), 0));
    }

    /// Calls `prefetch` with the page at this place if it is there, and returns whether it is. A look-up soon after this
    /// one finds everything in the nearest cache.
    #[inline]
    pub(super) fn announce(&self, place: Place, prefetch: impl FnOnce(&[u8])) -> bool {
        let (number, tag) = self.number_and_tag(place);
        let Some(set) = self.set(number).map(lock) else { return false };
        let slot = set.way(place, tag).and_then(|way| set.slots.get(way)?.as_ref());
        let Some((_, page)) = slot else { return false };
        // The counts of owners lie before the bytes.
        codec::prefetch_address(page.as_ptr().wrapping_sub(COUNTS));
        prefetch(page);
        true
    }

    /// Enters a page, unless it is there or larger than a set.
    pub(super) fn insert(&self, place: Place, page: &Arc<[u8]>) {
        let ((number, tag), bytes) = (self.number_and_tag(place), page.len() + BESIDE);
        let Some(sets) = self.sets.get(number / TOGETHER).filter(|_| bytes <= self.most) else { return };
        let sets = sets.get_or_init(|| std::iter::repeat_with(Line::default).take(TOGETHER).collect());
        let Some(Line(set)) = sets.get(number % TOGETHER) else { return };
        let mut set = lock(set);
        // Another thread may have read it at the same time.
        if set.way(place, tag).is_some() {
            return;
        }
        while set.bytes + bytes > self.most || set.first(EMPTY).is_none() {
            let Some(way) = set.leaving() else { return };
            set.remove(way);
        }
        set.enter((place, Arc::clone(page)), tag, self.most);
    }

    #[inline]
    fn set(&self, number: usize) -> Option<&Mutex<Set>> {
        Some(&self.sets.get(number / TOGETHER)?.get()?.get(number % TOGETHER)?.0)
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "bits of a hash; its product with the number of sets, high half"
    )]
    fn number_and_tag(&self, (file, offset): Place) -> (usize, u16) {
        // Most offsets are multiples of 4096. Multiples of the golden ratio are evenly spread (Knuth, The Art of Computer
        // Programming, volume 3, section 6.4), so the sets of a file's pages fill evenly.
        let page = offset.rotate_right(12).wrapping_add(file.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (((u128::from(hash) * self.count as u128) >> 64) as usize, (hash >> 16) as u16)
    }
}

/// A panic of another thread leaves at most a page that is not found.
#[inline]
fn lock(set: &Mutex<Set>) -> MutexGuard<'_, Set> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Set {
    #[inline]
    fn way(&self, place: Place, tag: u16) -> Option<usize> {
        let mut slots = self.tags.iter().zip(&self.slots);
        slots.position(|(known, slot)| *known == tag && slot.as_ref().is_some_and(|slot| slot.0 == place))
    }

    /// Counts a reading of a page.
    #[inline]
    fn count(&mut self, way: usize, most: usize) {
        let Some(readings) = self.readings.get_mut(way) else { return };
        *readings = (*readings + 1).min(MOST_READINGS);
        if *readings == 1 {
            self.read_again += self.bytes_of(way);
            if self.read_again > most / 4 * 3 {
                self.age(way);
            }
        }
    }

    /// Counts a reading less for each page but one.
    fn age(&mut self, but: usize) {
        for way in (0..WAYS).filter(|&way| way != but) {
            let Some(readings) = self.readings.get_mut(way).filter(|readings| (1..EMPTY).contains(*readings)) else {
                continue;
            };
            *readings -= 1;
            if *readings == 0 {
                self.read_again -= self.bytes_of(way);
            }
        }
    }

    fn bytes_of(&self, way: usize) -> usize {
        self.slots.get(way).and_then(Option::as_ref).map_or(0, |slot| slot.1.len() + BESIDE)
    }

    /// The first slot behind the newest one with so many readings.
    fn first(&self, readings: u8) -> Option<usize> {
        let mut ways = (1..=WAYS).map(|step| (self.newest + step) % WAYS);
        ways.find(|&way| self.readings.get(way) == Some(&readings))
    }

    /// The page that leaves next, if there is one.
    fn leaving(&self) -> Option<usize> {
        (0..=MOST_READINGS).find_map(|readings| self.first(readings))
    }

    fn remove(&mut self, way: usize) {
        let bytes = self.bytes_of(way);
        self.last_left = (self.last_left + 1) % WAYS;
        let places = (self.slots.get_mut(way), self.readings.get_mut(way), self.left.get_mut(self.last_left));
        if let ((Some(slot), Some(readings), Some(left)), Some(tag)) = (places, self.tags.get(way)) {
            self.bytes -= bytes;
            self.read_again -= if *readings > 0 { bytes } else { 0 };
            (*slot, *readings, *left) = (None, EMPTY, *tag);
        }
    }

    /// Enters a page, if a slot is empty.
    fn enter(&mut self, page: (Place, Arc<[u8]>), tag: u16, most: usize) {
        let Some(way) = self.first(EMPTY) else { return };
        let places = (self.slots.get_mut(way), self.tags.get_mut(way), self.readings.get_mut(way));
        if let (Some(slot), Some(known), Some(readings)) = places {
            self.bytes += page.1.len() + BESIDE;
            (*slot, *known, *readings, self.newest) = (Some(page), tag, 0, way);
        }
        if self.left.contains(&tag) {
            self.count(way, most);
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
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    fn a_look_up_touches_the_first_line_of_the_set_and_a_slot() {
        assert_eq!(std::mem::offset_of!(Set, slots), 56);
        // The lock has eight bytes.
        assert_eq!(size_of::<Line<Mutex<Set>>>(), 64 + WAYS * 32 + 64);
    }

    /// Reads a page, and brings it if it is not there; whether it was.
    fn read(sets: &PageSets, file: u64, number: u64, length: usize) -> bool {
        let place = (file, number * length as u64);
        let found = sets.get(place);
        if found.is_none() {
            sets.insert(place, &page(7, length));
        }
        found.is_some()
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
                    if !is_found {
                        model.insert(place, page(step, length));
                    }
                    assert_eq!(sets.announce(place, |_| {}), is_found || length + BESIDE <= sets.most);
                }
            }
            let mut all = 0;
            for Line(set) in sets.sets.iter().filter_map(OnceLock::get).flatten() {
                let set = set.lock().unwrap();
                let bytes = |way: &usize| set.bytes_of(*way);
                assert_eq!((0..WAYS).map(|way| bytes(&way)).sum::<usize>(), set.bytes);
                let read_again = (0..WAYS).filter(|&way| (1..EMPTY).contains(&set.readings[way]));
                assert_eq!(read_again.map(|way| bytes(&way)).sum::<usize>(), set.read_again);
                all += set.bytes;
            }
            assert!(all <= bytes && hits > 10, "{all} {hits}");
        }
    }

    #[test]
    fn pages_read_again_stay_for_a_scan_and_leave_for_others() {
        // Of the usual size, and so large that a set has few.
        for (length, hot) in [(4096, 700), (16_384, 120)] {
            let sets = PageSets::new(4 << 20);
            let there = |file, numbers: u64| {
                (0..numbers).filter(|&number| sets.get((file, number * length as u64)).is_some()).count() as u64
            };
            for _ in 0..8 {
                (0..hot).for_each(|number| _ = read(&sets, 0, number, length));
            }
            let before = there(0, hot);
            assert!(before > hot * 3 / 4, "{length}: {before} of {hot}");
            (0..100_000).for_each(|number| _ = read(&sets, 1, number, length));
            let stayed = there(0, hot);
            assert!(stayed > hot * 2 / 3, "{length}: {stayed} of {hot}");
            // Others instead, as many, in turn: none is read again before others of its set come.
            for _ in 0..30 {
                (0..hot).for_each(|number| _ = read(&sets, 2, number, length));
            }
            let others = there(2, hot);
            assert!(others > hot * 3 / 4, "{length}: {others} of {hot}");
        }
    }

    #[test]
    fn a_page_larger_than_a_set_leaves_the_others_alone() {
        let sets = PageSets::new(20_000);
        (0..4).for_each(|number| _ = read(&sets, 0, number, 4096));
        sets.insert((1, 0), &page(1, 65_536));
        assert!((0..4).all(|number| read(&sets, 0, number, 4096)) && !sets.announce((1, 0), |_| {}));
    }

    #[test]
    fn a_large_limit_takes_little_memory() {
        for bytes in [1 << 40, u64::MAX] {
            let sets = PageSets::new(bytes);
            assert!(sets.sets.len() * size_of::<Sets>() <= 8 << 20);
            assert!(!read(&sets, 0, 1, 4096) && read(&sets, 0, 1, 4096));
        }
    }

    #[test]
    fn threads_see_the_right_pages() {
        let sets = PageSets::new(1 << 20);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let sets = &sets;
                scope.spawn(move || {
                    for step in 0..20_000usize {
                        let number = (step * (thread + 1) * 7919) % 500;
                        match sets.get((0, number as u64 * 4096)) {
                            Some(found) => assert_eq!(found, page(number, 4096)),
                            None => sets.insert((0, number as u64 * 4096), &page(number, 4096)),
                        }
                        sets.announce((0, number as u64 * 4096), |found| assert_eq!(found[0], number as u8));
                    }
                });
            }
        });
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
