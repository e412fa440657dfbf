//! Asking a store.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, Match, distance};
use crate::search::{Asked, Found, Part, Prober, SegmentPlan, Work, scan_segment, search_segment};
use crate::segment::{IdScratch, Scratch, Segment, Table};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Asks a store many times, reusing its buffers. One a thread.
#[derive(Debug)]
pub struct Searcher<'a, F = u64> {
    segments: &'a [Arc<Segment>],
    /// The distance that `plans` are for, and how many filters there were.
    planned_for: Option<(u32, usize)>,
    /// One a segment.
    plans: Vec<SegmentPlan>,
    prober: Prober,
    ids: IdScratch,
    work: Work,
    fingerprints: PhantomData<F>,
}

impl<'a, F: Fingerprint> Searcher<'a, F> {
    pub(super) fn new(segments: &'a [Arc<Segment>]) -> Self {
        Self {
            segments,
            planned_for: None,
            plans: Vec::new(),
            prober: Prober::default(),
            ids: IdScratch::default(),
            work: Work::default(),
            fingerprints: PhantomData,
        }
    }

    /// What all queries so far have cost.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// As [`crate::Store::query`].
    ///
    /// # Errors
    /// `InvalidInput` if `k` exceeds the width; `Damaged` or `Io` from reading.
    pub fn query(&mut self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.plan(k)?;
        self.planned(&[fingerprint], k).map(only)
    }

    /// The answers of [`Searcher::query`] to independent queries, in their order. While one waits for memory or disk,
    /// others go on.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Records, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![0b0000, 0b0111, u64::MAX]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// let answers = store.searcher().query_many(&[0b0011, !0b0011], 2)?;
    /// assert_eq!((answers[0].len(), answers[1].len()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn query_many(&mut self, fingerprints: &[F], k: u32) -> Result<Vec<Vec<Match<F>>>> {
        /// Queries that are on the way together.
        const LOT: usize = 8;
        self.plan(k)?;
        let mut answers = Vec::with_capacity(fingerprints.len());
        for lot in fingerprints.chunks(LOT) {
            answers.append(&mut self.planned(lot, k)?);
        }
        Ok(answers)
    }

    /// As [`crate::Store::contains_near`].
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn contains_near(&mut self, fingerprint: F, k: u32) -> Result<Option<Match<F>>> {
        self.plan(k)?;
        // Where a near fingerprint most likely is comes first, in every segment.
        for part in [Part::Home, Part::Others] {
            for (segment, plan) in self.segments.iter().zip(&self.plans) {
                let asked = Asked { segment, queries: &[fingerprint], k };
                let first = search_segment(&mut self.prober, asked, plan, part, &mut self.work, |_, found| {
                    ControlFlow::Break(found)
                })?;
                if let ControlFlow::Break(found) = first {
                    return self.record_of(segment, fingerprint, found);
                }
            }
        }
        Ok(None)
    }

    /// The record that is returned for a fingerprint which a segment has. Where there are no ids, other segments count too.
    fn record_of(&mut self, segment: &Segment, query: F, found: Found<F>) -> Result<Option<Match<F>>> {
        let mut matches = Vec::new();
        collect(segment, query, &mut vec![found], &mut self.prober.scratch, &mut self.ids, &mut matches)?;
        if matches.iter().any(|one| matches!(one.id, Id::Count(_))) {
            matches = self.records_of(query, found.fingerprint)?;
        }
        Ok(matches.into_iter().min())
    }

    /// The records of a fingerprint that all segments have, in order.
    fn records_of(&mut self, query: F, fingerprint: F) -> Result<Vec<Match<F>>> {
        let mut matches = Vec::new();
        for segment in self.segments {
            let rank = segment.rank_of(fingerprint, &mut self.prober.scratch)?;
            let mut found: Vec<_> = rank.map(|rank| Found { fingerprint, rank: Some(rank) }).into_iter().collect();
            collect(segment, query, &mut found, &mut self.prober.scratch, &mut self.ids, &mut matches)?;
        }
        Ok(in_order(matches))
    }

    /// As [`crate::Store::nearest`].
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn nearest(&mut self, fingerprint: F, count: usize) -> Result<Vec<Match<F>>> {
        self.nearest_within(fingerprint, count, F::WIDTH)
    }

    /// The first `count` of what [`Searcher::query`] would return. Beyond the distance that the store is made for, memory is
    /// taken for so many fingerprints, not for all within `k`.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn nearest_within(&mut self, fingerprint: F, count: usize, k: u32) -> Result<Vec<Match<F>>> {
        check_distance::<F>(k)?;
        // Within the distance that the tables are made for the index may have enough.
        let reach = self.segments.first().map_or(0, |segment| segment.footer().parameters.max_distance());
        let mut near = self.query(fingerprint, reach.min(k))?;
        if near.len() < count && reach < k {
            return self.scan_nearest(fingerprint, count, k);
        }
        near.truncate(count);
        Ok(near)
    }

    /// What [`Searcher::nearest_within`] returns, found by comparing with every stored fingerprint.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn scan_nearest(&mut self, fingerprint: F, count: usize, k: u32) -> Result<Vec<Match<F>>> {
        check_distance::<F>(k)?;
        // Each fingerprint has at least one record, so the records wanted are among those of so many fingerprints.
        let mut nearest = BTreeSet::new();
        let limit = Cell::new(k);
        for segment in self.segments.iter().filter(|_| count > 0) {
            let all = scan_segment(segment, fingerprint, &limit, &mut self.prober.scratch, &mut self.work, |one| {
                let away = distance(one.fingerprint, fingerprint);
                if away <= limit.get() && nearest.insert((away, one.fingerprint)) && nearest.len() >= count {
                    if nearest.len() > count {
                        nearest.pop_last();
                    }
                    nearest.last().into_iter().for_each(|&(farthest, _)| limit.set(farthest));
                }
                ControlFlow::<()>::Continue(())
            });
            let _ = all?;
        }
        let mut near = Vec::new();
        for (_, found) in nearest {
            near.append(&mut self.records_of(fingerprint, found)?);
            if near.len() >= count {
                break;
            }
        }
        near.truncate(count);
        Ok(near)
    }

    /// As [`crate::Store::scan`].
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn scan(&mut self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        check_distance::<F>(k)?;
        self.all(&[fingerprint], k, std::iter::repeat(&SegmentPlan::Scan)).map(only)
    }

    /// All matches of each query, segments searched as planned.
    fn planned(&mut self, queries: &[F], k: u32) -> Result<Vec<Vec<Match<F>>>> {
        let plans = std::mem::take(&mut self.plans);
        let answers = self.all(queries, k, plans.iter());
        self.plans = plans;
        answers
    }

    /// All matches of each query, each segment searched by its plan.
    fn all<'p>(
        &mut self,
        queries: &[F],
        k: u32,
        plans: impl Iterator<Item = &'p SegmentPlan>,
    ) -> Result<Vec<Vec<Match<F>>>> {
        let mut matches: Vec<Vec<Match<F>>> = vec![Vec::new(); queries.len()];
        let mut found: Vec<Vec<Found<F>>> = vec![Vec::new(); queries.len()];
        for (segment, plan) in self.segments.iter().zip(plans) {
            let asked = Asked { segment, queries, k };
            let all = search_segment(&mut self.prober, asked, plan, Part::All, &mut self.work, |query, one| {
                found.iter_mut().skip(query).take(1).for_each(|found| found.push(one));
                ControlFlow::<()>::Continue(())
            });
            let _ = all?;
            for ((&query, found), matches) in queries.iter().zip(&mut found).zip(&mut matches) {
                collect(segment, query, found, &mut self.prober.scratch, &mut self.ids, matches)?;
            }
        }
        Ok(matches.into_iter().map(in_order).collect())
    }

    fn plan(&mut self, k: u32) -> Result<()> {
        check_distance::<F>(k)?;
        // Filters are made while queries already run; with each one there is more to choose from.
        let tables = self.segments.iter().flat_map(|segment| segment.tables());
        let now = (k, tables.filter_map(Table::filter).count());
        if self.planned_for != Some(now) {
            self.plans = self.segments.iter().map(|segment| SegmentPlan::new(segment, k)).collect();
            self.planned_for = Some(now);
        }
        Ok(())
    }
}

