//! Passing on the matches of a query in bounded memory: some of the nearest fingerprints at a time, and a page of the
//! ids of one fingerprint.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, IdKind, Match, distance};
use crate::query::hits::{Hit, HitPlace};
use crate::query::searcher::Searcher;
use crate::query::sources::OrderedIds;
use crate::query::view_searcher::{ViewSearcher, check_distance, rank_of};
use crate::query::visit_options::Visit;
use std::ops::ControlFlow;

impl<F: Fingerprint> Searcher<'_, F> {
    /// Calls `visit` with the matches that [`Searcher::query`] returns, in their order, until it breaks. Memory is
    /// bounded for any number of matches.
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

/// Takes all hits of one fingerprint, newest first.
type Take<'t, F> = dyn FnMut(&mut ViewSearcher, F, &[Hit<F>]) -> Result<ControlFlow<()>> + 't;

impl ViewSearcher {
    /// All records within distance `k`; if `scan` is set, by comparing every fingerprint.
    pub(crate) fn query<F: Fingerprint>(&mut self, query: F, k: u32, scan: bool) -> Result<Vec<Match<F>>> {
        let hits = self.hits(query, k, scan)?;
        self.matches(query, &hits)
    }

    /// Some record within distance `k`.
    pub(crate) fn contains_near<F: Fingerprint>(&mut self, query: F, k: u32) -> Result<Option<Match<F>>> {
        let Some(hit) = self.any_hit(query, k)? else { return Ok(None) };
        let (fingerprint, has_tombstones) = (hit.0, self.view.has_tombstones());
        // A count adds up over all places of the fingerprint.
        let needs_all = has_tombstones || self.context.parameters.ids() == IdKind::None;
        let sources = if needs_all { self.sources_of(fingerprint)? } else { self.sources_at(fingerprint, &[hit])? };
        let some = self.some_ids(&sources, 1, None)?.pop();
        if some.is_none() && has_tombstones {
            // All records of this fingerprint were removed.
            return Ok(self.first_of(query, 1, &Visit::within(k))?.pop());
        }
        Ok(some.map(|id| Match { distance: distance(fingerprint, query), fingerprint, id }))
    }

    pub(crate) fn visit<F: Fingerprint>(
        &mut self,
        query: F,
        how: &Visit,
        visit: &mut dyn FnMut(Match<F>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        self.each_near(query, how, &mut |searcher, fingerprint, hits| {
            let distance = distance(fingerprint, query);
            searcher.visit_ids(fingerprint, hits, &mut |id| visit(Match { distance, fingerprint, id }))
        })
    }

    pub(crate) fn first_of<F: Fingerprint>(&mut self, query: F, count: usize, how: &Visit) -> Result<Vec<Match<F>>> {
        let mut near = Vec::new();
        if count > 0 {
            // Each fingerprint has at least one record, unless some were removed; then more fingerprints are visited.
            let _ = self.visit(query, &how.with_wanted(count), &mut |found| {
                near.push(found);
                if near.len() < count { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        Ok(near)
    }

    fn count<F: Fingerprint>(&mut self, query: F, how: &Visit) -> Result<u64> {
        let mut sum = 0u64;
        let _ = self.each_near(query, how, &mut |searcher, fingerprint, hits| {
            sum = sum.saturating_add(searcher.count_ids(fingerprint, hits)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(sum)
    }

    /// Calls `take` with each fingerprint near a query and its hits, in the order of answers.
    fn each_near<F: Fingerprint>(&mut self, query: F, how: &Visit, take: &mut Take<'_, F>) -> Result<ControlFlow<()>> {
        check_distance(how.k, F::WIDTH)?;
        // Within the distance that the tables are made for, probing may find enough.
        let reach = self.context.parameters.max_distance();
        if how.scan || how.wanted == usize::MAX || how.k <= reach {
            return self.each_near_after(None, query, how, take);
        }
        if self.each_near_after(None, query, &Visit { k: reach, ..*how }, take)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.each_near_after(Some((reach, F::from_words(|_| u64::MAX))), query, &how.with_scan(true), take)
    }

    fn each_near_after<F: Fingerprint>(
        &mut self,
        mut after: Option<(u32, F)>,
        query: F,
        how: &Visit,
        take: &mut Take<'_, F>,
    ) -> Result<ControlFlow<()>> {
        loop {
            let (hits, last) = self.nearest_hits(query, how, after)?;
            for hits in hits.chunk_by(|a, b| a.0 == b.0) {
                let Some(&(fingerprint, _)) = hits.first() else { continue };
                if take(self, fingerprint, hits)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if last.is_none() {
                return Ok(ControlFlow::Continue(()));
            }
            after = last;
        }
    }

    /// Calls `visit` with the ids of the records of a fingerprint in order, or with their count, until it breaks.
    /// `hits` are all of the fingerprint, newest first.
    fn visit_ids<F: Fingerprint>(
        &mut self,
        fingerprint: F,
        hits: &[Hit<F>],
        visit: &mut dyn FnMut(Id) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let mut ended = ControlFlow::Continue(());
        if let Some((number, rank)) = self.only_segment(fingerprint, hits)? {
            let Some(segment) = self.view.version.segments.get(number) else { return Ok(ended) };
            segment.ids().visit_ids(rank, &mut self.ids, |id| {
                ended = visit(id);
                ended
            })?;
            return Ok(ended);
        }
        let sources = self.sources_at(fingerprint, hits)?;
        if self.context.parameters.ids() == IdKind::None || !sources.has_many_ids() {
            return Ok(self.all_ids(&sources)?.into_iter().try_for_each(visit));
        }
        for id in OrderedIds::new(&sources)? {
            ended = visit(id?);
            if ended.is_break() {
                break;
            }
        }
        Ok(ended)
    }

    fn count_ids<F: Fingerprint>(&mut self, fingerprint: F, hits: &[Hit<F>]) -> Result<u64> {
        if let Some((number, rank)) = self.only_segment(fingerprint, hits)? {
            let segment = self.view.version.segments.get(number);
            return segment.map_or(Ok(0), |segment| segment.ids().count(rank, &mut self.ids));
        }
        let mut sum = 0u64;
        let all = self.visit_ids(fingerprint, hits, &mut |id| {
            sum = sum.saturating_add(id.records());
            ControlFlow::Continue(())
        })?;
        debug_assert!(all.is_continue());
        Ok(sum)
    }

    /// The segment of a fingerprint and its rank there, if it is in no other place and nothing hides records.
    fn only_segment<F: Fingerprint>(&mut self, fingerprint: F, hits: &[Hit<F>]) -> Result<Option<(usize, u64)>> {
        match hits {
            &[(_, HitPlace::Segment(number, rank))] if !self.view.has_tombstones() => {
                let Some(segment) = self.view.version.segments.get(number) else { return Ok(None) };
                Ok(Some((number, rank_of(segment, fingerprint, rank, &mut self.prober.scratch)?)))
            }
            _ => Ok(None),
        }
    }
}
