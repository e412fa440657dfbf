//! What the threads of a merge share.

use crate::fingerprint::{Fingerprint, leading_ones};
use crate::query::batch::answer_budget::AnswerBudget;
use crate::query::batch::queries::SortedQueries;
use crate::query::probe::compare::Found;
use crate::segment::{Segment, Table};

/// A stored fingerprint near a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair<F> {
    /// The query's number.
    pub(crate) query: u32,
    pub(crate) found: Found<F>,
}

/// A table and the radius within which it sees the keys near a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    pub(crate) table: &'a Table,
    pub(crate) radius: u32,
}

impl Sight<'_> {
    /// Whether the table sees a fingerprint that differs from the query in these bits.
    #[inline]
    pub(crate) fn sees<F: Fingerprint>(&self, difference: F) -> bool {
        self.near(self.table.layout().permutation.head(difference))
    }

    /// As [`Sight::sees`], given the 64 leading bits of the permuted difference.
    #[inline]
    pub(crate) fn near(&self, head: u64) -> bool {
        (head & leading_ones(self.table.leading())).count_ones() <= self.radius
    }
}

/// The merge of the queries with one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a, F> {
    pub(crate) segment: &'a Segment,
    pub(crate) queries: &'a [F],
    pub(crate) k: u32,
    pub(crate) own: Sight<'a>,
    /// The tables before this one.
    pub(crate) earlier: &'a [Sight<'a>],
    pub(crate) sorted: &'a SortedQueries,
    pub(crate) budget: &'a AnswerBudget,
}
