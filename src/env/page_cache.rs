//! Pages of files that are read with `pread`, in memory, for all stores that are opened with the same options.
//!
//! A page enters when its checksum was found to hold, and is not checked again while it stays. One that is read once, as
//! by a scan, does not displace those that are read again and again (`page_sets.rs`). A reader that asks for the blocks
//! of a page one after another holds the page ([`HeldPage`]), so that this counts as reading it once.

use super::page_sets::{BESIDE, PageSets, Place, USUAL};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Number of files in all caches so far: a page that a reader holds is known by its file's number.
static FILES: AtomicU64 = AtomicU64::new(0);

pub(crate) struct PageCache {
    bytes: u64,
    /// Made for the first page.
    pages: OnceLock<PageSets>,
}

impl fmt::Debug for PageCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageCache").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl PageCache {
    /// A cache that takes this many bytes, and no memory before the first page.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, pages: OnceLock::new() }
    }

    /// The pages of one more file; `None` if the cache holds none.
    pub(crate) fn file(self: &Arc<Self>) -> Option<CachedFile> {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        (self.bytes >= (USUAL + BESIDE) as u64).then(|| CachedFile { cache: Arc::clone(self), number })
    }
}

/// The pages of a file in a cache. Those of a file that is closed leave it as others come.
#[derive(Debug)]
pub(crate) struct CachedFile {
    cache: Arc<PageCache>,
    number: u64,
}

/// A page that a reader holds, and its place.
#[derive(Debug)]
pub(crate) struct CachedPage {
    place: Place,
    bytes: Arc<[u8]>,
}

impl CachedPage {
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The page that a reader has read last.
#[derive(Debug, Default)]
pub(crate) struct HeldPage(Option<CachedPage>);

impl HeldPage {
    /// Holds the page that is read now.
    #[inline]
    pub(crate) fn keep(&mut self, page: CachedPage) -> &[u8] {
        self.0.insert(page).bytes()
    }
}

impl CachedFile {
    /// The page at this offset: the one that the reader holds, or that of the cache.
    #[inline]
    pub(crate) fn get(&self, offset: u64, held: &mut HeldPage) -> Option<CachedPage> {
        let place = (self.number, offset);
        let last = held.0.take_if(|page| page.place == place);
        last.or_else(|| Some(CachedPage { place, bytes: self.cache.pages.get()?.get(place)? }))
    }

    /// Prefetches what a look-up waits for first.
    #[inline]
    pub(crate) fn prefetch(&self, offset: u64) {
        self.cache.pages.get().into_iter().for_each(|pages| pages.prefetch((self.number, offset)));
    }

    /// Calls `prefetch` with the page at this offset if it is there, and returns whether it is. This does not count as
    /// reading it.
    #[inline]
    pub(crate) fn announce(&self, offset: u64, prefetch: impl FnOnce(&[u8])) -> bool {
        self.cache.pages.get().is_some_and(|pages| pages.announce((self.number, offset), prefetch))
    }

    /// Enters a page, and returns it.
    pub(crate) fn add(&self, offset: u64, page: &[u8]) -> CachedPage {
        let pages = self.cache.pages.get_or_init(|| PageSets::new(self.cache.bytes));
        let page = CachedPage { place: (self.number, offset), bytes: page.into() };
        pages.insert(page.place, &page.bytes);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &CachedFile, number: u64) -> Option<CachedPage> {
        file.get(4096 * number, &mut HeldPage::default())
    }

    fn is_there(file: &CachedFile, number: u64) -> bool {
        let mut seen = None;
        let is_there = file.announce(4096 * number, |page| seen = Some(page.to_vec()));
        assert_eq!(seen, is_there.then(|| vec![number as u8; 4096]));
        is_there
    }

    fn add(file: &CachedFile, numbers: impl IntoIterator<Item = u64>) {
        numbers.into_iter().for_each(|number| drop(file.add(4096 * number, &[number as u8; 4096])));
    }

    #[test]
    fn pages_stay_within_the_memory_and_files_apart() {
        let caches = [(); 2].map(|()| Arc::new(PageCache::new(1 << 20)));
        let (one, other, apart) = (caches[0].file().unwrap(), caches[0].file().unwrap(), caches[1].file().unwrap());
        assert!(read(&one, 0).is_none());
        for number in 0..1000u64 {
            add(&one, [number]);
            assert_eq!(read(&one, number).unwrap().bytes(), [number as u8; 4096]);
            for file in [&other, &apart] {
                let mut held = HeldPage::default();
                held.keep(read(&one, number).unwrap());
                assert!(file.get(4096 * number, &mut held).is_none());
            }
        }
        let there: Vec<u64> = (0..1000).filter(|&number| is_there(&one, number)).collect();
        assert!((200..=(1 << 20) / (4096 + 96)).contains(&there.len()), "{}", there.len());
        for number in there {
            assert_eq!(read(&one, number).unwrap().bytes(), [number as u8; 4096]);
        }
    }

    #[test]
    fn a_page_is_held_though_it_left_the_cache() {
        let file = Arc::new(PageCache::new(1 << 20)).file().unwrap();
        let mut held = HeldPage::default();
        add(&file, [5]);
        held.keep(read(&file, 5).unwrap());
        // Others, read more often.
        for number in 1000..3000 {
            add(&file, [number]);
            (0..4).for_each(|_| drop(read(&file, number)));
        }
        assert!(!is_there(&file, 5));
        // Twice, as two blocks of a page are read one after the other.
        for _ in 0..2 {
            let page = file.get(4096 * 5, &mut held).unwrap();
            assert_eq!(held.keep(page), [5; 4096]);
        }
    }

    #[test]
    fn the_blocks_of_a_page_in_a_row_count_as_one_read() {
        // Pages that the pass brings in, and pages that are there before it.
        for is_there_before in [false, true] {
            let file = Arc::new(PageCache::new(1 << 20)).file().unwrap();
            // Read again and again, so that they stay; then a pass over other pages, block by block.
            add(&file, 0..20);
            (0..60).for_each(|number| assert!(read(&file, number % 20).is_some()));
            for number in 1000..9000 {
                let mut held = HeldPage::default();
                if is_there_before {
                    add(&file, [number]);
                } else {
                    assert!(file.get(4096 * number, &mut held).is_none());
                    held.keep(file.add(4096 * number, &[number as u8; 4096]));
                }
                for _ in 0..4 {
                    (0..4).for_each(|_| assert!(is_there(&file, number)));
                    let page = file.get(4096 * number, &mut held).unwrap();
                    held.keep(page);
                }
            }
            let stayed = (0..20).filter(|&number| is_there(&file, number)).count();
            // Pages that another reader brought are read again.
            assert!(is_there_before || stayed == 20, "{stayed}");
        }
    }

    #[test]
    fn no_memory_no_pages() {
        for bytes in [0, 4000] {
            assert!(Arc::new(PageCache::new(bytes)).file().is_none());
        }
    }
}
