//! Ranges of fingerprints, to divide work among threads.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::segment::{BlockIndex, Segment, Table, fingerprints_of};
use std::ops::Range;
use std::sync::Arc;

/// The fingerprints whose first 64 bits are at least `from` and less than `to`, if there is an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) from: u64,
    to: Option<u64>,
}

impl Share {
    pub(crate) const ALL: Self = Self { from: 0, to: None };

    pub(crate) fn new(from: u64, to: Option<u64>) -> Self {
        Self { from, to }
    }

    pub(crate) fn of_size(segments: &[Arc<Segment>], size: u64) -> Result<Vec<Self>> {
        let count = usize::try_from(fingerprints_of(segments) / size).unwrap_or(0) + 1;
        Self::cut_segments(segments, count)
    }

    /// Cuts all fingerprints into about `count` shares.
    pub(crate) fn cut_segments(segments: &[Arc<Segment>], count: usize) -> Result<Vec<Self>> {
        let indexes = segments.iter().map(|segment| segment.primary_table().map(Table::index));
        Self::cut(&indexes.collect::<Result<Vec<_>>>()?, count)
    }

    /// Cuts the keys of some tables into about `count` shares of about the same size; into fewer if many keys share
    /// their first 64 bits.
    pub(crate) fn cut(indexes: &[&BlockIndex], count: usize) -> Result<Vec<Self>> {
        let all = indexes.iter().map(|index| index.fingerprints()).sum::<u64>();
        let each = all.div_ceil(count.max(1) as u64).max(1);
        let mut bounds = Vec::new();
        for index in indexes {
            let count = usize::try_from(index.fingerprints().div_ceil(each)).unwrap_or(usize::MAX).max(1);
            // Of several tables, the first block of each is a bound too.
            for number in usize::from(indexes.len() == 1)..count {
                bounds.extend(index.key(index.len() * number / count)?);
            }
        }
        bounds.sort_unstable();
        bounds.dedup();
        let from = std::iter::once(0).chain(bounds.iter().copied());
        let to = bounds.iter().copied().map(Some).chain(std::iter::once(None));
        Ok(from.zip(to).map(|(from, to)| Self { from, to }).collect())
    }

    /// The keys that are in another share too.
    pub(crate) fn and(self, other: Self) -> Self {
        let to = [self.to, other.to].into_iter().flatten().min();
        Self { from: self.from.max(other.from), to }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.to.is_some_and(|to| to <= self.from)
    }

    #[inline]
    pub(crate) fn has<F: Fingerprint>(self, fingerprint: F) -> bool {
        self.from <= fingerprint.word(0) && self.to.is_none_or(|to| fingerprint.word(0) < to)
    }

    /// Whether it ends before this fingerprint.
    pub(crate) fn is_before<F: Fingerprint>(self, fingerprint: F) -> bool {
        self.to.is_some_and(|to| to <= fingerprint.word(0))
    }

    pub(crate) fn of<F: Fingerprint>(self, ascending: &[F]) -> Range<usize> {
        let before = |bound: u64| ascending.partition_point(|fingerprint| fingerprint.word(0) < bound);
        before(self.from)..self.to.map_or(ascending.len(), before)
    }

    /// The blocks of a table that may have keys of the share: of a primary table, its fingerprints.
    pub(crate) fn blocks(self, index: &BlockIndex) -> Result<Range<usize>> {
        let end = match self.to {
            Some(to) => index.len().min(index.find(to)?.saturating_add(1)),
            None => index.len(),
        };
        Ok(index.find(self.from)?..end)
    }

    /// An upper bound of its number of keys in a table: those of all its blocks.
    pub(crate) fn at_most_of(self, index: &BlockIndex) -> Result<usize> {
        let Range { start: from, end } = self.blocks(index)?;
        Ok(usize::try_from(index.rank(end)?.saturating_sub(index.rank(from)?)).unwrap_or(usize::MAX))
    }
}
