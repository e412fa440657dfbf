//! Where a fingerprint was found.

use crate::fingerprint::Fingerprint;

/// Fingerprints near one query, and where they were found; the same place perhaps several times.
#[derive(Debug)]
pub(crate) struct Hits<F>(Vec<(F, HitPlace)>);

/// Where a fingerprint was found. The order is that of their ages, oldest first; of those in the same segment, whose rank
/// is known comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HitPlace {
    /// The number of a segment, and the rank in its first table where that is known.
    Segment(usize, Option<u64>),
    /// The number of a memtable, and that of the fingerprint in it.
    Memtable(usize, u32),
}

impl HitPlace {
    /// Whether both are in the same segment or memtable.
    pub(crate) fn is_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Segment(a, _), Self::Segment(b, _)) | (Self::Memtable(a, _), Self::Memtable(b, _)) => a == b,
            _ => false,
        }
    }
}

impl<F> Default for Hits<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<F: Fingerprint> Hits<F> {
    pub(crate) fn add(&mut self, fingerprint: F, place: HitPlace) {
        self.0.push((fingerprint, place));
    }

    /// In the order of fingerprints, newest places first, each once.
    pub(crate) fn into_sorted(self) -> Vec<(F, HitPlace)> {
        let mut hits = self.0;
        hits.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        hits.dedup_by(|next, kept| next.0 == kept.0 && next.1.is_with(kept.1));
        hits
    }
}
