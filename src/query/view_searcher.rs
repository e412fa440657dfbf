//! One state that is asked, and all that asking needs again and again.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, Match};
use crate::memtable::{MemtablePlan, MemtableScratch};
use crate::query::hit::{HitPlace, Hits};
use crate::query::probe::asked::Asked;
use crate::query::probe::found::Found;
use crate::query::probe::plan::SegmentPlan;
use crate::query::probe::prober::{ProbePart, Prober};
use crate::query::probe::segment::search_segment;
use crate::query::visit_options::Visit;
use crate::query_stats::QueryStats;
use crate::segment::{IdScratch, Scratch, Segment, Table};
use crate::version::{LatestVersion, ReadView, StoreContext};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A state that is asked, and all that asking needs again and again.
#[derive(Debug)]
pub(crate) struct ViewSearcher {
    pub(crate) context: Arc<StoreContext>,
    pub(crate) state: ReadView,
    /// The number of the state's view.
    version: u64,
    /// Whether removed records are returned too.
    pub(crate) with_removed: bool,
    /// The distance that `plans` are for, how many filters there were, and in which view.
    planned_for: Option<(u32, usize, u64)>,
    /// One a segment.
    pub(crate) plans: Vec<SegmentPlan>,
    pub(crate) memtable_plan: Option<MemtablePlan>,
    pub(crate) prober: Prober,
    pub(crate) memtable: MemtableScratch,
    pub(crate) ids: IdScratch,
    pub(crate) work: QueryStats,
}

impl ViewSearcher {
    pub(crate) fn new(context: &Arc<StoreContext>, state: ReadView) -> Self {
        Self {
            context: Arc::clone(context),
            state,
            version: u64::MAX,
            with_removed: false,
            planned_for: None,
            plans: Vec::new(),
            memtable_plan: None,
            prober: Prober::default(),
            memtable: MemtableScratch::default(),
            ids: IdScratch::default(),
            work: QueryStats::default(),
        }
    }

    /// Goes on to the state of now.
    pub(crate) fn catch_up(&mut self, latest: &LatestVersion) {
        let version = latest.version();
        if version == self.version {
            self.state.catch_up();
        } else {
            (self.version, self.state) = (version, latest.state());
        }
    }

    /// Whether its state's view is the latest.
    pub(crate) fn is_of(&self, latest: &LatestVersion) -> bool {
        self.version == latest.version()
    }

    /// All records within the distance.
    pub(crate) fn query<F: Fingerprint>(&mut self, fingerprint: F, k: u32) -> Result<Vec<Match<F>>> {
        self.plan(k)?;
        self.planned(&[fingerprint], k).map(only)
    }

    pub(crate) fn contains_near<F: Fingerprint>(&mut self, fingerprint: F, k: u32) -> Result<Option<Match<F>>> {
        self.plan(k)?;
        let found = match self.any_in_memtables(fingerprint, k) {
            Some(found) => Some(found),
            None => self.any_in_segments(fingerprint, k)?,
        };
        let Some(place) = found else { return Ok(None) };
        let tombstones = self.state.has_tombstones();
        let layers = if tombstones { self.layers_of(place.0)? } else { self.layers_at(place.0, &[place])? };
        let some = self.some_match(fingerprint, &layers)?;
        if some.is_some() || !tombstones {
            return Ok(some);
        }
        // All records of this one were removed. Are all those of others?
        Ok(self.first_of(fingerprint, 1, &Visit::within(k))?.pop())
    }

