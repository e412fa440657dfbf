//! The fingerprints that have several records.
//!
//! Within a segment, the records show them, without their ids being copied. Those that several segments have are found
//! by merging the fingerprints alone.

use super::merged::{MergeBuffers, MergedTables};
use super::ordered::{Output, Step, ordered};
use super::pairs::Pairs;
use super::taker::{MakeTaker, Sink, Taker, Ticket};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::segment::{Segment, SegmentRecords};
use crate::version::{RecordIter, Share};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Fingerprints of which a thread gathers those with several records.
const SHARE: u64 = 1 << 14;

/// A share of more agrees in the first 64 bits: of its fingerprints none are gathered.
const MOST: usize = 1 << 16;

/// If more than one in this many fingerprints of a share may have several records, to read all records takes no longer
/// than to look up theirs.
const MANY: usize = 8;

impl<F: Fingerprint> Pairs<F> {
    /// Hands each fingerprint that may have several records to takers, as a pair with itself. Those that have them are
    /// among these; of the others, several segments have the same record.
    pub(crate) fn visit_repeated(&self, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<ControlFlow<()>> {
        let segments = self.left.ready();
        let has_repeated = |segment: &&Arc<Segment>| segment.footer().records > segment.footer().fingerprints;
        let repeating: Vec<_> = segments.iter().filter(has_repeated).collect();
        if repeating.is_empty() && segments.len() < 2 {
            return Ok(ControlFlow::Continue(()));
        }
        let tables = MergedTables::primary(segments)?;
        let worker = || (taker(), MergeBuffers::default(), Vec::new());
        let work = |worker: &mut Worker<'_, F>, share: Share, output: &Output<Ticket>| {
            self.job.progress.check()?;
            let (taker, buffers, found) = worker;
            let mut take = |one: F| taker.take(&[(one, one)], output);
            if let [segment] = segments {
                visit_within(segment, share, &mut take)?;
            } else {
                let at_most = tables.at_most(share)?;
                if at_most <= MOST {
                    gather(&repeating, &tables, share, (buffers, found))?;
                }
                if at_most > MOST || found.len() > at_most / MANY {
                    visit_merged(segments, share, &mut take)?;
                } else {
                    found.drain(..).try_for_each(take)?;
                }
            }
            taker.flush(output)
        };
        ordered(None, &*self.job.executor.crew()?, Share::of_size(segments, SHARE)?, worker, work, sink)
    }
}

/// The state of a thread; the fingerprints that it found.
type Worker<'t, F> = (Box<dyn Taker<F> + 't>, MergeBuffers<F>, Vec<F>);

/// Replaces `found` by the fingerprints of a share that have several records in a segment, or are in several segments.
fn gather<F: Fingerprint>(
    repeating: &[&Arc<Segment>],
    tables: &MergedTables<'_>,
    share: Share,
    (buffers, found): (&mut MergeBuffers<F>, &mut Vec<F>),
) -> Step {
    found.clear();
    for segment in repeating {
        visit_within(segment, share, &mut |one| {
            found.push(one);
            Ok(())
        })?;
    }
    tables.visit_common(share, buffers, &mut |common| found.extend_from_slice(common))?;
    found.sort_unstable();
    found.dedup();
    Ok(())
}

/// Takes the fingerprints of a share that have several records in one segment.
fn visit_within<F: Fingerprint>(segment: &Arc<Segment>, share: Share, take: &mut dyn FnMut(F) -> Step) -> Step {
    let mut last = None;
    SegmentRecords::<F>::visit_repeats_near(segment, share.from, |fingerprint, is_repeated| {
        if share.is_before(fingerprint) {
            return Ok(ControlFlow::Break(()));
        }
        if is_repeated && share.has(fingerprint) && last.replace(fingerprint) != Some(fingerprint) {
            take(fingerprint)?;
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Takes the fingerprints of a share that have several records in all segments together: record by record.
fn visit_merged<F: Fingerprint>(segments: &[Arc<Segment>], share: Share, take: &mut dyn FnMut(F) -> Step) -> Step {
    let (mut before, mut last) = (None, None);
    for record in RecordIter::<F>::of_share(segments, share)? {
        let Record { fingerprint, id } = record?;
        let again = before.replace(fingerprint) == Some(fingerprint) || matches!(id, Id::Count(count) if count > 1);
        if again && last.replace(fingerprint) != Some(fingerprint) {
            take(fingerprint)?;
        }
    }
    Ok(())
}
