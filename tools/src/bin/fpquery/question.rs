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

    /// The matches of one query, by distance, fingerprint and id.
    pub(crate) fn ask<F: Fingerprint>(&self, searcher: &mut Searcher<'_, F>, query: F) -> Result<Vec<Match<F>>> {
        if self.scan {
            let (k, n) = match self.what {
                What::All(k) => (k, usize::MAX),
                What::First(k) => (k, 1),
                What::Nearest(n) => (F::WIDTH, n),
                What::NearestWithin(n, k) => (k, n),
            };
            return searcher.scan(query, k).map(|matches| cut(matches, n));
        }
        match self.what {
            What::All(k) => searcher.query(query, k),
            What::First(k) => Ok(searcher.contains_near(query, k)?.into_iter().collect()),
            What::Nearest(n) => searcher.nearest(query, n),
            What::NearestWithin(n, k) => searcher.query(query, k).map(|matches| cut(matches, n)),
        }
    }
}

fn cut<F>(mut matches: Vec<Match<F>>, n: usize) -> Vec<Match<F>> {
    matches.truncate(n);
    matches
}