    /// A fingerprint within the distance in one of the segments.
    fn any_in_segments<F: Fingerprint>(&mut self, query: F, k: u32) -> Result<Option<(F, HitPlace)>> {
        // Where a near fingerprint most likely is comes first, in every segment.
        let view = Arc::clone(&self.state.view);
        for part in [ProbePart::Home, ProbePart::Others] {
            for (number, (segment, plan)) in view.segments.iter().zip(&self.plans).enumerate() {
                let asked = Asked { segment, queries: &[query], k };
                let first = search_segment(&mut self.prober, asked, plan, part, &mut self.work, |_, found| {
                    ControlFlow::Break((found.fingerprint, HitPlace::Segment(number, found.rank)))
                })?;
                if let ControlFlow::Break(found) = first {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// All places within the distance, fingerprint by fingerprint, of each the newest first.
    pub(crate) fn near<F: Fingerprint>(&mut self, query: F, k: u32) -> Result<Vec<(F, HitPlace)>> {
        self.plan(k)?;
        let (plans, memtable_plan) = (std::mem::take(&mut self.plans), self.memtable_plan.take());
        let hits = match &memtable_plan {
            Some(memtable_plan) => self.hits(&[query], k, plans.iter(), memtable_plan),
            None => Ok(Vec::new()),
        };
        (self.plans, self.memtable_plan) = (plans, memtable_plan);
        Ok(hits?.pop().map(Hits::into_sorted).unwrap_or_default())
    }

    /// A fingerprint within the distance in one of the memtables.
    fn any_in_memtables<F: Fingerprint>(&mut self, query: F, k: u32) -> Option<(F, HitPlace)> {
        let plan = self.memtable_plan.as_ref()?;
        for (number, (memtable, visible)) in self.state.memtables().enumerate() {
            let found =
                memtable.search(visible, (query, k), plan, &mut self.memtable, &mut self.work, |entry, found| {
                    ControlFlow::Break((found, HitPlace::Memtable(number, entry)))
                });
            if let ControlFlow::Break(found) = found {
                return Some(found);
            }
        }
        None
    }

    /// All matches of each query, each segment searched by its plan.
    fn planned<F: Fingerprint>(&mut self, queries: &[F], k: u32) -> Result<Vec<Vec<Match<F>>>> {
        let (plans, memtable_plan) = (std::mem::take(&mut self.plans), self.memtable_plan.take());
        let answers = match &memtable_plan {
            Some(memtable_plan) => self.all(queries, k, plans.iter(), memtable_plan),
            None => Ok(Vec::new()),
        };
        (self.plans, self.memtable_plan) = (plans, memtable_plan);
        answers
    }

    /// All matches of each query, each segment searched by its plan.
    pub(crate) fn all<'p, F: Fingerprint>(
        &mut self,
        queries: &[F],
        k: u32,
        plans: impl Iterator<Item = &'p SegmentPlan>,
        memtable_plan: &MemtablePlan,
    ) -> Result<Vec<Vec<Match<F>>>> {
        let hits = self.hits(queries, k, plans, memtable_plan)?;
        let has_tombstones = !self.with_removed && self.state.has_tombstones();
        queries.iter().zip(hits).map(|(&query, hits)| self.matches(query, hits, has_tombstones)).collect()
    }

    /// What is near each query, each segment searched by its plan.
    fn hits<'p, F: Fingerprint>(
        &mut self,
        queries: &[F],
        k: u32,
        plans: impl Iterator<Item = &'p SegmentPlan>,
        memtable_plan: &MemtablePlan,
    ) -> Result<Vec<Hits<F>>> {
        let view = Arc::clone(&self.state.view);
        let mut hits: Vec<Hits<F>> = queries.iter().map(|_| Hits::default()).collect();
        for (number, (segment, plan)) in view.segments.iter().zip(plans).enumerate() {
            let asked = Asked { segment, queries, k };
            let all = search_segment(&mut self.prober, asked, plan, ProbePart::All, &mut self.work, |query, found| {
                let hits = hits.get_mut(query);
                hits.into_iter().for_each(|hits| hits.add(found.fingerprint, HitPlace::Segment(number, found.rank)));
                ControlFlow::<()>::Continue(())
            });
            let _ = all?;
        }
        for (number, (memtable, visible)) in self.state.memtables().enumerate() {
            for (&query, hits) in queries.iter().zip(&mut hits) {
                let (scratch, work) = (&mut self.memtable, &mut self.work);
                let all = memtable.search(visible, (query, k), memtable_plan, scratch, work, |entry, fingerprint| {
                    hits.add(fingerprint, HitPlace::Memtable(number, entry));
                    ControlFlow::<()>::Continue(())
                });
                debug_assert!(all.is_continue());
            }
        }
        Ok(hits)
    }

    pub(crate) fn plan(&mut self, k: u32) -> Result<()> {
        check_distance(k, self.context.parameters.width())?;
        // Filters are made while queries already run; with each one there is more to choose from.
        let segments = &self.state.view.segments;
        let filters = segments.iter().flat_map(|segment| segment.tables()).filter_map(Table::filter).count();
        let now = Some((k, filters, self.version));
        if self.planned_for != now {
            self.plans = segments.iter().map(|segment| SegmentPlan::new(segment, k)).collect();
            self.memtable_plan = Some(MemtablePlan::new(&self.context.shape, k));
            self.planned_for = now;
        }
        Ok(())
    }
}

pub(crate) fn check_distance(k: u32, width: u32) -> Result<()> {
    if k > width {
        return Err(Error::invalid(format!("distance {k} exceeds the width of {width} bits")));
    }
    Ok(())
}

/// The answer to the only query.
pub(crate) fn only<F>(mut answers: Vec<Vec<Match<F>>>) -> Vec<Match<F>> {
    answers.pop().unwrap_or_default()
}

/// The rank in the first table of a fingerprint that a segment's tables have found.
///
/// # Errors
/// `Damaged` if the first table does not have it; `Io`.
pub(crate) fn rank_of<F: Fingerprint>(segment: &Segment, found: Found<F>, scratch: &mut Scratch) -> Result<u64> {
    match found.rank {
        Some(rank) => Ok(rank),
        None => segment.rank_of(found.fingerprint, scratch)?.ok_or_else(|| {
            Error::damaged("a fingerprint of another table is missing in the first").at_path(segment.path())
        }),
    }
}

/// Matches in the order of answers, equal ones of several segments once, counts of a fingerprint added up.
pub(crate) fn in_order<F: Fingerprint>(mut matches: Vec<Match<F>>) -> Vec<Match<F>> {
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
