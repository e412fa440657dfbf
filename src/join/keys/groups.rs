//! The records of each key.

use super::seeking::KeySeeker;
use crate::bitset::NumberSet;
use crate::error::Result;
use crate::join::job::Progress;
use crate::version::{ReadView, Run, keys_of, number_bounds, removed_numbers};
use std::sync::Arc;

/// Records of a key that are passed on together.
const PIECE: usize = 1 << 16;
/// Keys between two looks at the progress.
const STEP: u64 = 1 << 16;

/// Reads the keys of all runs in order.
pub(crate) struct KeyGroups {
    runs: Vec<Arc<Run>>,
    /// Runs of which only the keys count that one of the others has.
    others: Vec<Arc<Run>>,
    removed: NumberSet,
    /// Keys of more records do not count.
    most: Option<u64>,
}

impl KeyGroups {
    pub(crate) fn new(view: &ReadView, most: Option<u64>) -> Result<Self> {
        let runs = view.version.runs.clone();
        let removed = removed_numbers(&runs)?;
        Ok(Self { runs, others: Vec::new(), removed, most })
    }

    /// Leaves out keys that none of these records has, at least those that only runs without any of these have.
    pub(crate) fn of(mut self, fresh: Option<&NumberSet>) -> Result<Self> {
        let Some(fresh) = fresh else { return Ok(self) };
        for run in std::mem::take(&mut self.runs) {
            let bounds = run.records.as_ref().map(|records| number_bounds(records)).transpose()?;
            let has_fresh = bounds.is_some_and(|(least, most)| fresh.has_any(least, most));
            if has_fresh { self.runs.push(run) } else { self.others.push(run) }
        }
        Ok(self)
    }

    /// Calls `visit` with the numbers of the records of each key that two or more have, ascending unless some records
    /// are left out, in pieces of the first key, then of the next; and whether the piece continues the key of the one
    /// before. Returns the number of keys that do not count because too many records have them.
    pub(crate) fn visit(&self, progress: &Progress, visit: &mut dyn FnMut(&[u64], bool) -> Result<()>) -> Result<u64> {
        let mut group = Group { most: self.most, key: None, numbers: Vec::new(), passed: false, count: 0, skipped: 0 };
        let mut others: Vec<KeySeeker> =
            self.others.iter().filter_map(|run| run.keys.as_ref()).map(KeySeeker::new).collect();
        for (entry, step) in keys_of(self.runs.iter()).zip(1u64..) {
            let record = entry?.entry.record;
            if group.key != Some(record.fingerprint) {
                group.end(visit)?;
                group.key = Some(record.fingerprint);
                let mut add = |number| if self.removed.has(number) { Ok(()) } else { group.add(number, visit) };
                others.iter_mut().try_for_each(|keys| keys.visit(record.fingerprint, &mut add))?;
            }
            if let Some(number) = record.id.number().filter(|&number| !self.removed.has(number)) {
                group.add(number, visit)?;
            }
            if step.is_multiple_of(STEP) {
                progress.check()?;
                progress.advance(STEP);
            }
        }
        group.end(visit)?;
        Ok(group.skipped)
    }

    /// Keys of all runs, without those that are only looked up.
    pub(crate) fn keys(&self) -> u64 {
        let keys = self.runs.iter().filter_map(|run| run.keys.as_ref());
        keys.map(|keys| keys.footer().records).fold(0, u64::saturating_add)
    }
}

/// The records of the current key that were not passed on yet.
struct Group {
    most: Option<u64>,
    key: Option<u64>,
    numbers: Vec<u64>,
    /// Whether a piece of the key was passed on.
    passed: bool,
    count: u64,
    skipped: u64,
}

impl Group {
    fn add(&mut self, number: u64, visit: &mut dyn FnMut(&[u64], bool) -> Result<()>) -> Result<()> {
        self.count += 1;
        if self.most.is_some_and(|most| self.count > most) {
            return Ok(());
        }
        self.numbers.push(number);
        // With a limit, the key may turn out not to count.
        if self.most.is_none() && self.numbers.len() >= PIECE {
            visit(&self.numbers, std::mem::replace(&mut self.passed, true))?;
            self.numbers.clear();
        }
        Ok(())
    }

    fn end(&mut self, visit: &mut dyn FnMut(&[u64], bool) -> Result<()>) -> Result<()> {
        if self.most.is_some_and(|most| self.count > most) {
            self.skipped += 1;
        } else if self.count > 1 && !self.numbers.is_empty() {
            visit(&self.numbers, self.passed)?;
        }
        self.numbers.clear();
        (self.passed, self.count) = (false, 0);
        Ok(())
    }
}
