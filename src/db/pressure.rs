//! Back-pressure: writers are slowed down, then stopped, when flushing and merging cannot keep up.
//!
//! A flush that would make more runs than there may be ([`compaction::most`]) waits until they are merged. Meanwhile full
//! memtables wait for it: with the first of them each write takes a millisecond longer, and when there is room for no other,
//! the write that needs one waits. So neither runs nor memory grow without limit, however fast records are written. Only one merge
//! runs at a time: where one takes long, a compaction of everything above all, writers may have to wait for its end. While
//! merging fails (`health`) flushes do not wait for it. Neither do calls of `flush`, loads and tombstones in bulk, each of which
//! makes a run. While the run of a load or removal is entered each write takes a millisecond longer too: what comes is flushed
//! while writers wait, and so it is little.

use crate::db::compaction::picker as compaction;
use crate::db::compaction::sizes::sizes;
use crate::db::pressure_state::{Pressure, WritePressure};
use crate::db::store_inner::StoreInner;
use crate::db::version_set::VersionSet;
use crate::options::Maintenance;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How much longer a write takes while writers are slowed down.
const DELAY: Duration = Duration::from_millis(1);

impl StoreInner {
    /// Whether a flush has to wait for runs to be merged.
    pub(crate) fn must_merge_first(&self, versions: &VersionSet) -> bool {
        let background = self.context.options.maintenance == Maintenance::Background;
        background && versions.merging.is_none() && versions.runs.len() > compaction::most(&sizes(&versions.runs))
    }

    /// Decides anew whether writers are slowed down.
    pub(crate) fn set_pressure(&self, versions: &VersionSet) {
        let is_behind = self.must_merge_first(versions);
        self.limiter.unthrottle(is_behind);
        self.pressure.is_slow.store(is_behind && !versions.sealed.is_empty(), Ordering::Relaxed);
    }

    /// Has a write take longer while merging is behind. To be called without any lock.
    pub(crate) fn slow_down(&self) {
        let Pressure { is_slow, entering, .. } = &self.pressure;
        if is_slow.load(Ordering::Relaxed) || entering.load(Ordering::Relaxed) > 0 {
            self.pressure.slowed.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(DELAY);
        }
    }

    /// How far writers were held back, and how far merging is behind.
    pub(crate) fn pressure(&self) -> WritePressure {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let runs = self.versions().runs.clone();
        let sizes = sizes(&runs);
        let due = compaction::due(&sizes).and_then(|due| sizes.get(due)).unwrap_or_default();
        WritePressure {
            slowed: load(&self.pressure.slowed),
            stopped: load(&self.pressure.stopped),
            stopped_time: Duration::from_micros(load(&self.pressure.stopped_time)),
            runs_behind: sizes.len().saturating_sub(compaction::most(&sizes)) as u64,
            bytes_behind: due.iter().map(|run| run.bytes).fold(0, u64::saturating_add),
        }
    }
}
