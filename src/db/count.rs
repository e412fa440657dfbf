//! The exact number of records.
//!
//! An insert does not look its record up, so a run may repeat a record of an older run, and a tombstone may hide
//! nothing. So each run has a *net* number of records: by how many the run changes the number of the store. A flush
//! looks its records up in the older runs, in order, drops those that change nothing, and counts the rest; compaction
//! adds the numbers. An unknown number, because an older run could not be read or because of writes during a bulk load,
//! is counted when it is needed.

use crate::error::Result;
use crate::fingerprint::{Entry, Fingerprint, Id, by_width};
use crate::format::Parameters;
use crate::version::{
    MembershipCursor, NewestEntries, ReadView, Run, RunSegment, add_runs, newest_entries, run_segments,
};
use std::sync::Arc;

/// The entries, in order, that change something after these runs, and their net number of records. If a look-up fails,
/// all entries from there on, and no number.
pub(crate) fn effective<F: Fingerprint>(
    mut entries: Vec<Entry<F>>,
    older: &[Arc<Run>],
) -> (Vec<Entry<F>>, Option<i64>) {
    let mut present = MembershipCursor::new(run_segments(older));
    let mut net = Some(0i64);
    entries.retain(|entry| {
        let Some(change) = net.and_then(|_| change(&mut present, entry).ok()) else {
            net = None;
            return true;
        };
        net = net.and_then(|net| net.checked_add(change));
        change != 0
    });
    (entries, net)
}

fn change<F: Fingerprint>(present: &mut MembershipCursor<F>, entry: &Entry<F>) -> Result<i64> {
    let sign = if entry.is_tombstone { -1 } else { 1 };
    if let Id::Count(count) = entry.record.id {
        return Ok(i64::try_from(count).unwrap_or(i64::MAX) * sign);
    }
    Ok(if present.is_there(&entry.record)? == entry.is_tombstone { sign } else { 0 })
}

/// The net number of records of these entries, in order, after these runs.
fn net_of<F: Fingerprint>(mut entries: impl Iterator<Item = Result<Entry<F>>>, older: &[Arc<Run>]) -> Result<i64> {
    let mut present = MembershipCursor::new(run_segments(older));
    entries.try_fold(0i64, |net, entry| Ok(net.saturating_add(change(&mut present, &entry?)?)))
}

fn net_of_run<F: Fingerprint>(runs: &[Arc<Run>], number: usize) -> Result<i64> {
    let Some((run, older)) = runs.get(number).zip(runs.get(..number)) else { return Ok(0) };
    if number == 0 {
        return Ok(all_records(run));
    }
    if let Some(net) = run.entry.net.or_else(|| run.counted.get().copied()) {
        return Ok(net);
    }
    let mut merge = NewestEntries::<F>::default();
    add_runs(&mut merge, std::slice::from_ref(run));
    let net = net_of(merge.map(|newest| newest.map(|newest| newest.entry)), older)?;
    let _ = run.counted.set(net);
    Ok(net)
}

fn all_records(run: &Run) -> i64 {
    i64::try_from(run.entry.records()).unwrap_or(i64::MAX)
}

/// A number of records, and whether it is exact. A run that cannot be read counts with all its records.
pub(crate) type Counted = (u64, bool);

pub(crate) fn records_of_runs<F: Fingerprint>(runs: &[Arc<Run>]) -> Counted {
    let (mut records, mut is_exact) = (0i64, true);
    for (number, run) in runs.iter().enumerate() {
        let net = net_of_run::<F>(runs, number).unwrap_or_else(|_| {
            is_exact = false;
            all_records(run)
        });
        records = records.saturating_add(net);
    }
    (u64::try_from(records).unwrap_or(0), is_exact)
}

pub(crate) fn records_of_view(parameters: &Parameters, view: &ReadView) -> Counted {
    by_width!(parameters.width(), F => records_of::<F>(view))
}

fn records_of<F: Fingerprint>(view: &ReadView) -> Counted {
    let runs = &view.version.runs;
    let (stored, is_exact) = records_of_runs::<F>(runs);
    let entries = || newest_entries::<F>(view.memtables().rev());
    match net_of(entries(), runs) {
        Ok(unflushed) => (stored.saturating_add_signed(unflushed), is_exact),
        Err(_) => (stored + entries().flatten().filter(|entry| !entry.is_tombstone).count() as u64, false),
    }
}

/// The number of entries of a new run that repeat an entry of `tail`, the runs that came while it was made.
pub(crate) fn pointless<F: Fingerprint>(new: &Arc<Run>, tail: &[Arc<Run>]) -> Result<u64> {
    let tombstones = new.tombstones.is_some();
    let own = run_segments(std::slice::from_ref(new)).map(|run| RunSegment { is_tombstones: false, ..run });
    let mut own = MembershipCursor::<F>::new(own);
    let mut merge = NewestEntries::<F>::default();
    add_runs(&mut merge, tail);
    let mut count = 0;
    for newest in merge {
        let entry = newest?.entry;
        if entry.is_tombstone == tombstones && own.is_there(&entry.record)? {
            count += 1;
        }
    }
    Ok(count)
}
