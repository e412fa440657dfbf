//! All records of a store in order.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::join::Share;
use crate::segment::{Segment, SegmentRecords};
use std::iter::Peekable;
use std::sync::Arc;

/// Iterates over the records of a store by fingerprint, then id, equal ones once. Where there are no ids, each
/// fingerprint comes once, with its count. Ends after the first error.
#[derive(Debug)]
pub struct RecordIter<'a, F: Fingerprint = u64> {
    sources: Vec<Peekable<SegmentRecords<'a, F>>>,
    last: Option<Record<F>>,
    share: Share,
}

impl<'a, F: Fingerprint> RecordIter<'a, F> {
    pub(super) fn new(segments: &'a [Arc<Segment>]) -> Self {
        let sources = segments.iter().map(|segment| SegmentRecords::new(segment).peekable()).collect();
        Self { sources, last: None, share: Share::ALL }
    }

    /// The records of a share.
    pub(super) fn of_share(segments: &'a [Arc<Segment>], share: Share) -> Result<Self> {
        let sources = segments.iter().map(|segment| Ok(SegmentRecords::near(segment, share.from)?.peekable()));
        let mut sources = sources.collect::<Result<Vec<_>>>()?;
        let before =
            |record: &Result<Record<F>>| record.as_ref().is_ok_and(|record| record.fingerprint.word(0) < share.from);
        for source in &mut sources {
            while source.next_if(before).is_some() {}
        }
        Ok(Self { sources, last: None, share })
    }

    /// The least of the segments' next records; errors come first.
    fn least(&mut self) -> Option<Result<Record<F>>> {
        let heads = self.sources.iter_mut().enumerate();
        let heads = heads.filter_map(|(number, source)| Some((source.peek()?.as_ref().ok(), number)));
        let (_, number) = heads.min()?;
        self.sources.get_mut(number)?.next()
    }

    /// What the other segments count of a fingerprint.
    fn others(&mut self, fingerprint: F) -> u64 {
        let mut sum = 0u64;
        for source in &mut self.sources {
            let same = |next: &Result<Record<F>>| next.as_ref().is_ok_and(|next| next.fingerprint == fingerprint);
            if let Some(Ok(Record { id: Id::Count(count), .. })) = source.next_if(same) {
                sum = sum.saturating_add(count);
            }
        }
        sum
    }
}

impl<F: Fingerprint> Iterator for RecordIter<'_, F> {
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.least()? {
                Ok(record) if !self.share.has(record.fingerprint) => return None,
                Ok(Record { fingerprint, id: Id::Count(count) }) => {
                    let id = Id::Count(count.saturating_add(self.others(fingerprint)));
                    return Some(Ok(Record { fingerprint, id }));
                }
                Ok(record) if self.last.as_ref() == Some(&record) => {}
                Ok(record) => {
                    self.last = Some(record.clone());
                    return Some(Ok(record));
                }
                Err(error) => {
                    self.sources.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}
