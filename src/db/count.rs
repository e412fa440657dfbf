//! How many records there are, exactly.
//!
//! An insert is written without a look at what is there, so a run may say again what older ones say, and a removal of what was
//! inserted a moment before hides nothing. So each run knows its *net* number of records: those of the store behind it less
//! those before it. A flush looks its records up in the older runs, in order, leaves out what changes nothing, and counts the
//! rest; merging adds the numbers of runs up. Where a number is not known, because an older run could not be read or because
//! of writes beside a bulk load, it is counted when it is asked for.

use crate::error::Result;
use crate::fingerprint::{Entry, Fingerprint, Id, by_width};
use crate::format::Parameters;
use crate::version::{MembershipCursor, NewestEntries, ReadView, Run, RunSegment, add_runs, newest_entries};
use std::sync::Arc;

/// What runs say, newest first.
pub(crate) fn layers(runs: &[Arc<Run>]) -> impl Iterator<Item = RunSegment> {
    runs.iter().rev().flat_map(|run| run.layers())
}

/// The entries, in order, that change something behind these runs, and the net number of records that they add; all of them,
/// and no number, from the first that cannot be looked up.
pub(crate) fn effective<F: Fingerprint>(entries: Vec<Entry<F>>, older: &[Arc<Run>]) -> (Vec<Entry<F>>, Option<i64>) {
    let mut present = MembershipCursor::new(layers(older));
    let mut net = Some(0i64);
    let mut kept = entries;
    kept.retain(|entry| match net.map(|_| change(&mut present, entry)) {
        Some(Ok(change)) => {
            net = net.and_then(|net| net.checked_add(change));
            change != 0
        }
        Some(Err(_)) => {
            net = None;
            true
        }
        None => true,
    });
    (kept, net)
}

/// How many records more there are by a entry.
fn change<F: Fingerprint>(present: &mut MembershipCursor<F>, entry: &Entry<F>) -> Result<i64> {
    let sign = if entry.is_tombstone { -1 } else { 1 };
    if let Id::Count(count) = entry.record.id {
        return Ok(i64::try_from(count).unwrap_or(i64::MAX) * sign);
    }
    Ok(if present.is_there(&entry.record)? == entry.is_tombstone { sign } else { 0 })
}

/// How many records more there are by these last words, in order, behind these runs.
fn net_of<F: Fingerprint>(words: impl Iterator<Item = Result<Entry<F>>>, older: &[Arc<Run>]) -> Result<i64> {
    let mut present = MembershipCursor::new(layers(older));
    let mut net = 0i64;
    for word in words {
        net = net.saturating_add(change(&mut present, &word?)?);
    }
    Ok(net)
}

/// How many records more there are by one of these runs, which has this number.
fn net_of_run<F: Fingerprint>(runs: &[Arc<Run>], number: usize) -> Result<i64> {
    let Some((run, older)) = runs.get(number).zip(runs.get(..number)) else { return Ok(0) };
    if number == 0 {
        // Nothing is older: all its records are there.
        return Ok(run.entry.records.map_or(0, |records| i64::try_from(records.records).unwrap_or(i64::MAX)));
    }
    if let Some(net) = run.entry.net.or_else(|| run.counted.get().copied()) {
        return Ok(net);
    }
    let mut merge = NewestEntries::<F>::default();
    add_runs(&mut merge, std::slice::from_ref(run));
    let net = net_of(merge.map(|word| word.map(|word| word.entry)), older)?;
    // Another thread may have been faster, with the same number.
    let _ = run.counted.set(net);
    Ok(net)
}

/// A number of records, and whether it is exact: where something cannot be read, all records that it may be of are counted.
pub(crate) type Counted = (u64, bool);

/// The number of records behind these runs.
pub(crate) fn records_of_runs<F: Fingerprint>(runs: &[Arc<Run>]) -> Counted {
    let (mut records, mut is_exact) = (0i64, true);
    for (number, run) in runs.iter().enumerate() {
        let net = net_of_run::<F>(runs, number).unwrap_or_else(|_| {
            is_exact = false;
            run.entry.records.map_or(0, |records| i64::try_from(records.records).unwrap_or(i64::MAX))
        });
        records = records.saturating_add(net);
    }
    (u64::try_from(records).unwrap_or(0), is_exact)
}

/// The number of records of a state.
pub(crate) fn records_of_state(parameters: &Parameters, state: &ReadView) -> Counted {
    by_width!(parameters.width(), F => records_of::<F>(state))
}

fn records_of<F: Fingerprint>(state: &ReadView) -> Counted {
    let runs = &state.view.runs;
    let (stored, is_exact) = records_of_runs::<F>(runs);
    let words = newest_entries::<F>(state.memtables().rev()).unwrap_or_default();
    match net_of(words.iter().cloned().map(Ok), runs) {
        Ok(unflushed) => (stored.saturating_add_signed(unflushed), is_exact),
        Err(_) => (stored + words.iter().filter(|word| !word.is_tombstone).count() as u64, false),
    }
}

/// How many of the records of a new run the tail of runs that came while it was made have made pointless: records that they have
/// added too or, of a run of tombstones, have removed too.
///
/// # Errors
/// `Damaged` or `Io` from reading.
pub(crate) fn pointless<F: Fingerprint>(new: &Run, tail: &[Arc<Run>]) -> Result<u64> {
    let tombstones = new.tombstones.is_some();
    let own = new.layers().map(|layer| RunSegment { removed: false, ..layer });
    let mut own = MembershipCursor::<F>::new(own);
    let mut merge = NewestEntries::<F>::default();
    add_runs(&mut merge, tail);
    let mut count = 0;
    for word in merge {
        let entry = word?.entry;
        if entry.is_tombstone == tombstones && own.is_there(&entry.record)? {
            count += 1;
        }
    }
    Ok(count)
}
