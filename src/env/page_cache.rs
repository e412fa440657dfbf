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

/// Most bytes of announced pages that a reader holds, short of one page: the cache's limit does not count them.
const MOST_ANNOUNCED: usize = 256 << 10;

/// The pages that a reader holds: the last one that it read, and those that it announced and will read.
#[derive(Debug, Default)]
pub(crate) struct HeldPages {
    last: Option<CachedPage>,
    announced: VecDeque<CachedPage>,
}

impl HeldPages {
    /// Drops the announced pages that were not read.
    #[inline]
    pub(crate) fn forget_announced(&mut self) {
        self.announced.clear();
    }

    /// Holds the page that is read now.
    #[inline]
    pub(crate) fn keep(&mut self, page: CachedPage) -> &[u8] {
        self.last.insert(page).bytes()
    }

    /// Removes and returns the page at this place, if it is held. Pages are read in the order in which they were
    /// announced, most often.
    #[inline]
    fn take(&mut self, place: (u64, u64)) -> Option<CachedPage> {
        if let Some(last) = self.last.take_if(|page| page.place == place) {
            return Some(last);
        }
        let at = self.announced.iter().position(|page| page.place == place)?;
        self.announced.remove(at)
    }

    fn has_space(&self) -> bool {
        self.announced.len() * self.announced.back().map_or(0, |page| page.bytes.len()) < MOST_ANNOUNCED
    }
}

impl CachedFile {
    /// The page at this offset: one that the reader held, or that of the cache.
    #[inline]
    pub(crate) fn get(&self, offset: u64, held: &mut HeldPages) -> Option<CachedPage> {
        let place = (self.number, offset);
        held.take(place).or_else(|| Some(CachedPage { place, bytes: self.cache.pages.get()?.get(&place)? }))
    }

    /// Calls `prefetch` with the page at this offset if it is there, and returns whether it is. The reader holds it
    /// until it has read it, and this counts as reading it once. Without a reader, or if that holds many, it does not
    /// count.
    #[inline]
    pub(crate) fn announce(&self, offset: u64, held: Option<&mut HeldPages>, prefetch: impl FnOnce(&[u8])) -> bool {
        let place = (self.number, offset);
        let Some(pages) = self.cache.pages.get() else { return false };
        let Some(held) = held.filter(|held| held.has_space()) else {
            return pages.peek(&place).inspect(|page| prefetch(page)).is_some();
        };
        // One block of a page after the other.
        if let Some(newest) = held.announced.back().or(held.last.as_ref()).filter(|page| page.place == place) {
            prefetch(newest.bytes());
            return true;
        }
        let Some(bytes) = pages.get(&place) else { return false };
        prefetch(&bytes);
        held.announced.push_back(CachedPage { place, bytes });
        true
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

    fn read(file: &CachedFile, number: u64) -> Option<CachedPage> {
        file.get(4096 * number, &mut HeldPages::default())
    }

    fn is_there(file: &CachedFile, number: u64) -> bool {
        file.announce(4096 * number, None, |_| {})
    }

    fn announce(file: &CachedFile, number: u64, held: &mut HeldPages) {
        let mut seen = Vec::new();
        assert!(file.announce(4096 * number, Some(held), |page| seen = page.to_vec()));
        assert_eq!(seen, [number as u8; 4096]);
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
                let mut held = HeldPages::default();
                held.keep(read(&one, number).unwrap());
                announce(&one, number, &mut held);
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
    fn announced_pages_are_there_in_any_order_though_they_left_the_cache() {
        let file = Arc::new(PageCache::new(1 << 20)).file().unwrap();
        let mut held = HeldPages::default();
        let most = (MOST_ANNOUNCED / 4096) as u64;
        add(&file, 0..most + 9);
        (0..most + 9).for_each(|number| announce(&file, number, &mut held));
        assert_eq!(held.announced.len() as u64, most);
        // Others, read more often.
        for number in 1000..3000 {
            add(&file, [number]);
            (0..4).for_each(|_| drop(read(&file, number)));
        }
        assert!((0..most + 9).all(|number| !is_there(&file, number)));
        for number in [7, 0, 1, 2, 3, 4, 5, 6].into_iter().chain(8..most) {
            // Twice, as two blocks of a page are read one after the other.
            for _ in 0..2 {
                let page = file.get(4096 * number, &mut held).unwrap();
                assert_eq!(held.keep(page), [number as u8; 4096]);
            }
        }
        assert!(held.announced.is_empty() && file.get(4096 * most, &mut held).is_none());
    }

    #[test]
    fn a_page_that_was_not_read_is_dropped_and_looked_up() {
        let file = Arc::new(PageCache::new(1 << 20)).file().unwrap();
        let mut held = HeldPages::default();
        add(&file, 0..3);
        (0..3).for_each(|number| announce(&file, number, &mut held));
        held.forget_announced();
        assert!(held.announced.is_empty() && file.get(4096, &mut held).is_some());
    }

    #[test]
    fn the_blocks_of_a_page_announced_in_a_row_count_as_one_read() {
        // Pages that the pass brings in, and pages that are there before it.
        for is_there_before in [false, true] {
            let file = Arc::new(PageCache::new(1 << 20)).file().unwrap();
            // Read again and again, so that they stay; then a pass over other pages, block by block.
            add(&file, 0..20);
            (0..60).for_each(|number| assert!(read(&file, number % 20).is_some()));
            for number in 1000..9000 {
                let mut held = HeldPages::default();
                if is_there_before {
                    add(&file, [number]);
                } else {
                    assert!(!file.announce(4096 * number, Some(&mut held), |_| {}));
                    assert!(file.get(4096 * number, &mut held).is_none());
                    held.keep(file.add(4096 * number, &[number as u8; 4096]));
                }
                for round in 0..4 {
                    (0..4).for_each(|_| announce(&file, number, &mut held));
                    assert_eq!(held.announced.len(), usize::from(is_there_before && round == 0));
                    let page = file.get(4096 * number, &mut held).unwrap();
                    held.keep(page);
                }
            }
            let stayed = (0..20).filter(|&number| is_there(&file, number)).count();
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
