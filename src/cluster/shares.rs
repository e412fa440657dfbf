//! The parts of a store that threads take.

use crate::error::Result;
use crate::segment::Segment;
use crate::version::Share;
use std::sync::Arc;

/// Cuts all fingerprints into shares, for threads to take one after another.
pub(crate) fn shares(segments: &[Arc<Segment>]) -> Result<Vec<Share>> {
    Share::of_size(segments, SHARE)
}

/// Fingerprints of a share, about.
pub(crate) const SHARE: u64 = 1 << 14;
