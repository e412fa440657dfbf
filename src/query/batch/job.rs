//! What the threads of a merge join share.

use crate::fingerprint::{Fingerprint, leading_ones};
use crate::query::batch::queries::SortedQueries;
use crate::query::batch::space::AnswerBudget;
use crate::query::probe::found::Found;
use crate::segment::{Segment, Table};

/// A stored fingerprint near a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair<F> {
    /// The query's number.
    pub(crate) query: u32,
    /// The fingerprint.
    pub(crate) found: Found<F>,
}

/// What a table sees of a query: keys whose leading bits differ in no more than the radius.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    pub(crate) table: &'a Table,
    pub(crate) radius: u32,
}

impl Sight<'_> {
    /// Whether it sees a fingerprint that differs from the query in these bits.
    #[inline]
    pub(crate) fn sees<F: Fingerprint>(&self, difference: F) -> bool {
        self.near(self.table.layout().permutation.head(difference))
    }

    /// The same of a difference that is permuted, of which the 64 leading bits are given.
    #[inline]
    pub(crate) fn near(&self, head: u64) -> bool {
        (head & leading_ones(self.table.leading())).count_ones() <= self.radius
    }
}

/// What is to be done in one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a, F> {
    pub(crate) segment: &'a Segment,
    pub(crate) queries: &'a [F],
    pub(crate) k: u32,
    pub(crate) own: Sight<'a>,
    /// The tables before this one.
    pub(crate) earlier: &'a [Sight<'a>],
    pub(crate) sorted: &'a SortedQueries,
    pub(crate) room: &'a AnswerBudget,
}
