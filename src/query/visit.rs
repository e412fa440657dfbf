//! The matches of a query one after another, however many: in memory are some of the nearest fingerprints at a time, and of
//! one fingerprint a page of ids.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, IdKind, Match, distance};
use crate::memtable::MemtablePlan;
use crate::query::hit::HitPlace;
use crate::query::near::{NearHits, Nearest};
use crate::query::probe::asked::Asked;
use crate::query::probe::plan::SegmentPlan;
use crate::query::probe::prober::ProbePart;
use crate::query::probe::scan::scan_segment;
use crate::query::probe::segment::search_segment;
use crate::query::records::OrderedIds;
use crate::query::searcher::Searcher;
use crate::query::view_searcher::{ViewSearcher, check_distance};
use crate::query::visit_options::Visit;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

impl<F: Fingerprint> Searcher<'_, F> {
    /// Calls `visit` with the matches that [`Searcher::query`] returns, in their order, until it breaks. Memory is bounded,
    /// whatever the number of matches.
    ///
    /// ```
    /// # use fpstore::{Options, Parameters, Records, Store, Visit};
    /// # use std::ops::ControlFlow;
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("store");
    /// let loaded = Records::Numbered(vec![0b0000, 0b0111, u64::MAX]);
    /// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
    /// let mut distances = Vec::new();
    /// store.searcher().visit(0b0011, &Visit::within(2), |found| {
    ///     distances.push(found.distance);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(distances, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Searcher::query`], after the matches before the error were visited.
    pub fn visit(
        &mut self,
        fingerprint: F,
        how: &Visit,
        mut visit: impl FnMut(Match<F>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        self.now().visit(fingerprint, how, &mut visit)
    }

    /// The number of records that [`Searcher::visit`] would visit, counts added up. Most ids are not read.
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn count(&mut self, fingerprint: F, how: &Visit) -> Result<u64> {
        self.now().count(fingerprint, how)
    }
}

/// Takes the places of one fingerprint.
type Take<'t, F> = dyn FnMut(&mut ViewSearcher, F, &[(F, HitPlace)]) -> Result<ControlFlow<()>> + 't;

