//! The prefix filter of a table, in memory: excludes almost every prefix that no key has.
//!
//! A query probes every prefix within a few flips of its own. Of long prefixes hardly any exists, so a look-up in the
//! filter, a line or two of memory, saves finding, reading and decoding a block. There are no false negatives.
//!
//! `plan` chooses one of two kinds ([`FilterShape`]) by the memory there is. *Lines* hold some leading bits of nearly
//! every key, and find those that are near the query's. A *Bloom filter* is asked for one prefix at a time. A filter is
//! built from the table's keys when a store is opened, or read from a file beside the segment (`saved_filters`).

mod bloom;
mod lines;
mod prefix;

use crate::error::Result;
use crate::fingerprint::leading_ones;
use crate::plan::filter_shape::FilterShape;
use bloom::{BloomBuilder, BloomFilter};
use lines::{LineFilter, LineFilterBuilder};
pub(crate) use prefix::{FilterPrefix, Nearness};

#[derive(Debug)]
pub(crate) enum Filter {
    Lines(LineFilter),
    Bloom(BloomFilter),
}

impl Filter {
    pub(crate) fn shape(&self) -> FilterShape {
        match self {
            Self::Lines(filter) => FilterShape::Lines(filter.shape()),
            Self::Bloom(filter) => FilterShape::Bloom(filter.shape()),
        }
    }

    /// The filter of this shape whose words `read` fills; `None` if there is no memory for it.
    pub(super) fn read(shape: FilterShape, read: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<Option<Self>> {
        let Some(builder) = FilterBuilder::new(shape) else { return Ok(None) };
        Ok(Some(match builder {
            FilterBuilder::Lines(builder) => Self::Lines(builder.read(read)?),
            FilterBuilder::Bloom(builder) => Self::Bloom(builder.read(read)?),
        }))
    }

    pub(super) fn words(&self) -> &[u64] {
        match self {
            Self::Lines(filter) => filter.words(),
            Self::Bloom(filter) => filter.words(),
        }
    }

    /// The first of two steps of looking up many prefixes, each step for all of them: appends those of a key with each
    /// of the masks flipped, and prefetches where they are looked up.
    #[inline]
    pub(crate) fn begin(&self, key: u64, masks: &[u64], prefixes: &mut Vec<FilterPrefix>) {
        match self {
            Self::Lines(filter) => prefixes.extend(masks.iter().map(|&mask| filter.begin(key, mask))),
            Self::Bloom(filter) => prefixes.extend(masks.iter().map(|&mask| filter.begin(key ^ mask))),
        }
    }

    /// The second step: calls `pass` with the least and the greatest possible key of every prefix that some near key
    /// may have.
    #[inline]
    pub(crate) fn pass(&self, prefixes: &[FilterPrefix], near: Nearness, mut pass: impl FnMut(u64, u64)) {
        match self {
            Self::Lines(filter) => prefixes.iter().for_each(|prefix| filter.pass(prefix, near, &mut pass)),
            Self::Bloom(filter) => {
                let others = !leading_ones(filter.shape().prefix);
                let passing = prefixes.iter().filter(|prefix| filter.holds(prefix));
                passing.for_each(|prefix| pass(prefix.first, prefix.first | others));
            }
        }
    }

    /// Whether some key may have the prefix of this one.
    #[inline]
    pub(super) fn passes(&self, key: u64) -> bool {
        match self {
            Self::Lines(filter) => filter.passes(key),
            Self::Bloom(filter) => filter.passes(key),
        }
    }
}

pub(super) enum FilterBuilder {
    Lines(LineFilterBuilder),
    Bloom(BloomBuilder),
}

impl FilterBuilder {
    /// A builder of a filter of this shape; `None` if there is no memory for it.
    pub(super) fn new(shape: FilterShape) -> Option<Self> {
        Some(match shape {
            FilterShape::Lines(shape) => Self::Lines(LineFilterBuilder::new(shape)?),
            FilterShape::Bloom(shape) => Self::Bloom(BloomBuilder::new(shape)?),
        })
    }

    /// Enters keys, none less than one before it. Returns whether they are spread evenly enough for the kind.
    pub(super) fn enter(&mut self, keys: &[u64]) -> bool {
        match self {
            Self::Lines(builder) => {
                keys.iter().for_each(|&key| builder.push(key));
                builder.fits()
            }
            Self::Bloom(builder) => {
                keys.iter().for_each(|&key| builder.push(key));
                true
            }
        }
    }

    /// The filter; `None` if its keys are spread too unevenly for its kind.
    pub(super) fn finish(self) -> Option<Filter> {
        match self {
            Self::Lines(builder) => builder.finish().map(Filter::Lines),
            Self::Bloom(builder) => Some(Filter::Bloom(builder.finish())),
        }
    }
}
