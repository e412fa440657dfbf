//! What is joined, and with which means.

use crate::bitset::Bitset;
use crate::executor::Executor;
use crate::join::progress::JoinProgress;
use crate::segment::Segment;
use std::marker::PhantomData;
use std::sync::Arc;

/// What is to be joined.
#[derive(Debug)]
pub(crate) struct Join<'a, F> {
    pub(crate) left: &'a [Arc<Segment>],
    /// None: pairs within the left ones.
    pub(crate) right: Option<&'a [Arc<Segment>]>,
    /// Which of those on the right take part; none: all.
    pub(crate) only: Option<&'a Bitset>,
    pub(crate) k: u32,
    /// Bytes: three eighths for the buckets in memory, an eighth for what threads need to join buckets, an eighth for a bucket that
    /// is too large for that; a quarter for fingerprints that are read once and for all or, where there is no need to, for more
    /// buckets; the rest is for counts and for results that wait.
    pub(crate) memory: u64,
    pub(crate) progress: Arc<JoinProgress>,
    pub(crate) executor: &'a Executor,
    pub(crate) fingerprints: PhantomData<F>,
}
