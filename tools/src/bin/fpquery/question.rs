//! What the options mean: the question that is asked of every query.

use fpstore::{Fingerprint, Match, Result, Searcher};

use crate::args::Args;

/// A question, and whether the index may be used to answer it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    what: What,
    scan: bool,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// Every record within the distance.
    All(u32),
    /// Any one record within the distance.
    First(u32),
    /// The so many nearest, at any distance.
    Nearest(usize),
    /// The so many nearest within the distance.
    NearestWithin(usize, u32),
}

impl Question {
    pub(crate) fn new(args: &Args, default_distance: u32) -> Self {
        let distance = args.distance.unwrap_or(default_distance);
        let nearest = args.nearest.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let what = match (nearest, args.distance) {
            (Some(n), None) => What::Nearest(n),
            (Some(n), Some(k)) => What::NearestWithin(n, k),
            (None, _) if args.first => What::First(distance),
            (None, _) => What::All(distance),
        };
        Self { what, scan: args.scan }
    }

    /// The distance asked for, where the question has one.
    pub(crate) fn distance(&self) -> Option<u32> {
        match self.what {
            What::All(k) | What::First(k) | What::NearestWithin(_, k) => Some(k),
            What::Nearest(_) => None,
        }
    }

    /// The distance, if the question is one that a batch of queries can be asked together.
    pub(crate) fn of_a_batch(&self) -> Option<u32> {
        match (self.what, self.scan) {
            (What::All(k), false) => Some(k),
            _ => None,
        }
    }

    /// The matches of one query, by distance, fingerprint and id.
    pub(crate) fn ask<F: Fingerprint>(&self, searcher: &mut Searcher<'_, F>, query: F) -> Result<Vec<Match<F>>> {
        match (self.what, self.scan) {
            (What::All(k), false) => searcher.query(query, k),
            (What::All(k), true) => searcher.scan(query, k),
            (What::First(k), false) => Ok(searcher.contains_near(query, k)?.into_iter().collect()),
            (What::First(k), true) => searcher.scan_nearest(query, 1, k),
            (What::Nearest(n), false) => searcher.nearest(query, n),
            (What::Nearest(n), true) => searcher.scan_nearest(query, n, F::WIDTH),
            (What::NearestWithin(n, k), false) => searcher.nearest_within(query, n, k),
            (What::NearestWithin(n, k), true) => searcher.scan_nearest(query, n, k),
        }
    }
}
