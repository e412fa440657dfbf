//! The records of a run that have keys of a query.

use crate::error::Result;
use crate::segment::{IdScratch, Scratch, Segment};

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
    /// Replaces the records by those of a segment with any of the keys, which ascend.
    pub(super) fn find(
        &mut self,
        keys: &[u64],
        segment: &Segment,
        scratch: &mut Scratch,
        ids: &mut IdScratch,
    ) -> Result<&[(u64, u64)]> {
        self.numbers.clear();
        self.counted.clear();
        for &key in keys {
            let Some(rank) = segment.rank_of(key, scratch)? else { continue };
            segment.ids().ids_of(rank, ids, |id| self.numbers.extend(id.number()))?;
            if self.numbers.len() > AT_ONCE.max(self.counted.len()) {
                self.count();
            }
        }
        self.count();
        Ok(&self.counted)
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
