//! All records of a store in order.

use crate::error::Result;
use crate::fingerprint::Record;
use crate::segment::{Segment, SegmentRecords};
use std::iter::Peekable;
use std::sync::Arc;

/// Iterates over the records of a store by fingerprint, then id, equal ones once. Ends after the first error.
#[derive(Debug)]
pub struct RecordIter<'a> {
    sources: Vec<Peekable<SegmentRecords<'a>>>,
    last: Option<Record>,
}

impl<'a> RecordIter<'a> {
    pub(super) fn new(segments: &'a [Arc<Segment>]) -> Self {
        Self { sources: segments.iter().map(|segment| SegmentRecords::new(segment).peekable()).collect(), last: None }
    }
}

impl Iterator for RecordIter<'_> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // Errors come first, then the least record.
            let heads = self
                .sources
                .iter_mut()
                .enumerate()
                .filter_map(|(number, source)| Some((source.peek()?.as_ref().ok().copied(), number)));
            let (_, number) = heads.min()?;
            match self.sources.get_mut(number)?.next()? {
                Ok(record) if self.last == Some(record) => {}
                Ok(record) => {
                    self.last = Some(record);
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
