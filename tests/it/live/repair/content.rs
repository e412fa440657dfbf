//! What the files of a sound store hold, and what of it is left after a loss that a report tells of.

use crate::support::*;
use fpstore::inspect::{self, LogView, SegmentRole};
use fpstore::{Fingerprint, Id, IdKind, Loss, Lost, LostFingerprints, Record, RepairReport};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Records, or counts of fingerprints under `Id::Count(0)`.
pub(super) type State<F> = BTreeMap<(F, Id), u64>;

/// A segment of records or removals.
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

/// All that a store says of records, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Content<F: Fingerprint> {
    ids: IdKind,
    pub(super) parts: Vec<Part<F>>,
    pub(super) frames: Vec<Frame<F>>,
}

impl<F: Fingerprint> Content<F> {
    /// Reads it from a sound store.
    pub(super) fn of(fixture: &Fixture, ids: IdKind) -> Self {
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
        Self { ids, parts, frames }
    }

    /// What queries see of it.
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

    /// What is left after the losses of a report. What it leaves open is taken from what is there; and what it says of single
    /// losses has to be true.
    pub(super) fn after(&self, report: &RepairReport, found: &State<F>, label: &str) -> Self {
        let mut left = self.clone();
        for loss in &report.losses {
            assert!(loss.records != Some(0), "{label}: {loss:?}");
            match &loss.what {
                Lost::Batches { first, last } => {
                    left.frames
                        .retain(|frame| frame.sequence < *first || last.is_some_and(|last| frame.sequence > last));
                }
                _ => self.without(loss, &mut left, found, label),
            }
        }
        for torn in &report.torn {
            left.frames.retain(|frame| frame.path != torn.path || frame.offset < torn.offset);
        }
        left
    }

    /// Takes what one segment has lost out of what is left.
    fn without(&self, loss: &Loss, left: &mut Self, found: &State<F>, label: &str) {
        let at = self.parts.iter().position(|part| part.path == loss.path);
        let at = at.unwrap_or_else(|| panic!("{label}: no segment of records: {loss:?}"));
        let part = &self.parts[at];
        assert_eq!(loss.tombstones, part.removals, "{label}");
        let before = count(&left.parts[at].records);
        let rest = &mut left.parts[at].records;
        let mut open = 0;
        match &loss.what {
            Lost::Segment { fingerprints } => {
                assert_eq!(*fingerprints, distinct(&part.records).len() as u64, "{label}");
                rest.clear();
            }
            Lost::Ids { fingerprints, perhaps, .. } => {
                let listed: BTreeSet<&String> = fingerprints.iter().chain(perhaps).collect();
                let unsure: BTreeSet<&String> = fingerprints.last().into_iter().chain(perhaps).collect();
                let is_lost = |record: &Record<F>| {
                    let (text, key) = (hex(record.fingerprint), (record.fingerprint, record.id.clone()));
                    listed.contains(&text) && (!unsure.contains(&text) || found.contains_key(&key) == part.removals)
                };
                open = rest.iter().filter(|record| unsure.contains(&hex(record.fingerprint))).count();
                // What another segment has, too, is found whatever this one has lost.
                let others = || self.parts.iter().filter(|other| other.path != part.path);
                let is_elsewhere = |record: &Record<F>| others().any(|other| other.records.contains(record));
                for fingerprint in fingerprints {
                    let mut own = rest.iter().filter(|record| hex(record.fingerprint) == *fingerprint);
                    let has_lost = own.any(|record| is_lost(record) || is_elsewhere(record));
                    assert!(has_lost, "{label}: {fingerprint} has lost nothing");
                }
                rest.retain(|record| !is_lost(record));
            }
            Lost::Counts { fingerprints } => {
                for record in rest.iter_mut().filter(|record| fingerprints.contains(&hex(record.fingerprint))) {
                    record.id = Id::Count(1);
                }
            }
            Lost::Fingerprints(lost) => {
                self.check_fingerprints(part, lost, label);
                let all = distinct(&part.records);
                let gone = &all[lost.first as usize..(lost.first + lost.count) as usize];
                let stays = |fingerprint| self.ids == IdKind::None && lost.known.contains(&hex(fingerprint));
                rest.retain(|record| !gone.contains(&record.fingerprint) || stays(record.fingerprint));
                for record in rest.iter_mut().filter(|record| gone.contains(&record.fingerprint)) {
                    record.id = Id::Count(lost.kept);
                }
            }
            other => panic!("{label}: {other:?}"),
        }
        let gone = before - count(rest);
        if let Some(records) = loss.records {
            let most = if open > 0 { gone + open as u64 } else { gone };
            assert!((gone.saturating_sub(open as u64)..=most).contains(&records), "{label}: {gone} gone of {loss:?}");
        }
    }

    /// Compares all that is said of lost fingerprints with what they were.
    fn check_fingerprints(&self, part: &Part<F>, lost: &LostFingerprints, label: &str) {
        let all = distinct(&part.records);
        let (first, end) = (lost.first as usize, (lost.first + lost.count) as usize);
        let texts: Vec<String> = all.iter().copied().map(hex).collect();
        let gone = &texts[first..end];
        assert!(lost.known.iter().all(|known| gone.contains(known)), "{label}");
        assert!(lost.known.len() < gone.len(), "{label}: nothing is missing");
        assert!(lost.after.as_ref().is_none_or(|after| texts[..first].contains(after)), "{label}");
        assert!(lost.before.as_ref().is_none_or(|before| texts[end..].contains(before)), "{label}");
        for (rank, ids) in &lost.ids {
            let of = part.records.iter().filter(|record| record.fingerprint == all[*rank as usize]);
            let of: Vec<Id> = of.map(|record| record.id.clone()).collect();
            // The first of them may have been lost too.
            assert!(of.ends_with(ids) || of.starts_with(ids), "{label}: {rank}: {ids:?} of {of:?}");
        }
        for part in &lost.parts {
            let of = all[part.rank as usize];
            let word =
                |text: &str, number: usize| u64::from_str_radix(&text[16 * number..16 * number + 16], 16).unwrap();
            for number in 0..F::WORDS {
                let (bits, mask) = (word(&part.bits, number), word(&part.mask, number));
                assert_eq!(of.word(number) & mask, bits, "{label}: rank {}", part.rank);
            }
        }
    }
}

/// The distinct fingerprints of records in order.
fn distinct<F: Fingerprint>(records: &[Record<F>]) -> Vec<F> {
    let mut all: Vec<F> = records.iter().map(|record| record.fingerprint).collect();
    all.dedup();
    all
}

/// How many records these are.
fn count<F: Fingerprint>(records: &[Record<F>]) -> u64 {
    records.iter().map(|record| if let Id::Count(count) = record.id { count } else { 1 }).sum()
}

pub(super) fn hex<F: Fingerprint>(fingerprint: F) -> String {
    (0..F::WORDS).map(|number| format!("{:016x}", fingerprint.word(number))).collect()
}

/// The records that a store returns as a state.
pub(super) fn state_of<F: Fingerprint>(records: impl Iterator<Item = Record<F>>) -> State<F> {
    let entry = |Record { fingerprint, id, .. }: Record<F>| match id {
        Id::Count(count) => ((fingerprint, Id::Count(0)), count),
        id => ((fingerprint, id), 1),
    };
    records.map(entry).collect()
}
