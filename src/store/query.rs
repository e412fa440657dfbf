//! Asking a store.

use crate::error::{Error, Result};
use crate::fingerprint::{Match, WIDTH, distance};
use crate::search::{Asked, Found, Part, Prober, SegmentPlan, Work, scan_segment, search_segment};
use crate::segment::{Scratch, Segment, Table};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Asks a store many times, reusing its buffers. One a thread.
#[derive(Debug)]
pub struct Searcher<'a> {
    segments: &'a [Arc<Segment>],
    /// The distance that `plans` are for, and how many filters there were.
    planned_for: Option<(u32, usize)>,
    /// One a segment.
    plans: Vec<SegmentPlan>,
    prober: Prober,
    page: Vec<u8>,
    work: Work,
}

impl<'a> Searcher<'a> {
    pub(super) fn new(segments: &'a [Arc<Segment>]) -> Self {
        Self {
            segments,
            planned_for: None,
            plans: Vec::new(),
            prober: Prober::default(),
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
    pub fn query_many(&mut self, fingerprints: &[u64], k: u32) -> Result<Vec<Vec<Match>>> {
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
    pub fn contains_near(&mut self, fingerprint: u64, k: u32) -> Result<Option<Match>> {
        self.plan(k)?;
        // Where a near fingerprint most likely is comes first, in every segment.
        for part in [Part::Home, Part::Others] {
            for (segment, plan) in self.segments.iter().zip(&self.plans) {
                let asked = Asked { segment, queries: &[fingerprint], k };
                let first = search_segment(&mut self.prober, asked, plan, part, &mut self.work, |_, found| {
                    ControlFlow::Break(found)
                })?;
                if let ControlFlow::Break(found) = first {
                    let mut matches = Vec::new();
                    collect(
                        segment,
                        fingerprint,
                        &mut vec![found],
                        &mut self.prober.scratch,
                        &mut self.page,
                        &mut matches,
                    )?;
                    return Ok(in_order(matches).into_iter().next());
                }
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
            let all = scan_segment(segment, fingerprint, WIDTH, &mut self.prober.scratch, &mut self.work, |one| {
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
        self.all(&[fingerprint], k, std::iter::repeat(&SegmentPlan::Scan)).map(only)
    }

    /// All matches of each query, segments searched as planned.
    fn planned(&mut self, queries: &[u64], k: u32) -> Result<Vec<Vec<Match>>> {
        let plans = std::mem::take(&mut self.plans);
        let answers = self.all(queries, k, plans.iter());
        self.plans = plans;
        answers
    }

    /// All matches of each query, each segment searched by its plan.
    fn all<'p>(
        &mut self,
        queries: &[u64],
        k: u32,
        plans: impl Iterator<Item = &'p SegmentPlan>,
    ) -> Result<Vec<Vec<Match>>> {
        let mut matches: Vec<Vec<Match>> = vec![Vec::new(); queries.len()];
        let mut found: Vec<Vec<Found>> = vec![Vec::new(); queries.len()];
        for (segment, plan) in self.segments.iter().zip(plans) {
            let asked = Asked { segment, queries, k };
            let all = search_segment(&mut self.prober, asked, plan, Part::All, &mut self.work, |query, one| {
                found.iter_mut().skip(query).take(1).for_each(|found| found.push(one));
                ControlFlow::<()>::Continue(())
            });
            let _ = all?;
            for ((&query, found), matches) in queries.iter().zip(&mut found).zip(&mut matches) {
                collect(segment, query, found, &mut self.prober.scratch, &mut self.page, matches)?;
            }
        }
        Ok(matches.into_iter().map(in_order).collect())
    }

    fn plan(&mut self, k: u32) -> Result<()> {
        check_distance(k)?;
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

fn check_distance(k: u32) -> Result<()> {
    if k > WIDTH {
        return Err(Error::invalid(format!("distance {k} exceeds the width of {WIDTH} bits")));
    }
    Ok(())
}

/// The answer to the only query.
fn only(mut answers: Vec<Vec<Match>>) -> Vec<Match> {
    answers.pop().unwrap_or_default()
}

/// Appends the records of the fingerprints that a segment's tables have found, each fingerprint once. Empties `found`.
fn collect(
    segment: &Segment,
    query: u64,
    found: &mut Vec<Found>,
    scratch: &mut Scratch,
    page: &mut Vec<u8>,
    matches: &mut Vec<Match>,
) -> Result<()> {
    // Of equal fingerprints the one whose rank is known comes last, and is kept.
    found.sort_unstable();
    found.reverse();
    found.dedup_by_key(|one| one.fingerprint);
    found.sort_unstable_by_key(|one| (distance(one.fingerprint, query), one.fingerprint));
    let mut ids = Vec::new();
    for one in found.drain(..) {
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
    // Those of one segment are.
    if !matches.is_sorted() {
        matches.sort_unstable();
    }
    matches.dedup();
    matches
}
