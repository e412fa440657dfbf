//! Opening a store for a change, and messages on the way.

use std::sync::Arc;

use anyhow::Context;
use fpstore::admin::FilterStatistics;
use fpstore::{Filters, Fingerprint, Maintenance, Options, Store};
use fpstore_tools::progress::Progress;
use fpstore_tools::{interrupt, memory, notice};

use crate::args::Args;

/// State after a signal that arrives while the report is written.
pub(crate) const DONE: &str = "all was done already";

/// Compacts a store from which records were removed, if that was requested.
pub(crate) fn compact_after_removal<F: Fingerprint>(args: &Args, store: &Store<F>) -> anyhow::Result<Option<bool>> {
    const REMOVED: &str = "the records are removed, and the store is not compacted; `fpload --compact` does that";
    if !args.compact {
        return Ok(None);
    }
    interrupt::leaves(REMOVED);
    Ok(Some(store.compact().context(REMOVED)?))
}

/// The prefix filters that were saved.
#[derive(Clone, Copy)]
pub(crate) struct SavedFilters {
    /// Bytes that were written now.
    pub(crate) written: u64,
    /// The filters that the store should have, those that are saved, and those for which there was no memory.
    pub(crate) filters: FilterStatistics,
}

/// Saves the prefix filters of a store, if that was requested.
pub(crate) fn save_filters<F: Fingerprint>(args: &Args, store: &Store<F>) -> anyhow::Result<Option<SavedFilters>> {
    const WRITTEN: &str =
        "all else is done, and the prefix filters are not saved; `fpload --save-filters STORE` does that";
    if !args.save_filters {
        return Ok(None);
    }
    interrupt::leaves(WRITTEN);
    let written = store.save_filters().context(WRITTEN)?;
    Ok(Some(SavedFilters { written, filters: store.filter_statistics() }))
}

/// Reports torn tails of logs. Their writes were never acknowledged, but the user should know.
pub(crate) fn warn_of_torn_logs<F: Fingerprint>(store: &Store<F>) {
    for log in &store.recovery().torn {
        notice::say(format_args!(
            "{}: {} bytes after byte {} were cut short by a crash and are left out; no acknowledged write was \
             among them",
            log.path.display(),
            log.bytes,
            log.offset
        ));
    }
}

pub(crate) fn progress(args: &Args) -> Progress {
    if args.common.shows_progress() { Progress::spinner("writing") } else { Progress::hidden() }
}

/// Options of a store that is only written: no filters for queries, and no maintenance in the background.
pub(crate) fn options(args: &Args) -> Options {
    let documents = if args.text { args.document_memory() } else { 0 };
    fpstore_tools::threads::options()
        .with_env(Arc::new(interrupt::stoppable()))
        .with_filters(Filters::Off)
        .with_maintenance(Maintenance::Foreground)
        .with_load_memory(memory::of_load(args.memory) - documents)
        .with_filter_memory(memory::of_load(args.memory))
        .with_temp_dir(args.tmp_dir.as_deref())
}
