//! The nearest records, however far they are.

use super::{Asking, check_distance};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Match, distance};
use crate::memtable::MemtablePlan;
use crate::search::scan_segment;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

impl<F: Fingerprint> Asking<F> {
    pub(super) fn nearest_within(&mut self, fingerprint: F, count: usize, k: u32) -> Result<Vec<Match<F>>> {
        check_distance::<F>(k)?;
        // Within the distance that the tables are made for the index may have enough.
        let reach = self.common.parameters.max_distance();
        let mut near = self.query(fingerprint, reach.min(k))?;
        if near.len() < count && reach < k {
            return self.scan_nearest(fingerprint, count, k);
        }
        near.truncate(count);
        Ok(near)
    }

    pub(super) fn scan_nearest(&mut self, fingerprint: F, count: usize, k: u32) -> Result<Vec<Match<F>>> {
        let mut wanted = count;
        loop {
            // Each fingerprint has at least one record, so the records wanted are among those of so many fingerprints; unless
            // some were removed, which is found out then.
            let nearest = self.nearest_fingerprints(fingerprint, wanted, k)?;
            let all = nearest.len() < wanted;
            let mut near = Vec::new();
            for (_, found) in nearest {
                near.append(&mut self.records_of(fingerprint, found)?);
                if near.len() >= count {
                    break;
                }
            }
            if all || near.len() >= count {
                near.truncate(count);
                return Ok(near);
            }
            wanted = wanted.saturating_mul(2);
        }
    }

    /// The `count` nearest fingerprints within distance `k` that are in any table, and their distances.
    fn nearest_fingerprints(&mut self, query: F, count: usize, k: u32) -> Result<BTreeSet<(u32, F)>> {
        let mut nearest = BTreeSet::new();
        if count == 0 {
            return Ok(nearest);
        }
        let limit = Cell::new(k);
        let mut take = |fingerprint: F| {
            let away = distance(fingerprint, query);
            if away <= limit.get() && nearest.insert((away, fingerprint)) && nearest.len() >= count {
                if nearest.len() > count {
                    nearest.pop_last();
                }
                nearest.last().into_iter().for_each(|&(farthest, _)| limit.set(farthest));
            }
            ControlFlow::<()>::Continue(())
        };
        let scan = MemtablePlan::scan();
        for (memtable, visible) in self.state.memtables() {
            let (scratch, work) = (&mut self.memtable, &mut self.work);
            let all = memtable.search(visible, (query, k), &scan, scratch, work, |_, found| take(found));
            debug_assert!(all.is_continue());
        }
        for segment in &Arc::clone(&self.state.view).segments {
            let (scratch, work) = (&mut self.prober.scratch, &mut self.work);
            let all = scan_segment(segment, query, &limit, scratch, work, |one| take(one.fingerprint));
            let _ = all?;
        }
        Ok(nearest)
    }
}
