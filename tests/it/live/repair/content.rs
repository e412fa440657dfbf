//! The content of a sound store's files, and the rest of it after the losses in a report.

use crate::support::*;
use fpstore::inspect::{self, LogView, SegmentRole};
use fpstore::repair::{Loss, Lost, RepairReport};
use fpstore::{Fingerprint, Id, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Records, or counts of fingerprints under `Id::Count(0)`.
pub(super) type State<F> = BTreeMap<(F, Id), u64>;

/// A segment of records or tombstones.
#[derive(Clone, Debug)]
pub(super) struct Part<F: Fingerprint> {
    pub(super) path: PathBuf,
    pub(super) removals: bool,
    pub(super) records: Vec<Record<F>>,
}

/// A batch of writes in a log.
#[derive(Clone, Debug)]
pub(super) struct Frame<F: Fingerprint> {
    pub(super) path: PathBuf,
    pub(super) offset: u64,
    pub(super) end: u64,
    pub(super) sequence: u64,
    operations: Vec<(Record<F>, bool)>,
}

/// All entries of a store, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Content<F: Fingerprint> {
    pub(super) parts: Vec<Part<F>>,
    pub(super) frames: Vec<Frame<F>>,
}

impl<F: Fingerprint> Content<F> {
    /// Reads the content from a sound store.
    pub(super) fn of(fixture: &Fixture) -> Self {
        let manifest = inspect::manifest(&fixture.path, &fixture.options).unwrap();
        let mut parts = Vec::new();
        for (role, fact) in manifest.runs.iter().flat_map(|run| &run.segments) {
            if *role != SegmentRole::IdIndex {
                let path = fixture.path.join(&fact.name);
                let view = inspect::open(&path, &fixture.options).unwrap().pop().unwrap();
                let records = view.records().unwrap().map(Result::unwrap).collect();
                parts.push(Part { path, removals: *role == SegmentRole::Tombstones, records });
            }
        }
        let mut frames = Vec::new();
        for path in inspect::logs(&fixture.path, &fixture.options).unwrap() {
            let mut log = LogView::open(&path, &fixture.options).unwrap();
            while let Some(frame) = log.next_frame().unwrap() {
                if frame.sequence > manifest.flushed {
                    let (offset, sequence, operations) = (frame.offset, frame.sequence, frame.operations);
                    let end = offset + frame.bytes;
                    frames.push(Frame { path: path.clone(), offset, end, sequence, operations });
                }
            }
        }
        Self { parts, frames }
    }

    /// The content as queries see it.
    pub(super) fn state(&self) -> State<F> {
        let said = self.parts.iter().flat_map(|part| part.records.iter().map(|record| (record, part.removals)));
        let written = self.frames.iter().flat_map(|frame| frame.operations.iter().map(|(record, out)| (record, *out)));
        let mut state = State::new();
        let mut counts: BTreeMap<F, i128> = BTreeMap::new();
        for (Record { fingerprint, id, .. }, removed) in said.chain(written) {
            match (id, removed) {
                (Id::Count(count), _) => {
                    let sign = if removed { -1 } else { 1 };
                    *counts.entry(*fingerprint).or_default() += sign * i128::from(*count);
                }
                (id, false) => _ = state.insert((*fingerprint, id.clone()), 1),
                (id, true) => _ = state.remove(&(*fingerprint, id.clone())),
            }
        }
        let left = counts.into_iter().filter(|&(_, count)| count > 0);
        state.extend(left.map(|(fingerprint, count)| ((fingerprint, Id::Count(0)), count as u64)));
        state
    }

    /// The content left after the losses of a report. For losses that the report leaves open, it uses the found
    /// records; it also checks the report's statements about single losses.
    pub(super) fn after(&self, report: &RepairReport, found: &State<F>, label: &str) -> Self {
        let mut left = self.clone();
        let mut open = vec![0; self.parts.len()];
        for loss in &report.losses {
            // Fingerprints may be lost whose records the loss of ids counts.
            let may_be_none = matches!(loss.what, Lost::Fingerprints { .. });
            assert!(may_be_none || loss.records != Some(0), "{label}: {loss:?}");
            match &loss.what {
                Lost::Batches { first, last } => {
                    left.frames
                        .retain(|frame| frame.sequence < *first || last.is_some_and(|last| frame.sequence > last));
                }
                _ => self.without(loss, &mut left, &mut open, found, label),
            }
        }
        for ((before, after), open) in self.parts.iter().zip(&left.parts).zip(open) {
            let losses = report.losses.iter().filter(|loss| loss.path == before.path);
            let lost: u64 = losses.map(|loss| loss.records.unwrap()).sum();
            let gone = count(&before.records) - count(&after.records);
            assert!(
                (gone.saturating_sub(open)..=gone + open).contains(&lost),
                "{label}: {gone} gone of {:?}",
                report.losses
            );
        }
        for torn in &report.torn {
            left.frames.retain(|frame| frame.path != torn.path || frame.offset < torn.offset);
        }
        left
    }

