//! Pages of files that are read with `pread`, in memory, for all stores that are opened with the same options.
//!
//! A page enters when its checksum was found to hold, and is not checked again while it stays. quick_cache decides
//! which pages stay (S3-FIFO: Yang et al., "FIFO queues are all you need for cache eviction", 2023): one that is read
//! once does not displace those that are read again and again. A pass over all blocks asks for a page once a block, so
//! its pages count as read again.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes that a page takes besides its own: the entry of the cache and the counts of its owners.
const BESIDE: u64 = 96;
/// The size of most pages.
const USUAL: u64 = 4096;

pub(crate) struct PageCache {
    bytes: u64,
    /// Number of files so far.
    files: AtomicU64,
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
        Self { bytes, files: AtomicU64::new(0), pages: OnceLock::new() }
    }

    /// The pages of one more file; `None` if the cache holds none.
    pub(crate) fn file(self: &Arc<Self>) -> Option<CachedFile> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        (self.bytes >= USUAL + BESIDE).then(|| CachedFile { cache: Arc::clone(self), number })
    }
}

/// The pages of a file in a cache. Those of a file that is closed leave it as others come.
#[derive(Debug)]
pub(crate) struct CachedFile {
    cache: Arc<PageCache>,
    number: u64,
}

impl CachedFile {
    /// The page at this offset, if it is there.
    #[inline]
    pub(crate) fn get(&self, offset: u64) -> Option<Arc<[u8]>> {
        self.cache.pages.get()?.get(&(self.number, offset))
    }

    /// Enters a page.
    pub(crate) fn add(&self, offset: u64, page: &[u8]) {
        let bytes = self.cache.bytes;
        let usual = usize::try_from(bytes / (USUAL + BESIDE)).unwrap_or(usize::MAX);
        let pages = self.cache.pages.get_or_init(|| Cache::with_weighter(usual, bytes, Bytes));
        pages.insert((self.number, offset), page.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_stay_within_the_memory_and_files_apart() {
        let cache = Arc::new(PageCache::new(1 << 20));
        let (one, other) = (cache.file().unwrap(), cache.file().unwrap());
        assert!(one.get(0).is_none());
        for number in 0..1000u64 {
            one.add(4096 * number, &[number as u8; 4096]);
            assert_eq!(one.get(4096 * number).as_deref(), Some(&[number as u8; 4096][..]));
            assert!(other.get(4096 * number).is_none());
        }
        let held: Vec<u64> = (0..1000).filter(|number| one.get(4096 * number).is_some()).collect();
        assert!((200..=(1 << 20) / (4096 + 96)).contains(&held.len()), "{}", held.len());
        for number in held {
            assert_eq!(one.get(4096 * number).unwrap()[..], [number as u8; 4096]);
        }
    }

    #[test]
    fn no_memory_no_pages() {
        for bytes in [0, 4000] {
            assert!(Arc::new(PageCache::new(bytes)).file().is_none());
        }
    }
}
