//! Pages of files that are read with `pread`, in memory, for all stores that are opened with the same options.
//!
//! A page enters when its checksum was found to hold, and is not checked again while it stays. quick_cache decides
//! which pages stay (S3-FIFO: Yang et al., "FIFO queues are all you need for cache eviction", 2023): one that is read
//! once, as by a scan, does not displace those that are read again and again. A reader that asks for the blocks of a
//! page one after another holds the page ([`HeldPages`]), so that this counts as reading it once. It also holds those
//! that it announced: looking a page up waits for memory several times.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes that a page takes besides its own: the entry of the cache and the counts of its owners.
const BESIDE: u64 = 96;
/// The size of most pages.
const USUAL: u64 = 4096;

/// Number of files in all caches so far: a page that a reader holds is known by its file's number.
static FILES: AtomicU64 = AtomicU64::new(0);

pub(crate) struct PageCache {
    bytes: u64,
    /// Made for the first page.
    pages: OnceLock<Pages>,
}

type Pages = Cache<(u64, u64), Arc<[u8]>, Bytes>;

#[derive(Clone)]
struct Bytes;

impl Weighter<(u64, u64), Arc<[u8]>> for Bytes {
    fn weight(&self, _: &(u64, u64), page: &Arc<[u8]>) -> u64 {
        page.len() as u64 + BESIDE
    }
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
        (self.bytes >= USUAL + BESIDE).then(|| CachedFile { cache: Arc::clone(self), number })
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
    place: (u64, u64),
    bytes: Arc<[u8]>,
}

impl CachedPage {
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Most announced pages that a reader holds: the cache's limit does not count them.
const MOST_ANNOUNCED: usize = 64;

/// The pages that a reader holds: the last one that it read, and those that it announced, in this order.
#[derive(Debug, Default)]
pub(crate) struct HeldPages {
    last: Option<CachedPage>,
    announced: VecDeque<CachedPage>,
}

impl HeldPages {
    /// Holds a page that will be read after those announced before.
    #[inline]
    pub(crate) fn announce(&mut self, page: CachedPage) {
        if self.announced.len() < MOST_ANNOUNCED {
            self.announced.push_back(page);
        }
    }

    #[inline]
    pub(crate) fn forget_announced(&mut self) {
        self.announced.clear();
    }

    /// Holds the page that is read now.
    #[inline]
    pub(crate) fn keep(&mut self, page: CachedPage) -> &[u8] {
        self.last.insert(page).bytes()
    }

    /// Gives the page away if it is the last one or the next announced one.
    #[inline]
    fn take(&mut self, place: (u64, u64)) -> Option<CachedPage> {
        let last = self.last.take().filter(|page| page.place == place);
        let is_next = self.announced.front().is_some_and(|page| page.place == place);
        let next = if is_next { self.announced.pop_front() } else { None };
        last.or(next)
    }
}

impl CachedFile {
    /// The page at this offset: one that the reader held, or that of the cache.
    #[inline]
    pub(crate) fn get(&self, offset: u64, held: &mut HeldPages) -> Option<CachedPage> {
        let place = (self.number, offset);
        held.take(place).or_else(|| Some(CachedPage { place, bytes: self.cache.pages.get()?.get(&place)? }))
    }

    /// The page at this offset, if it is in the cache. Counts as reading it if the reader will hold it.
    #[inline]
    pub(crate) fn find(&self, offset: u64, is_held: bool) -> Option<CachedPage> {
        let (place, pages) = ((self.number, offset), self.cache.pages.get()?);
        let bytes = if is_held { pages.get(&place) } else { pages.peek(&place) };
        Some(CachedPage { place, bytes: bytes? })
    }

    /// Enters a page, and returns it.
    pub(crate) fn add(&self, offset: u64, page: &[u8]) -> CachedPage {
        let bytes = self.cache.bytes;
        let usual = usize::try_from(bytes / (USUAL + BESIDE)).unwrap_or(usize::MAX);
        let pages = self.cache.pages.get_or_init(|| Cache::with_weighter(usual, bytes, Bytes));
        let page = CachedPage { place: (self.number, offset), bytes: page.into() };
        pages.insert(page.place, Arc::clone(&page.bytes));
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &CachedFile, offset: u64) -> Option<CachedPage> {
        file.get(offset, &mut HeldPages::default())
    }

    #[test]
    fn pages_stay_within_the_memory_and_files_apart() {
        let caches = [(); 2].map(|()| Arc::new(PageCache::new(1 << 20)));
        let (one, other, apart) = (caches[0].file().unwrap(), caches[0].file().unwrap(), caches[1].file().unwrap());
        assert!(read(&one, 0).is_none());
        for number in 0..1000u64 {
            let page = [number as u8; 4096];
            assert_eq!(one.add(4096 * number, &page).bytes(), page);
            assert_eq!(read(&one, 4096 * number).unwrap().bytes(), page);
            for file in [&other, &apart] {
                let mut held = HeldPages::default();
                held.keep(read(&one, 4096 * number).unwrap());
                held.announce(read(&one, 4096 * number).unwrap());
                assert!(file.get(4096 * number, &mut held).is_none());
            }
        }
        let there: Vec<u64> = (0..1000).filter(|number| one.find(4096 * number, false).is_some()).collect();
        assert!((200..=(1 << 20) / (4096 + 96)).contains(&there.len()), "{}", there.len());
        for number in there {
            assert_eq!(read(&one, 4096 * number).unwrap().bytes(), [number as u8; 4096]);
        }
    }

    #[test]
    fn pages_that_are_held_are_there_though_they_left_the_cache() {
        let file = Arc::new(PageCache::new(3 * 4200)).file().unwrap();
        let mut held = HeldPages::default();
        for number in 0..100u8 {
            held.announce(file.add(4096 * u64::from(number), &[number; 4096]));
        }
        let is_gone = |number: u8| file.find(4096 * u64::from(number), false).is_none();
        assert!((0..100).filter(|&number| is_gone(number)).count() >= 97);
        for number in 0..MOST_ANNOUNCED as u8 {
            // Twice, as two blocks of a page are read one after the other.
            for _ in 0..2 {
                let page = file.get(4096 * u64::from(number), &mut held).unwrap();
                assert_eq!(held.keep(page), [number; 4096]);
            }
        }
        assert!(held.announced.is_empty());
        let after = (MOST_ANNOUNCED as u8..100).find(|&number| is_gone(number)).unwrap();
        assert!(file.get(4096 * u64::from(after), &mut held).is_none());
    }

    #[test]
    fn pages_that_are_not_read_in_their_order_are_looked_up() {
        let file = Arc::new(PageCache::new(1 << 20)).file().unwrap();
        let mut held = HeldPages::default();
        let pages = [1u8, 2, 2, 3].map(|number| file.add(4096 * u64::from(number), &[number; 4096]));
        pages.into_iter().for_each(|page| held.announce(page));
        for (number, left) in [(3u8, 4), (1, 3), (2, 2), (2, 1), (1, 1), (3, 0)] {
            let page = file.get(4096 * u64::from(number), &mut held).unwrap();
            assert_eq!(held.keep(page), [number; 4096]);
            assert_eq!(held.announced.len(), left);
        }
        held.announce(file.add(0, &[0; 4096]));
        held.forget_announced();
        assert!(held.announced.is_empty());
    }

    #[test]
    fn no_memory_no_pages() {
        for bytes in [0, 4000] {
            assert!(Arc::new(PageCache::new(bytes)).file().is_none());
        }
    }
}
