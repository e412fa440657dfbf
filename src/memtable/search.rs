//! Searches a memtable in stages, each with its memory accesses together.

use super::MemtableShape;
use crate::codec::prefetch;
use crate::fingerprint::Fingerprint;
use crate::memtable::table::Memtable;
use crate::plan::masks::{masks, number_of_masks};
use crate::query_stats::QueryStats;
use std::ops::ControlFlow;

/// Prefixes that are looked up together.
const TOGETHER: usize = 128;
/// Fingerprints that a scan compares in the time of one prefix look-up.
const COMPARED: usize = 8;
/// With more prefixes, a scan is always faster.
const MOST_MASKS: f64 = 100_000.0;

/// How memtables are searched at one distance.
#[derive(Clone, Debug)]
pub(crate) struct MemtablePlan {
    /// Tables, and the masks by which their prefixes may differ; `None` for a scan.
    probes: Option<Vec<(usize, Vec<u64>)>>,
    pub(super) masks: usize,
}

#[derive(Debug, Default)]
pub(crate) struct MemtableScratch {
    places: Vec<usize>,
    met: Vec<u32>,
}

impl MemtablePlan {
    pub(crate) fn scan() -> Self {
        Self { probes: None, masks: 0 }
    }

    pub(crate) fn new(shape: &MemtableShape, k: u32) -> Self {
        let radii = shape.radii.get(k as usize).cloned().unwrap_or_default();
        let wanted = || {
            let tables = shape.tables.iter().enumerate().zip(&radii);
            tables.filter_map(|((number, table), radius)| Some((number, table.prefix, (*radius)?)))
        };
        let count: f64 = wanted().map(|(_, prefix, radius)| number_of_masks(prefix, radius)).sum();
        if count > MOST_MASKS {
            return Self::scan();
        }
        let probes: Vec<_> = wanted().map(|(number, prefix, radius)| (number, masks(prefix, radius))).collect();
        Self { masks: probes.iter().map(|(_, masks)| masks.len()).sum(), probes: Some(probes) }
    }
}

impl Memtable {
    /// Calls `visit`, once or more, for each fingerprint within distance `k` with a record among the first `visible`
    /// ones, until `visit` breaks.
    pub(crate) fn search<F: Fingerprint, B>(
        &self,
        visible: u32,
        (query, k): (F, u32),
        plan: &MemtablePlan,
        scratch: &mut MemtableScratch,
        stats: &mut QueryStats,
        mut visit: impl FnMut(u32, F) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut compare = |entry: u32| {
            let fingerprint: F = self.fingerprint(entry);
            if fingerprint.distance(query) <= k && self.is_visible(entry, visible) {
                return visit(entry, fingerprint);
            }
            ControlFlow::Continue(())
        };
        let count = self.fingerprints();
        let probes = plan.probes.as_ref().filter(|_| count as usize > plan.masks * COMPARED);
        let Some(probes) = probes else {
            stats.candidates += u64::from(count);
            return (0..count).try_for_each(compare);
        };
        for (number, masks) in probes {
            let Some((buckets, table)) = self.tables.get(*number).zip(self.shape.tables.get(*number)) else { continue };
            let key = table.permutation.head(query);
            for masks in masks.chunks(TOGETHER) {
                stats.probes += masks.len() as u64;
                let MemtableScratch { places, met } = &mut *scratch;
                places.clear();
                places.extend(masks.iter().map(|mask| buckets.place(table.bucket_key(key ^ mask))));
                places.iter().for_each(|&place| buckets.prefetch_mark(place));
                places.retain(|&place| buckets.is_marked(place));
                places.iter().for_each(|&place| buckets.prefetch(place));
                met.clear();
                met.extend(places.iter().filter_map(|&place| buckets.newest(place)));
                // All chains advance together.
                while !met.is_empty() {
                    for &entry in &*met {
                        prefetch(self.words.as_slice(), entry as usize * self.shape.words);
                        buckets.prefetch_older(entry);
                    }
                    stats.candidates += met.len() as u64;
                    for &entry in &*met {
                        compare(entry)?;
                    }
                    met.iter_mut().for_each(|entry| *entry = buckets.older(*entry).unwrap_or(u32::MAX));
                    met.retain(|&entry| entry != u32::MAX);
                }
            }
        }
        ControlFlow::Continue(())
    }
}
