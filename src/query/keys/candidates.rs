//! The records of a run that have keys of a query.

use crate::error::Result;
use crate::fingerprint::IdRef;
use crate::segment::{IdPlace, IdScratch, Segment};
use std::ops::ControlFlow;

/// Numbers that are counted together: more are counted in parts, so that memory is in proportion to the records found
/// and not to all occurrences of keys.
const AT_ONCE: usize = 1 << 20;

/// Counts for each record how many of some keys it has.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// A number for each occurrence of a key, not counted yet.
    numbers: Vec<u64>,
    /// Records with their counts, by number.
    counted: Vec<(u64, u64)>,
}

impl Candidates {
    /// Forgets all records.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.counted.clear();
    }

    /// Adds the only record of a key.
    pub(super) fn add(&mut self, number: u64) {
        self.numbers.push(number);
        self.count_many();
    }

    /// Adds the records of a key, whose numbers begin at this place in a segment of keys.
    pub(super) fn add_all(&mut self, segment: &Segment, records: IdPlace, ids: &mut IdScratch) -> Result<()> {
        segment.ids().visit_at(records, ids, |id| {
            if let IdRef::Number(number) = id {
                self.numbers.push(number);
            }
            ControlFlow::Continue(())
        })?;
        self.count_many();
        Ok(())
    }

    /// The records with their counts, by number.
    pub(super) fn counted(&mut self) -> &[(u64, u64)] {
        self.count();
        &self.counted
    }

    fn count_many(&mut self) {
        if self.numbers.len() > AT_ONCE.max(self.counted.len()) {
            self.count();
        }
    }

    fn count(&mut self) {
        self.numbers.sort_unstable();
        let runs = self.numbers.chunk_by(|a, b| a == b);
        let new = runs.filter_map(|run| run.first().map(|&number| (number, run.len() as u64)));
        if self.counted.is_empty() {
            self.counted.extend(new);
        } else {
            self.counted.extend(new);
            self.counted.sort_unstable();
            self.counted.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
        self.numbers.clear();
    }
}
