//! Asking a store.

use crate::error::{Error, Result};
use crate::fingerprint::{Match, WIDTH, distance};
use crate::search::{Found, SegmentPlan, Work, scan_segment, search_segment};
use crate::segment::{Scratch, Segment};
use std::ops::ControlFlow;

/// Asks a store many times, reusing its buffers. One a thread.
#[derive(Debug)]
pub struct Searcher<'a> {
    segments: &'a [Segment],
    /// The distance that `plans` are for.
    planned: Option<u32>,
    /// One a segment.
    plans: Vec<SegmentPlan>,
    scratch: Scratch,
    page: Vec<u8>,
    work: Work,
}

impl<'a> Searcher<'a> {
    pub(super) fn new(segments: &'a [Segment]) -> Self {
        Self {
            segments,
            planned: None,
            plans: Vec::new(),
            scratch: Scratch::default(),
            page: Vec::new(),
            work: Work::default(),
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
    /// `InvalidInput` if `k` exceeds 64; `Damaged` or `Io` from reading.
    pub fn query(&mut self, fingerprint: u64, k: u32) -> Result<Vec<Match>> {
        self.plan(k)?;
        let plans = std::mem::take(&mut self.plans);
        let matches = self.all(fingerprint, k, plans.iter());
        self.plans = plans;
        matches
    }

    /// As [`crate::Store::contains_near`].
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn contains_near(&mut self, fingerprint: u64, k: u32) -> Result<Option<Match>> {
        self.plan(k)?;
        for (segment, plan) in self.segments.iter().zip(&self.plans) {
            let first =
                search_segment(segment, plan, fingerprint, k, &mut self.scratch, &mut self.work, ControlFlow::Break)?;
            if let ControlFlow::Break(found) = first {
                let mut matches = Vec::new();
                collect(segment, fingerprint, vec![found], &mut self.scratch, &mut self.page, &mut matches)?;
                return Ok(in_order(matches).into_iter().next());
            }
        }
        Ok(None)
    }

    /// As [`crate::Store::nearest`].
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading.
    pub fn nearest(&mut self, fingerprint: u64, count: usize) -> Result<Vec<Match>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        // Within the distance that the tables are made for the index may have enough.
        let reach = self.segments.first().map_or(0, |segment| segment.footer().parameters.max_distance());
        let mut near = self.query(fingerprint, reach)?;
        if near.len() >= count {
            near.truncate(count);
            return Ok(near);
        }
        // How many fingerprints lie at each distance tells how far to look: each of them has at least one record.
        let mut at_distance = [0usize; WIDTH as usize + 1];
        for segment in self.segments {
            let all = scan_segment(segment, fingerprint, WIDTH, &mut self.scratch, &mut self.work, |one| {
                let away = distance(one.fingerprint, fingerprint) as usize;
                at_distance.iter_mut().skip(away).take(1).for_each(|fingerprints| *fingerprints += 1);
                ControlFlow::<()>::Continue(())
            });
            let _ = all?;
        }
        let mut sum = 0;
        let enough = (0..WIDTH).zip(at_distance).find(|(_, fingerprints)| {
            sum += fingerprints;
            sum >= count
        });
        let mut near = self.scan(fingerprint, enough.map_or(WIDTH, |(away, _)| away))?;
        if near.len() < count && enough.is_some() {
            // Segments had records in common, which were counted twice above.
            near = self.scan(fingerprint, WIDTH)?;
        }
        near.truncate(count);
        Ok(near)
    }

    /// As [`crate::Store::scan`].
    ///
    /// # Errors
    /// As [`Searcher::query`].
    pub fn scan(&mut self, fingerprint: u64, k: u32) -> Result<Vec<Match>> {
        check_distance(k)?;
        self.all(fingerprint, k, std::iter::repeat(&SegmentPlan::Scan))
    }

    /// All matches, each segment searched by its plan.
    fn all<'p>(
        &mut self,
        fingerprint: u64,
        k: u32,
        plans: impl Iterator<Item = &'p SegmentPlan>,
    ) -> Result<Vec<Match>> {
        let mut matches = Vec::new();
        for (segment, plan) in self.segments.iter().zip(plans) {
            let mut found = Vec::new();
            let all = search_segment(segment, plan, fingerprint, k, &mut self.scratch, &mut self.work, |one| {
                found.push(one);
                ControlFlow::<()>::Continue(())
            });
            let _ = all?;
            collect(segment, fingerprint, found, &mut self.scratch, &mut self.page, &mut matches)?;
        }
        Ok(in_order(matches))
    }

    fn plan(&mut self, k: u32) -> Result<()> {
        check_distance(k)?;
        if self.planned != Some(k) {
            self.plans = self.segments.iter().map(|segment| SegmentPlan::new(segment, k)).collect();
            self.planned = Some(k);
        }
        Ok(())
    }
}

fn check_distance(k: u32) -> Result<()> {
    if k > WIDTH {
        return Err(Error::invalid(format!("distance {k} exceeds the width of {WIDTH} bits")));
    }
    Ok(())
}

/// Appends the records of the fingerprints that a segment's tables have found, each fingerprint once.
fn collect(
    segment: &Segment,
    query: u64,
    mut found: Vec<Found>,
    scratch: &mut Scratch,
    page: &mut Vec<u8>,
    matches: &mut Vec<Match>,
) -> Result<()> {
    // Of equal fingerprints the one whose rank is known comes last, and is kept.
    found.sort_unstable();
    found.reverse();
    found.dedup_by_key(|one| one.fingerprint);
    let mut ids = Vec::new();
    for one in found {
        let rank = match one.rank {
            Some(rank) => rank,
            None => segment.rank_of(one.fingerprint, scratch)?.ok_or_else(|| {
                Error::damaged("a fingerprint of another table is missing in the first").at_path(segment.path())
            })?,
        };
        ids.clear();
        segment.ids().ids_of(rank, page, &mut ids)?;
        let distance = distance(one.fingerprint, query);
        matches.extend(ids.iter().map(|&id| Match { distance, fingerprint: one.fingerprint, id }));
    }
    Ok(())
}

/// Matches in the order of answers, equal ones of several segments once.
fn in_order(mut matches: Vec<Match>) -> Vec<Match> {
    matches.sort_unstable();
    matches.dedup();
    matches
}
