//! All pairs of stored fingerprints within distance k, of one store or between two.
//!
//! Every pair comes once: of distinct fingerprints, the smaller one first; between two stores, the left one's first. The
//! order is always the same, however many threads there are. Memory is bounded whatever the data are; nothing is left
//! out, and what is quadratic by itself is streamed.
//!
//! A join has a plan of its own ([`crate::plan::join`]): tables narrower than the stored ones, more of them, made as they
//! are needed and gone when they were compared. [`node`] has the tree of these tables, and why each pair is found in one
//! of them alone; [`group`] walks it in memory, [`passes`] from the files.

use crate::bitset::Bitset;
use crate::error::Result;
use crate::executor::Executor;
use crate::fingerprint::Fingerprint;
use crate::join::buckets::Counts;
use crate::join::hash::Groups;
use crate::join::passes::Passes;
use crate::join::progress::JoinProgress;
use crate::join::settings::Join;
use crate::join::sink::Sink;
use crate::join::source::FingerprintSource;
use crate::join::taker::MakeTaker;
use crate::segment::Segment;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

impl<'a, F: Fingerprint> Join<'a, F> {
    /// The pairs within distance `k` of fingerprints of the segments on the left, or of one of them and one on the right.
    /// Takes about so many bytes of memory.
    pub(crate) fn new(
        left: &'a [Arc<Segment>],
        right: Option<&'a [Arc<Segment>]>,
        k: u32,
        memory: u64,
        progress: Arc<JoinProgress>,
        executor: &'a Executor,
    ) -> Self {
        Self { left, right, only: None, k, memory, progress, executor, fingerprints: PhantomData }
    }

    /// The same, of the fingerprints on the right only those with these numbers ([`crate::cluster::Numbers`]).
    pub(crate) fn only(self, numbers: &'a Bitset) -> Self {
        Self { only: Some(numbers), ..self }
    }

    /// Hands all pairs to takers, on all threads of a crew, and what they make of them to `sink`, on
    /// this one, in order, until it breaks.
    ///
    /// # Errors
    /// Those of reading the segments, of takers and of `sink`.
    pub(crate) fn run(&self, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<ControlFlow<()>> {
        let pool = self.executor.crew()?;
        let sides = 1 + u64::from(self.right.is_some());
        let source =
            |segments: &[_], only| pool.install(|| FingerprintSource::new(segments, only, self.kept() / sides));
        let left = source(self.left, None)?;
        let right = self.right.map(|right| source(right, self.only)).transpose()?;
        let memory = Default::default();
        Passes { join: self, pool: &pool, left, right, memory, taker, sink }.run()
    }

    /// Bytes for fingerprints that are read once and for all. Decoding those of one segment again takes no longer than bringing
    /// them from memory does; to merge or to choose them takes ten times as long.
    fn kept(&self) -> u64 {
        let is_plain = self.left.len() <= 1 && self.right.is_none_or(|right| right.len() <= 1) && self.only.is_none();
        if is_plain { 0 } else { self.memory / 4 }
    }

    /// Fingerprints that are in memory at the same time.
    pub(crate) fn most_in_memory(&self) -> usize {
        let bytes = self.memory / 8 * 5 - self.kept();
        usize::try_from(bytes).unwrap_or(usize::MAX) / F::BYTES
    }

    /// Cuts tiles into ranges of which two are in memory at the same time.
    pub(crate) fn ranges(&self, groups: Groups<F>, counts: &Counts) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut sum = 0;
        for tile in 0..groups.count() {
            sum += counts.of(tile);
            match ranges.last_mut() {
                Some(range) if sum <= self.most_in_memory() / 2 => range.end = tile + 1,
                _ => {
                    sum = counts.of(tile);
                    ranges.push(tile..tile + 1);
                }
            }
        }
        ranges
    }

    /// Fingerprints of a bucket that are kept for themselves, to be divided further.
    pub(crate) fn most_kept(&self) -> u64 {
        self.memory / 8 / F::BYTES as u64
    }

    /// Fingerprints of a bucket that is joined by one thread; two such may be joined at a time. Not by the number of threads, on
    /// which the order of results would then depend.
    pub(crate) fn most_in_bucket(&self) -> usize {
        usize::try_from(self.memory / 16).unwrap_or(usize::MAX) / Self::BYTES_IN_BUCKET
    }

    /// How many threads may join buckets of up to so many fingerprints: each has a buffer of as many.
    pub(crate) fn threads(&self, largest: usize) -> usize {
        let bytes = largest.max(1).saturating_mul(Self::BYTES_IN_BUCKET);
        usize::try_from(self.memory / 8).unwrap_or(usize::MAX) / bytes
    }

    /// Bytes a fingerprint of a bucket, beside itself: in a buffer, and up to two counts of four bytes.
    const BYTES_IN_BUCKET: usize = F::BYTES + 8;
}