impl ViewSearcher {
    /// As [`Searcher::visit`].
    pub(crate) fn visit<F: Fingerprint>(
        &mut self,
        query: F,
        how: &Visit,
        visit: &mut dyn FnMut(Match<F>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        self.each_near(query, how, &mut |searcher, fingerprint, places| {
            let distance = distance(fingerprint, query);
            searcher.visit_ids(fingerprint, places, &mut |id| visit(Match { distance, fingerprint, id }))
        })
    }

    /// The first `count` of the matches that are visited.
    pub(crate) fn first_of<F: Fingerprint>(&mut self, query: F, count: usize, how: &Visit) -> Result<Vec<Match<F>>> {
        let mut near = Vec::new();
        if count > 0 {
            // Each fingerprint has at least one record, unless some were removed; then more are visited.
            let _ = self.visit(query, &how.with_wanted(count), &mut |found| {
                near.push(found);
                if near.len() < count { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        Ok(near)
    }

    fn count<F: Fingerprint>(&mut self, query: F, how: &Visit) -> Result<u64> {
        let mut sum = 0u64;
        let _ = self.each_near(query, how, &mut |searcher, fingerprint, places| {
            sum = sum.saturating_add(searcher.count_ids(fingerprint, places)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(sum)
    }

    /// Calls `take` with the fingerprints near a query, in the order of answers, and all places where each is, newest first.
    fn each_near<F: Fingerprint>(&mut self, query: F, how: &Visit, take: &mut Take<'_, F>) -> Result<ControlFlow<()>> {
        check_distance(how.k, F::WIDTH)?;
        // Within the distance that the tables are made for the index may have enough.
        let reach = self.context.parameters.max_distance();
        if how.scan || how.wanted == usize::MAX || how.k <= reach {
            return self.each_near_in_one_way(query, how, None, take);
        }
        if self.each_near_in_one_way(query, &Visit { k: reach, ..*how }, None, take)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let behind = Some((reach, F::from_words(|_| u64::MAX)));
        self.each_near_in_one_way(query, &how.with_scan(true), behind, take)
    }

    fn each_near_in_one_way<F: Fingerprint>(
        &mut self,
        query: F,
        how: &Visit,
        mut after: Option<(u32, F)>,
        take: &mut Take<'_, F>,
    ) -> Result<ControlFlow<()>> {
        loop {
            let (places, last) = self.nearest_hits(query, how, after)?;
            for places in places.chunk_by(|a, b| a.0 == b.0) {
                let Some(&(fingerprint, _)) = places.first() else { continue };
                if take(self, fingerprint, places)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if last.is_none() {
                return Ok(ControlFlow::Continue(()));
            }
            after = last;
        }
    }

    /// The nearest fingerprints behind one, as many as memory allows, and the last of them if there are more.
    fn nearest_hits<F: Fingerprint>(&mut self, query: F, how: &Visit, after: Option<(u32, F)>) -> Result<Nearest<F>> {
        self.plan(how.k)?;
        let mut near = NearHits::new(query, after, how.wanted, how.memory);
        let view = Arc::clone(&self.state.view);
        let limit = Cell::new(how.k);
        for (number, (segment, plan)) in view.segments.iter().zip(&self.plans).enumerate() {
            let work = &mut self.work;
            if how.scan || *plan == SegmentPlan::Scan {
                let all = scan_segment(segment, query, &limit, &mut self.prober.scratch, work, |found| {
                    near.add(found.fingerprint, HitPlace::Segment(number, found.rank));
                    limit.set(near.reach(how.k));
                    ControlFlow::<()>::Continue(())
                });
                let _ = all?;
            } else {
                let asked = Asked { segment, queries: &[query], k: how.k };
                let all = search_segment(&mut self.prober, asked, plan, ProbePart::All, work, |_, found| {
                    near.add(found.fingerprint, HitPlace::Segment(number, found.rank));
                    ControlFlow::<()>::Continue(())
                });
                let _ = all?;
            }
        }
        let scan = MemtablePlan::scan();
        let plan = if how.scan { Some(&scan) } else { self.memtable_plan.as_ref() };
        for (number, (memtable, visible)) in self.state.memtables().enumerate() {
            let Some(plan) = plan else { continue };
            let (scratch, work) = (&mut self.memtable, &mut self.work);
            let all = memtable.search(visible, (query, how.k), plan, scratch, work, |entry, fingerprint| {
                near.add(fingerprint, HitPlace::Memtable(number, entry));
                ControlFlow::<()>::Continue(())
            });
            debug_assert!(all.is_continue());
        }
        Ok(near.finish())
    }

    /// Calls `visit` with the ids of a fingerprint that are there, in order, or with their count, until it breaks. `places`
    /// are all where it is, newest first.
    fn visit_ids<F: Fingerprint>(
        &mut self,
        fingerprint: F,
        places: &[(F, HitPlace)],
        visit: &mut dyn FnMut(Id) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let mut ended = ControlFlow::Continue(());
        if let Some((number, rank)) = self.only_segment(fingerprint, places)? {
            let Some(segment) = self.state.view.segments.get(number) else { return Ok(ended) };
            segment.ids().visit_ids(rank, &mut self.ids, |id| {
                ended = visit(id);
                ended
            })?;
            return Ok(ended);
        }
        if self.context.parameters.ids() == IdKind::None || self.has_few_ids(fingerprint, places)? {
            let mut ids = Vec::new();
            self.live_ids(fingerprint, places, &mut |id| ids.push(id))?;
            ids.sort_unstable();
            ids.dedup();
            return Ok(ids.into_iter().try_for_each(visit));
        }
        let layers = self.layers_at(fingerprint, places)?;
        let mut ids = OrderedIds::new(&layers)?;
        while ended.is_continue()
            && let Some(id) = ids.next_id()?
        {
            ended = visit(id);
        }
        Ok(ended)
    }

    /// The number of records of a fingerprint that are there.
    fn count_ids<F: Fingerprint>(&mut self, fingerprint: F, places: &[(F, HitPlace)]) -> Result<u64> {
        if let Some((number, rank)) = self.only_segment(fingerprint, places)? {
            let segment = self.state.view.segments.get(number);
            return segment.map_or(Ok(0), |segment| segment.ids().count(rank, &mut self.ids));
        }
        let mut sum = 0u64;
        let all = self.visit_ids(fingerprint, places, &mut |id| {
            sum = sum.saturating_add(if let Id::Count(count) = id { count } else { 1 });
            ControlFlow::Continue(())
        })?;
        debug_assert!(all.is_continue());
        Ok(sum)
    }

    /// The segment, and the rank in it, of a fingerprint that is in no other place, if nothing hides records.
    fn only_segment<F: Fingerprint>(
        &mut self,
        fingerprint: F,
        places: &[(F, HitPlace)],
    ) -> Result<Option<(usize, u64)>> {
        match places {
            &[(_, HitPlace::Segment(number, rank))] if !self.state.has_tombstones() => {
                Ok(Some((number, self.rank_at(fingerprint, number, rank)?)))
            }
            _ => Ok(None),
        }
    }

    /// Whether all ids of a fingerprint can be in memory together.
    fn has_few_ids<F: Fingerprint>(&mut self, fingerprint: F, places: &[(F, HitPlace)]) -> Result<bool> {
        /// Pages of ids in one segment.
        const FEW: u64 = 8;
        for &(_, place) in places {
            if let HitPlace::Segment(number, rank) = place {
                let rank = self.rank_at(fingerprint, number, rank)?;
                let segment = self.state.view.segments.get(number);
                if segment.is_some_and(|segment| segment.ids().pages_of(rank).is_ok_and(|pages| pages > FEW)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
