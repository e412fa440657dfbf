//! The question that is asked of every query, as the options define it.

use std::ops::ControlFlow;

use fpstore::{Fingerprint, Match, Result, Searcher, Visit};

use crate::args::Args;
use crate::queries::Query;

/// A question, and whether the index may be used to answer it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    what: What,
    scan: bool,
    /// Whether records with the query's own id are left out.
    not_self: bool,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// Every record within the distance, or their number.
    All(u32),
    /// Any one record within the distance.
    First(u32),
    /// The nearest N, at any distance or within one.
    Nearest(usize, Option<u32>),
}

impl Question {
    pub(crate) fn new(args: &Args, default_distance: u32) -> Self {
        let distance = args.distance.unwrap_or(default_distance);
        let what = match args.nearest {
            Some(n) => What::Nearest(usize::try_from(n).unwrap_or(usize::MAX), args.distance),
            None if args.first || args.only.is_some() => What::First(distance),
            None => What::All(distance),
        };
        Self { what, scan: args.scan, not_self: args.not_self }
    }

    /// The distance of the question, if it has one.
    pub(crate) fn distance(&self) -> Option<u32> {
        match self.what {
            What::All(k) | What::First(k) => Some(k),
            What::Nearest(_, k) => k,
        }
    }

    /// The distance, if a batch of queries can be answered together.
    pub(crate) fn of_a_batch(&self) -> Option<u32> {
        match (self.what, self.scan) {
            (What::All(k), false) => Some(k),
            _ => None,
        }
    }

    /// Whether a match is among the answers.
    pub(crate) fn takes<F: Fingerprint>(&self, query: &Query<F>, found: &Match<F>) -> bool {
        !self.not_self || found.id != query.id
    }

    /// Calls `take` with the matches of one query, by distance, fingerprint and id, until it breaks. The matches found
    /// take at most `memory` bytes.
    pub(crate) fn ask<F: Fingerprint>(
        &self,
        searcher: &mut Searcher<'_, F>,
        query: &Query<F>,
        memory: usize,
        take: &mut dyn FnMut(&Match<F>) -> ControlFlow<()>,
    ) -> Result<()> {
        let (most, k) = match self.what {
            What::All(k) => (usize::MAX, k),
            What::First(k) if !self.scan && !self.not_self => {
                let _ = searcher.contains_near(query.fingerprint, k)?.iter().try_for_each(take);
                return Ok(());
            }
            What::First(k) => (1, k),
            What::Nearest(n, k) => (n, k.unwrap_or(F::WIDTH)),
        };
        let wanted = most.saturating_add(self.not_self.into());
        let mut left = most;
        let _ = searcher.visit(query.fingerprint, &self.visit(k, memory).with_wanted(wanted), |found| {
            if !self.takes(query, &found) {
                return ControlFlow::Continue(());
            }
            left -= 1;
            take(&found)?;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(())
    }

    /// Returns the number of records near a query.
    pub(crate) fn count<F: Fingerprint>(
        &self,
        searcher: &mut Searcher<'_, F>,
        query: &Query<F>,
        memory: usize,
    ) -> Result<u64> {
        let What::All(k) = self.what else { return Ok(0) };
        if !self.not_self {
            return searcher.count(query.fingerprint, &self.visit(k, memory));
        }
        let mut count = 0;
        self.ask(searcher, query, memory, &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        })?;
        Ok(count)
    }

    fn visit(&self, k: u32, memory: usize) -> Visit {
        Visit::within(k).with_scan(self.scan).with_memory(memory)
    }
}
