//! Records of several sources in one order.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Mention, Record};
use crate::segment::{Segment, SegmentRecords};
use std::fmt;
use std::iter::Peekable;
use std::sync::Arc;

/// What several sources say of every record, by fingerprint, then id, each once. Ends after the first error.
///
/// Of the same record the newest source is believed. Where there are no ids, counts are added up: what is left is that
/// there are more records of a fingerprint, or less.
pub(crate) struct Merge<F: Fingerprint> {
    /// Newest first.
    sources: Vec<Source<F>>,
}

/// The last word on a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastWord<F: Fingerprint> {
    pub(crate) mention: Mention<F>,
    /// Whether the record is among those of some segment, and its fingerprint in all of that one's tables.
    pub(crate) stored: bool,
}

/// Mentions in order.
type Mentions<F> = Box<dyn Iterator<Item = Result<Mention<F>>> + Send>;

struct Source<F: Fingerprint> {
    mentions: Peekable<Mentions<F>>,
    /// Whether it is the records of a segment.
    stored: bool,
}

impl<F: Fingerprint> Default for Merge<F> {
    fn default() -> Self {
        Self { sources: Vec::new() }
    }
}

impl<F: Fingerprint> fmt::Debug for Merge<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merge").field("sources", &self.sources.len()).finish_non_exhaustive()
    }
}

impl<F: Fingerprint> Merge<F> {
    /// Adds the records of a segment, or those that it removes, as what is older than all sources so far.
    pub(crate) fn add_segment(&mut self, segment: &Arc<Segment>, removed: bool) {
        self.add_records(SegmentRecords::new(Arc::clone(segment)), removed);
    }

    /// The same with records of a segment that do not begin with its first one.
    pub(crate) fn add_records(&mut self, records: SegmentRecords<F>, removed: bool) {
        let mentions = records.map(move |record| record.map(|record| Mention { record, removed }));
        self.sources.push(Source { mentions: boxed(mentions).peekable(), stored: !removed });
    }

    /// Adds mentions in order, each record once, as what is older than all sources so far.
    pub(crate) fn add_mentions(&mut self, mentions: Vec<Mention<F>>) {
        self.sources.push(Source { mentions: boxed(mentions.into_iter().map(Ok)).peekable(), stored: false });
    }

    /// Those records alone that are there.
    pub(crate) fn live(self) -> impl Iterator<Item = Result<Record<F>>> {
        self.filter_map(|word| match word {
            Ok(word) if word.mention.removed => None,
            word => Some(word.map(|word| word.mention.record)),
        })
    }

    /// The number of the source with the least next record, the newest of those; errors come first.
    fn least(&mut self) -> Option<usize> {
        let heads = self.sources.iter_mut().enumerate();
        let heads = heads.filter_map(|(number, source)| {
            Some((source.mentions.peek()?.as_ref().ok().map(|mention| &mention.record), number))
        });
        heads.min().map(|(_, number)| number)
    }

    /// Adds what all sources count of a fingerprint to what one has said; nothing, if that leaves none.
    fn summed(&mut self, first: Mention<F>, mut stored: bool) -> Result<Option<LastWord<F>>> {
        let fingerprint = first.record.fingerprint;
        let (mut more, mut less) = (0u64, 0u64);
        let mut add = |mention: &Mention<F>| {
            let sum = if mention.removed { &mut less } else { &mut more };
            *sum = sum.saturating_add(mention.record.id.number().unwrap_or(0));
        };
        add(&first);
        for source in &mut self.sources {
            let same =
                |next: &Result<Mention<F>>| next.as_ref().is_ok_and(|next| next.record.fingerprint == fingerprint);
            while let Some(mention) = source.mentions.next_if(same).transpose()? {
                add(&mention);
                stored |= source.stored;
            }
        }
        // What nothing is left of is still a last word: its fingerprint goes.
        if more == less && !stored {
            return Ok(None);
        }
        let record = Record { fingerprint, id: Id::Count(more.abs_diff(less)) };
        Ok(Some(LastWord { mention: Mention { record, removed: less >= more }, stored }))
    }
}

fn boxed<F: Fingerprint>(mentions: impl Iterator<Item = Result<Mention<F>>> + Send + 'static) -> Mentions<F> {
    Box::new(mentions)
}

impl<F: Fingerprint> Iterator for Merge<F> {
    type Item = Result<LastWord<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let number = self.least()?;
            let source = self.sources.get_mut(number)?;
            let mut stored = source.stored;
            let mention = match source.mentions.next()? {
                Ok(mention) => mention,
                Err(error) => {
                    self.sources.clear();
                    return Some(Err(error));
                }
            };
            if matches!(mention.record.id, Id::Count(_)) {
                match self.summed(mention, stored) {
                    Ok(None) => continue,
                    Ok(Some(word)) => return Some(Ok(word)),
                    Err(error) => {
                        self.sources.clear();
                        return Some(Err(error));
                    }
                }
            }
            // What older sources say of it does not count any more.
            let same = |next: &Result<Mention<F>>| next.as_ref().is_ok_and(|next| next.record == mention.record);
            for older in self.sources.iter_mut().skip(number + 1) {
                stored |= older.mentions.next_if(same).is_some() && older.stored;
            }
            return Some(Ok(LastWord { mention, stored }));
        }
    }
}
