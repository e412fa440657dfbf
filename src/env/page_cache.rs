//! Pages of files that are read with `pread`, in memory, for all stores that are opened with the same options.
//!
//! A page enters when its checksum was found to hold, and is not checked again while it stays. quick_cache decides
//! which pages stay (S3-FIFO: Yang et al., "FIFO queues are all you need for cache eviction", 2023): one that is read
//! once, as by a scan, does not displace those that are read again and again. A reader that asks for the blocks of a
//! page one after another holds the page ([`CachedPage`]), so that this counts as reading it once.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
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

impl CachedFile {
    /// The page at this offset: the last one that a reader held, if it is the same, or that of the cache.
    #[inline]
    pub(crate) fn get(&self, offset: u64, last: Option<CachedPage>) -> Option<CachedPage> {
        let place = (self.number, offset);
        match last {
            Some(last) if last.place == place => Some(last),
            _ => Some(CachedPage { place, bytes: self.cache.pages.get()?.get(&place)? }),
        }
    }

    /// The page at this offset, if it is there. Does not count as reading it.
    #[inline]
    pub(crate) fn peek(&self, offset: u64) -> Option<Arc<[u8]>> {
        self.cache.pages.get()?.peek(&(self.number, offset))
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

    #[test]
    fn pages_stay_within_the_memory_and_files_apart() {
        let caches = [(); 2].map(|()| Arc::new(PageCache::new(1 << 20)));
        let (one, other, apart) = (caches[0].file().unwrap(), caches[0].file().unwrap(), caches[1].file().unwrap());
        assert!(one.get(0, None).is_none());
        for number in 0..1000u64 {
            let page = [number as u8; 4096];
            assert_eq!(one.add(4096 * number, &page).bytes(), page);
            assert_eq!(one.get(4096 * number, None).unwrap().bytes(), page);
            for file in [&other, &apart] {
                assert!(file.get(4096 * number, one.get(4096 * number, None)).is_none());
            }
        }
        let held: Vec<u64> = (0..1000).filter(|number| one.peek(4096 * number).is_some()).collect();
        assert!((200..=(1 << 20) / (4096 + 96)).contains(&held.len()), "{}", held.len());
        for number in held {
            assert_eq!(one.get(4096 * number, None).unwrap().bytes(), [number as u8; 4096]);
        }
    }

    #[test]
    fn a_page_that_is_held_is_there_though_it_left_the_cache() {
        let file = Arc::new(PageCache::new(3 * 4200)).file().unwrap();
        let added = (0..100u8).map(|number| (number, file.add(4096 * u64::from(number), &[number; 4096])));
        let mut gone = added.collect::<Vec<_>>();
        gone.retain(|(number, _)| file.peek(4096 * u64::from(*number)).is_none());
        assert!(gone.len() >= 97);
        for (number, page) in gone {
            let again = file.get(4096 * u64::from(number), Some(page)).unwrap();
            assert_eq!(again.bytes(), [number; 4096]);
            assert!(file.get(4096 * 1000, Some(again)).is_none());
        }
    }

    #[test]
    fn no_memory_no_pages() {
        for bytes in [0, 4000] {
            assert!(Arc::new(PageCache::new(bytes)).file().is_none());
        }
    }
}
