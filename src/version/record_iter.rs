//! Iterates over the records of a store.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Record};
use crate::segment::{Segment, SegmentRecords};
use crate::version::newest::NewestEntries;
use crate::version::share::Share;
use crate::version::super_version::ReadView;
use std::fmt;
use std::sync::Arc;

/// Iterates over the records of a store by fingerprint, then id. In a store without ids, each fingerprint comes once,
/// with its count. Ends after the first error.
pub struct RecordIter<F: Fingerprint = u64> {
    records: Box<dyn Iterator<Item = Result<Record<F>>> + Send>,
    share: Share,
}

impl<F: Fingerprint> fmt::Debug for RecordIter<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordIter").finish_non_exhaustive()
    }
}

impl<F: Fingerprint> RecordIter<F> {
    pub(crate) fn new(view: &ReadView) -> Self {
        Self { records: Box::new(view.newest_entries().live()), share: Share::ALL }
    }

    /// The records of a share of segments without tombstones.
    pub(crate) fn of_share(segments: &[Arc<Segment>], share: Share) -> Result<Self> {
        let before = move |record: &Result<Record<F>>| {
            record.as_ref().is_ok_and(|record| record.fingerprint.word(0) < share.from)
        };
        // One segment has each record once, so there is nothing to merge.
        if let [segment] = segments {
            let records = SegmentRecords::near(segment, share.from)?;
            return Ok(Self { records: Box::new(records.skip_while(before)), share });
        }
        let mut merge = NewestEntries::default();
        for segment in segments {
            merge.add_records(SegmentRecords::near(segment, share.from)?, false);
        }
        Ok(Self { records: Box::new(merge.live().skip_while(before)), share })
    }
}

impl<F: Fingerprint> Iterator for RecordIter<F> {
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.records.next().filter(|record| record.as_ref().map_or(true, |record| self.share.has(record.fingerprint)))
    }
}
