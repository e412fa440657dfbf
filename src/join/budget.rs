//! A join, and the division of its memory.

use crate::bitset::Bitset;
use crate::executor::Executor;
use crate::fingerprint::Fingerprint;
use crate::join::job::Progress;
use crate::plan::Part;
use crate::segment::Segment;
use std::marker::PhantomData;
use std::sync::Arc;

/// Most segments of a side that are read in the order of their tables: each takes look-ups for each group of a pass.
const FEW: usize = 16;

/// The pairs within distance `k` of fingerprints of the segments on the left, or between left and right.
#[derive(Debug)]
pub(crate) struct Join<'a, F> {
    pub(crate) left: &'a [Arc<Segment>],
    /// `None`: pairs within the left segments.
    pub(crate) right: Option<&'a [Arc<Segment>]>,
    /// The numbers of the fingerprints on the right that take part ([`crate::cluster::Numbers`]); `None`: all.
    pub(crate) only: Option<&'a Bitset>,
    /// The same on the left.
    pub(crate) only_left: Option<&'a Bitset>,
    pub(crate) k: u32,
    /// Finds only the pairs of this part.
    pub(crate) part: Option<Part>,
    /// Bytes: three eighths for the buckets in memory, an eighth for threads that join buckets, an eighth for a bucket
    /// that is too large for a thread; a quarter for fingerprints that are read once and kept or, where keeping them
    /// does not pay, for more buckets; the rest for counts and for results that wait.
    pub(crate) memory: u64,
    pub(crate) progress: &'a Progress,
    pub(crate) executor: &'a Executor,
    pub(crate) fingerprints: PhantomData<F>,
}

impl<'a, F: Fingerprint> Join<'a, F> {
    pub(crate) fn new(
        left: &'a [Arc<Segment>],
        right: Option<&'a [Arc<Segment>]>,
        k: u32,
        memory: u64,
        progress: &'a Progress,
        executor: &'a Executor,
    ) -> Self {
        Self {
            left,
            right,
            only: None,
            only_left: None,
            k,
            part: None,
            memory,
            progress,
            executor,
            fingerprints: PhantomData,
        }
    }

    /// Bytes for fingerprints that are read once and kept. Decoding all of few segments again takes no longer than
    /// reading them from memory; selecting some, or merging many segments, takes ten times as long.
    pub(super) fn kept(&self) -> u64 {
        if self.is_plain() { 0 } else { self.memory / 4 }
    }

    /// Whether each side is all of few segments.
    pub(super) fn is_plain(&self) -> bool {
        let selects = self.only.is_some() || self.only_left.is_some();
        self.left.len() <= FEW && self.right.is_none_or(|right| right.len() <= FEW) && !selects
    }

    pub(super) fn most_in_memory(&self) -> usize {
        let bytes = self.memory / 8 * 5 - self.kept();
        usize::try_from(bytes).unwrap_or(usize::MAX) / F::BYTES
    }

    /// Maximum number of fingerprints of a large bucket that is kept by itself, to be divided further.
    pub(super) fn most_kept(&self) -> u64 {
        self.memory / 8 / F::BYTES as u64
    }

    /// Maximum number of fingerprints of a bucket that one thread joins; two threads may have such a bucket. Does not
    /// depend on the number of threads, on which the order of results would then depend.
    pub(super) fn most_in_bucket(&self) -> usize {
        usize::try_from(self.memory / 16).unwrap_or(usize::MAX) / Self::BYTES_IN_BUCKET
    }

    /// The number of threads that may join buckets of up to `largest` fingerprints: each has a buffer of as many.
    pub(super) fn threads(&self, largest: usize) -> usize {
        let bytes = largest.max(1).saturating_mul(Self::BYTES_IN_BUCKET);
        usize::try_from(self.memory / 8).unwrap_or(usize::MAX) / bytes
    }

    /// Bytes a fingerprint of a bucket, beside itself: in a buffer, and up to two counts of four bytes.
    const BYTES_IN_BUCKET: usize = F::BYTES + 8;
}