    /// Removes one segment's losses from `left`, and adds to the `open` of this segment how many records the report
    /// leaves open.
    fn without(&self, loss: &Loss, left: &mut Self, open: &mut [u64], found: &State<F>, label: &str) {
        let at = self.parts.iter().position(|part| part.path == loss.path);
        let at = at.unwrap_or_else(|| panic!("{label}: no segment of records: {loss:?}"));
        let part = &self.parts[at];
        assert_eq!(loss.role == Some(SegmentRole::Tombstones), part.removals, "{label}");
        let (all, rest) = (distinct(&part.records), &mut left.parts[at].records);
        match &loss.what {
            Lost::Segment { fingerprints } => {
                assert_eq!(*fingerprints, all.len() as u64, "{label}");
                rest.clear();
            }
            Lost::Ids { fingerprints } => {
                let listed: BTreeSet<&String> = fingerprints.iter().collect();
                let listed: Vec<bool> = all.iter().map(|fingerprint| listed.contains(&hex(*fingerprint))).collect();
                assert_eq!(listed.iter().filter(|listed| **listed).count(), fingerprints.len(), "{label}");
                let is_listed = |rank: usize| listed.get(rank).copied().unwrap_or(true);
                let rank = |record: &Record<F>| all.binary_search(&record.fingerprint).unwrap();
                // Records beside unlisted ones may have kept some ids, or all of them.
                let is_unsure = |rank: usize| !is_listed(rank.wrapping_sub(1)) || !is_listed(rank + 1);
                let is_lost = |record: &Record<F>| {
                    let key = (record.fingerprint, record.id.clone());
                    is_listed(rank(record)) && (!is_unsure(rank(record)) || found.contains_key(&key) == part.removals)
                };
                // A record of another segment is found in spite of this segment's loss.
                let others = || self.parts.iter().filter(|other| other.path != part.path);
                let is_elsewhere = |record: &Record<F>| others().any(|other| other.records.contains(record));
                // The first one of several lost nothing if its ids end before the damaged page.
                for number in (0..all.len()).filter(|&number| is_listed(number) && is_listed(number.wrapping_sub(1))) {
                    let mut own = rest.iter().filter(|record| record.fingerprint == all[number]);
                    let has_lost = own.any(|record| is_lost(record) || is_elsewhere(record));
                    assert!(has_lost, "{label}: {:?} has lost nothing", all[number]);
                }
                open[at] +=
                    rest.iter().filter(|record| is_listed(rank(record)) && is_unsure(rank(record))).count() as u64;
                rest.retain(|record| !is_lost(record));
            }
            Lost::Counts { fingerprints } => {
                for record in rest.iter_mut().filter(|record| fingerprints.contains(&hex(record.fingerprint))) {
                    record.id = Id::Count(1);
                }
            }
            Lost::Fingerprints { first, count, after, before, ids } => {
                let (first, end) = (*first as usize, (*first + *count) as usize);
                assert_eq!(*after, first.checked_sub(1).map(|rank| hex(all[rank])), "{label}");
                assert_eq!(*before, all.get(end).copied().map(hex), "{label}");
                let is_gone = |record: &Record<F>| all[first..end].contains(&record.fingerprint);
                let mut of = part.records.iter().filter(|record| is_gone(record)).map(|record| &record.id);
                assert!(ids.iter().all(|id| of.any(|own| own == id)), "{label}: {ids:?}");
                rest.retain(|record| !is_gone(record));
            }
            other => panic!("{label}: {other:?}"),
        }
    }
}

/// The distinct fingerprints of records in order.
fn distinct<F: Fingerprint>(records: &[Record<F>]) -> Vec<F> {
    let mut all: Vec<F> = records.iter().map(|record| record.fingerprint).collect();
    all.dedup();
    all
}

/// The number of these records.
fn count<F: Fingerprint>(records: &[Record<F>]) -> u64 {
    records.iter().map(|record| if let Id::Count(count) = record.id { count } else { 1 }).sum()
}

pub(super) fn hex<F: Fingerprint>(fingerprint: F) -> String {
    fpstore::AnyFingerprint::from(fingerprint).to_string()
}

/// The records of a store as a state.
pub(super) fn state_of<F: Fingerprint>(records: impl Iterator<Item = Record<F>>) -> State<F> {
    let entry = |Record { fingerprint, id, .. }: Record<F>| match id {
        Id::Count(count) => ((fingerprint, Id::Count(0)), count),
        id => ((fingerprint, id), 1),
    };
    records.map(entry).collect()
}
