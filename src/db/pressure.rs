//! Back-pressure: writers are slowed down, then stopped, when flushing and compaction fall behind.
//!
//! A flush that would make more runs than [`picker::most`] waits for compaction. Meanwhile sealed memtables wait for
//! the flush: from the first on, each write takes a millisecond longer, and a write that needs a memtable when
//! [`MOST_SEALED`] are sealed waits. So neither runs nor memory grow without limit. Only one compaction runs at a time,
//! so writers may have to wait for the end of a long one. Flushes do not wait while compaction fails (`health`), nor do
//! calls of `flush`, loads and removals in bulk. Writes also take a millisecond longer while a load installs its run:
//! the load then flushes, while writers wait, all that they write.
//!
//! [`MOST_SEALED`]: crate::db::writer::MOST_SEALED

use crate::db::compaction::picker::{self, sizes};
use crate::db::store_inner::StoreInner;
use crate::db::version_set::VersionSet;
use crate::db::write_pressure::{Pressure, WritePressure};
use crate::options::Maintenance;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const DELAY: Duration = Duration::from_millis(1);

impl StoreInner {
    pub(crate) fn must_compact_first(&self, versions: &VersionSet) -> bool {
        let background = self.context.options.maintenance == Maintenance::Background;
        background && versions.compacting.is_none() && versions.runs.len() > picker::most(&sizes(&versions.runs))
    }

    pub(crate) fn set_pressure(&self, versions: &VersionSet) {
        let is_behind = self.must_compact_first(versions);
        self.limiter.unthrottle(is_behind);
        self.pressure.is_slow.store(is_behind && !versions.sealed.is_empty(), Ordering::Relaxed);
    }

    /// Delays a write while compaction is behind. The caller holds no lock.
    pub(crate) fn slow_down(&self) {
        let Pressure { is_slow, entering, .. } = &self.pressure;
        if is_slow.load(Ordering::Relaxed) || entering.load(Ordering::Relaxed) > 0 {
            self.pressure.slowed.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(DELAY);
        }
    }

    pub(crate) fn pressure(&self) -> WritePressure {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let sizes = sizes(&self.super_version().runs);
        let due = picker::due(&sizes).and_then(|due| sizes.get(due)).unwrap_or_default();
        WritePressure {
            slowed: load(&self.pressure.slowed),
            stopped: load(&self.pressure.stopped),
            stopped_time: Duration::from_micros(load(&self.pressure.stopped_time)),
            runs_behind: sizes.len().saturating_sub(picker::most(&sizes)) as u64,
            bytes_behind: due.iter().map(|run| run.bytes).fold(0, u64::saturating_add),
        }
    }
}
