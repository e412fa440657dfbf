//! Iterates over the records of a store.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Record};
use crate::segment::{Segment, SegmentRecords};
use crate::version::newest::NewestEntries;
use crate::version::share::Share;
use crate::version::super_version::ReadView;
use std::fmt;
use std::sync::Arc;
use std::vec::IntoIter;

/// Iterates over the records of a store by fingerprint, then id. In a store without ids, each fingerprint comes once,
/// with its count. Ends after the first error.
pub struct RecordIter<F: Fingerprint = u64> {
    /// What may have more records of the share.
    source: Option<Source<F>>,
    share: Share,
    /// The next records, and the error behind them.
    batch: IntoIter<Record<F>>,
    failed: Option<Error>,
}

enum Source<F: Fingerprint> {
    /// The records of one segment: there is nothing to merge.
    Segment(Box<SegmentRecords<F>>),
    Merged(Box<dyn Iterator<Item = Result<Record<F>>> + Send>),
}

impl<F: Fingerprint> Source<F> {
    /// Reads the next records, and tells whether there may be more. After an error, those before it are there.
    fn read(&mut self, batch: &mut Vec<Record<F>>) -> Result<bool> {
        match self {
            Self::Segment(records) => {
                batch.extend(records.next_batch());
                if batch.is_empty() { Ok(records.next().transpose()?.is_some()) } else { Ok(true) }
            }
            Self::Merged(records) => {
                while batch.len() < BATCH {
                    let Some(record) = records.next() else { return Ok(false) };
                    batch.push(record?);
                }
                Ok(true)
            }
        }
    }
}

/// Records that are merged at once.
const BATCH: usize = 64;

impl<F: Fingerprint> fmt::Debug for RecordIter<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordIter").finish_non_exhaustive()
    }
}

impl<F: Fingerprint> RecordIter<F> {
    pub(crate) fn new(view: &ReadView) -> Self {
        Self::of(Source::Merged(Box::new(view.newest_entries().live())), Share::ALL)
    }

    fn of(source: Source<F>, share: Share) -> Self {
        Self { source: Some(source), share, batch: IntoIter::default(), failed: None }
    }

    /// The records of a share of segments without tombstones.
    pub(crate) fn of_share(segments: &[Arc<Segment>], share: Share) -> Result<Self> {
        if let [segment] = segments {
            return Ok(Self::of(Source::Segment(Box::new(SegmentRecords::near(segment, share.from)?)), share));
        }
        let mut merge = NewestEntries::default();
        for segment in segments {
            merge.add_records(SegmentRecords::near(segment, share.from)?, false);
        }
        Ok(Self::of(Source::Merged(Box::new(merge.live())), share))
    }

    /// The next record; `None` at the end and before an error.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<&Record<F>> {
        if self.batch.len() == 0 {
            self.fill();
        }
        self.batch.as_slice().first()
    }

    /// The next record, if it is wanted.
    #[inline]
    pub(crate) fn next_if(&mut self, wanted: impl FnOnce(&Record<F>) -> bool) -> Option<Record<F>> {
        if self.peek().is_some_and(wanted) { self.batch.next() } else { None }
    }

    /// The error that is next, if there is one.
    pub(crate) fn take_error(&mut self) -> Option<Error> {
        if self.batch.len() == 0 { self.failed.take() } else { None }
    }

    /// Reads the next records of the share, if the source has more.
    fn fill(&mut self) {
        while self.batch.len() == 0
            && let Some(source) = &mut self.source
        {
            let mut records = Vec::new();
            let more = source.read(&mut records);
            let is_behind = records.last().is_some_and(|last| self.share.is_before(last.fingerprint));
            if is_behind || !matches!(more, Ok(true)) {
                self.source = None;
            }
            // An error behind the share is that of the next one.
            self.failed = more.err().filter(|_| !is_behind);
            let is_in = |record: Option<&Record<F>>| record.is_none_or(|record| self.share.has(record.fingerprint));
            if !(is_in(records.first()) && is_in(records.last())) {
                records.retain(|record| self.share.has(record.fingerprint));
            }
            self.batch = records.into_iter();
        }
    }
}

impl<F: Fingerprint> Iterator for RecordIter<F> {
    type Item = Result<Record<F>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_if(|_| true).map(Ok).or_else(|| self.take_error().map(Err))
    }
}
