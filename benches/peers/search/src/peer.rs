//! The interface of a peer, and the list of peers.

use std::path::Path;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Builds an index of the values, in the directory if it has files.
pub(crate) type Build = Box<dyn FnOnce(Vec<u64>, &Path) -> Result<Box<dyn Index>>>;

pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) build: Build,
}

pub(crate) trait Index {
    fn searcher(&self) -> Result<Box<dyn Searcher + '_>>;
    fn sizes(&self) -> Result<Sizes>;
}

pub(crate) trait Searcher {
    /// Appends the stored fingerprints within the index's distance, in any order, possibly several times.
    fn query(&mut self, query: u64, found: &mut Vec<u64>) -> Result<()>;
}

#[derive(Default)]
pub(crate) struct Sizes {
    /// Files that queries need.
    pub(crate) file_bytes: u64,
    /// Memory by the peer's own count; if it has none, the growth of the process.
    pub(crate) resident_bytes: Option<u64>,
}

/// All peers, for queries within `k` bits.
pub(crate) fn all(k: u32) -> Vec<Peer> {
    let mut peers = crate::fpstore_peer::peers(k);
    peers.extend(crate::mih_peer::peers(k));
    peers.extend(crate::redb_peer::peers(k));
    #[cfg(feature = "rocksdb")]
    peers.extend(crate::rocksdb_peer::peers(k));
    peers.extend(crate::sorted_peer::peers(k));
    peers
}
