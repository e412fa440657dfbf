//! A read view with everything that its queries reuse.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, Match};
use crate::memtable::{MemtablePlan, MemtableScratch};
use crate::query::hits::{Hit, HitPlace, NearHits, Nearest};
use crate::query::probe::compare::Found;
use crate::query::probe::plan::SegmentPlan;
use crate::query::probe::prober::{ProbePart, Prober};
use crate::query::probe::search::{scan_segment, search_segment};
use crate::query::visit_options::Visit;
use crate::query_stats::QueryStats;
use crate::segment::{IdScratch, Scratch, Segment, Table};
use crate::version::{LatestVersion, ReadView, StoreContext};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A read view, the plans for searching it, and buffers.
#[derive(Debug)]
pub(crate) struct ViewSearcher {
    pub(crate) context: Arc<StoreContext>,
    pub(crate) view: ReadView,
    /// The number of the view's super version.
    pub(crate) version: u64,
    /// Whether removed records are returned too.
    pub(crate) with_removed: bool,
    /// The distance of the plans, the number of filters at that time, and the super version.
    planned_for: Option<(u32, usize, u64)>,
    plans: Vec<SegmentPlan>,
    memtable_plan: MemtablePlan,
    pub(crate) prober: Prober,
    memtable: MemtableScratch,
    pub(crate) ids: IdScratch,
    pub(crate) stats: QueryStats,
}

impl ViewSearcher {
    pub(crate) fn new(context: &Arc<StoreContext>, view: ReadView) -> Self {
        Self {
            context: Arc::clone(context),
            view,
            version: u64::MAX,
            with_removed: false,
            planned_for: None,
            plans: Vec::new(),
            memtable_plan: MemtablePlan::scan(),
            prober: Prober::default(),
            memtable: MemtableScratch::default(),
            ids: IdScratch::default(),
            stats: QueryStats::default(),
        }
    }

    pub(crate) fn catch_up(&mut self, latest: &LatestVersion) {
        let version = latest.number();
        if version == self.version {
            self.view.catch_up();
        } else {
            (self.version, self.view) = (version, latest.read_view());
        }
    }

    fn plan(&mut self, k: u32) -> Result<()> {
        check_distance(k, self.context.parameters.width())?;
        // Filters are made in the background; each new one gives more to choose from.
        let segments = &self.view.version.segments;
        let filters = segments.iter().flat_map(|segment| segment.tables()).filter_map(Table::filter).count();
        let now = Some((k, filters, self.version));
        if self.planned_for != now {
            self.plans = segments.iter().map(|segment| SegmentPlan::new(segment, k)).collect();
            self.memtable_plan = MemtablePlan::new(&self.context.shape, k);
            self.planned_for = now;
        }
        Ok(())
    }

    /// All hits within distance `k`, in the order of answers; if `scan` is set, by comparing every fingerprint.
    pub(crate) fn hits<F: Fingerprint>(&mut self, query: F, k: u32, scan: bool) -> Result<Vec<Hit<F>>> {
        Ok(self.nearest_hits(query, &Visit::within(k).with_scan(scan).with_memory(usize::MAX), None)?.0)
    }

    /// The nearest hits after a fingerprint, as many as memory allows.
    pub(crate) fn nearest_hits<F: Fingerprint>(
        &mut self,
        query: F,
        how: &Visit,
        after: Option<(u32, F)>,
    ) -> Result<Nearest<F>> {
        self.plan(how.k)?;
        // Neither a scan nor what follows the first hits of a query is a query that filters make faster.
        if !how.scan && after.is_none() {
            self.context.first_queries.add_one();
        }
        let mut near = NearHits::new(query, after, how.wanted, how.memory);
        let limit = Cell::new(how.k);
        let stats = &mut self.stats;
        for (number, (segment, plan)) in self.view.version.segments.iter().zip(&self.plans).enumerate() {
            let add = |found: Found<F>| {
                near.add(found.fingerprint, HitPlace::Segment(number, found.rank));
                limit.set(near.reach(how.k));
                ControlFlow::<()>::Continue(())
            };
            let all = if how.scan || *plan == SegmentPlan::Scan {
                scan_segment(segment, query, &limit, &mut self.prober.scratch, stats, add)
            } else {
                search_segment(&mut self.prober, segment, (query, how.k), plan, ProbePart::All, stats, add)
            };
            let _ = all?;
        }
        let scan = MemtablePlan::scan();
        let plan = if how.scan { &scan } else { &self.memtable_plan };
        for (number, (memtable, visible)) in self.view.memtables().enumerate() {
            let all =
                memtable.search(visible, (query, how.k), plan, &mut self.memtable, stats, |entry, fingerprint| {
                    near.add(fingerprint, HitPlace::Memtable(number, entry));
                    ControlFlow::<()>::Continue(())
                });
            debug_assert!(all.is_continue());
        }
        Ok(near.finish())
    }

    pub(crate) fn any_hit<F: Fingerprint>(&mut self, query: F, k: u32) -> Result<Option<Hit<F>>> {
        self.plan(k)?;
        self.context.first_queries.add_one();
        let stats = &mut self.stats;
        for (number, (memtable, visible)) in self.view.memtables().enumerate() {
            let (plan, scratch) = (&self.memtable_plan, &mut self.memtable);
            let found = memtable.search(visible, (query, k), plan, scratch, stats, |entry, found| {
                ControlFlow::Break((found, HitPlace::Memtable(number, entry)))
            });
            if let ControlFlow::Break(hit) = found {
                return Ok(Some(hit));
            }
        }
        // In every segment, the most likely place comes first.
        for part in [ProbePart::Home, ProbePart::Others] {
            for (number, (segment, plan)) in self.view.version.segments.iter().zip(&self.plans).enumerate() {
                let found = search_segment(&mut self.prober, segment, (query, k), plan, part, stats, |found| {
                    ControlFlow::Break((found.fingerprint, HitPlace::Segment(number, found.rank)))
                })?;
                if let ControlFlow::Break(hit) = found {
                    return Ok(Some(hit));
                }
            }
        }
        Ok(None)
    }
}

pub(crate) fn check_distance(k: u32, width: u32) -> Result<()> {
    if k > width {
        return Err(Error::invalid(format!("distance {k} exceeds the width of {width} bits")));
    }
    Ok(())
}

/// The rank of a fingerprint in the primary table, looked up unless the table that found it knows the rank. Fails with
/// `Damaged` if the primary table does not have it.
pub(crate) fn rank_of<F: Fingerprint>(
    segment: &Segment,
    fingerprint: F,
    rank: Option<u64>,
    scratch: &mut Scratch,
) -> Result<u64> {
    match rank {
        Some(rank) => Ok(rank),
        None => segment.rank_of(fingerprint, scratch)?.ok_or_else(|| {
            Error::damaged("a fingerprint of another table is missing in the first").at_path(segment.path())
        }),
    }
}

/// Sorts matches in the order of answers, drops repeated ones, and adds up counts of the same fingerprint.
pub(crate) fn in_order<F: Fingerprint>(mut matches: Vec<Match<F>>) -> Vec<Match<F>> {
    // Those of one segment are in order.
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
