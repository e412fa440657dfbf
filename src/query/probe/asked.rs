//! What a segment is asked.

use crate::segment::Segment;

/// What is asked for: the fingerprints of a segment within a distance of some queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a, F> {
    /// Where to look.
    pub(crate) segment: &'a Segment,
    /// The fingerprints to find near ones of.
    pub(crate) queries: &'a [F],
    /// Greatest distance of an answer.
    pub(crate) k: u32,
}