pub(super) fn check_distance<F: Fingerprint>(k: u32) -> Result<()> {
    if k > F::WIDTH {
        return Err(Error::invalid(format!("distance {k} exceeds the width of {} bits", F::WIDTH)));
    }
    Ok(())
}

/// The answer to the only query.
fn only<F>(mut answers: Vec<Vec<Match<F>>>) -> Vec<Match<F>> {
    answers.pop().unwrap_or_default()
}

/// Appends the records of the fingerprints that a segment's tables have found, each fingerprint once. Empties `found`.
fn collect<F: Fingerprint>(
    segment: &Segment,
    query: F,
    found: &mut Vec<Found<F>>,
    scratch: &mut Scratch,
    ids: &mut IdScratch,
    matches: &mut Vec<Match<F>>,
) -> Result<()> {
    // Of equal fingerprints the one whose rank is known comes last, and is kept.
    found.sort_unstable();
    found.reverse();
    found.dedup_by_key(|one| one.fingerprint);
    found.sort_unstable_by_key(|one| (distance(one.fingerprint, query), one.fingerprint));
    for one in found.drain(..) {
        let rank = rank_of(segment, one, scratch)?;
        let distance = distance(one.fingerprint, query);
        segment.ids().ids_of(rank, ids, |id| matches.push(Match { distance, fingerprint: one.fingerprint, id }))?;
    }
    Ok(())
}

/// The rank in the first table of a fingerprint that a segment's tables have found.
///
/// # Errors
/// `Damaged` if the first table does not have it; `Io`.
pub(super) fn rank_of<F: Fingerprint>(segment: &Segment, found: Found<F>, scratch: &mut Scratch) -> Result<u64> {
    match found.rank {
        Some(rank) => Ok(rank),
        None => segment.rank_of(found.fingerprint, scratch)?.ok_or_else(|| {
            Error::damaged("a fingerprint of another table is missing in the first").at_path(segment.path())
        }),
    }
}

/// Matches in the order of answers, equal ones of several segments once, counts of a fingerprint added up.
pub(super) fn in_order<F: Fingerprint>(mut matches: Vec<Match<F>>) -> Vec<Match<F>> {
    // Those of one segment are.
    if !matches.is_sorted() {
        matches.sort_unstable();
    }
    matches.dedup_by(|next, kept| {
        if let (Id::Count(next_count), Id::Count(kept_count)) = (&next.id, &mut kept.id)
            && next.fingerprint == kept.fingerprint
        {
            *kept_count = kept_count.saturating_add(*next_count);
            return true;
        }
        next == kept
    });
    matches
}
