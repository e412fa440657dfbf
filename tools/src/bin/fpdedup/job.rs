//! The common part of all subcommands: opens the store, divides the memory, shows progress, and handles Ctrl-C.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use fpstore::clusters::{Clusters, Linkage};
use fpstore::{Filters, Fingerprint, Store};
use fpstore_tools::common::Common;
use fpstore_tools::interrupt::{self, Stop};
use fpstore_tools::memory;
use fpstore_tools::notice;
use fpstore_tools::number::{bytes, count, count_of};
use fpstore_tools::output::{Output, Rows, UsedRows};
use fpstore_tools::progress::Progress;
use fpstore_tools::ranks::Space;
use fpstore_tools::size;
use fpstore_tools::width;

use crate::args::Options;

/// Memory for output that waits to be written.
pub(crate) const WAITING: u64 = 8 << 20;

/// Returns the width of a store's fingerprints.
pub(crate) fn width(store: &Path) -> anyhow::Result<u32> {
    Ok(fpstore::parameters_of(store, &fpstore_tools::threads::options())?.width())
}

/// Opens a store for reading.
pub(crate) fn open<F: Fingerprint>(store: &Path) -> anyhow::Result<Store<F>> {
    Ok(Store::open_read_only(store, &fpstore_tools::threads::options().with_filters(Filters::Off))?)
}

/// A join that is shown, and that a signal stops.
pub(crate) struct Watched {
    shown: Progress,
    _stop: Stop,
}

impl Watched {
    /// Hides the progress: only the output remains to be written.
    pub(crate) fn finish(self) {
        self.shown.finish();
    }
}

/// Shows the progress of a join and lets Ctrl-C stop it, until the result is dropped.
pub(crate) fn watch(common: Common, message: &'static str, progress: fpstore::Progress) -> anyhow::Result<Watched> {
    let watched = progress.clone();
    let shown =
        if common.shows_progress() { Progress::share(message, move || watched.share()) } else { Progress::hidden() };
    Ok(Watched { shown, _stop: interrupt::on_interrupt(move || progress.stop())? })
}

/// The memory of clusters, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// What they may take.
    pub(crate) has: u64,
    /// What they take at least.
    least: u64,
}

/// What clusters are needed for beyond labels.
#[derive(Clone, Copy)]
pub(crate) struct Needs {
    /// A report on them.
    pub(crate) report: bool,
    /// Going on from the evidence of an earlier run.
    pub(crate) evidence: bool,
}

/// The work of a subcommand.
pub(crate) struct Job<'a> {
    common: Common,
    pub(crate) options: &'a Options,
    started: Instant,
}

impl<'a> Job<'a> {
    pub(crate) fn new(common: Common, options: &'a Options) -> anyhow::Result<Self> {
        if let Some(directory) = &options.tmp_dir {
            std::fs::read_dir(directory).with_context(|| format!("--tmp-dir {}", directory.display()))?;
        }
        Ok(Self { common, options, started: Instant::now() })
    }

    pub(crate) fn json(&self) -> bool {
        self.common.json
    }

    /// Returns the requested distance, or the store's own.
    pub(crate) fn distance<F: Fingerprint>(&self, store: &Store<F>) -> anyhow::Result<u32> {
        let distance = self.options.distance.unwrap_or_else(|| store.parameters().max_distance());
        width::check_distance("--distance", distance, F::WIDTH)?;
        Ok(distance)
    }

    /// Returns the directory for temporary files.
    pub(crate) fn temp_dir(&self) -> PathBuf {
        self.options.tmp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Returns the memory that remains beside the indexes of the stores, but at least a quarter: with a little, each
    /// pass over a large store would find space for few of its fingerprints.
    pub(crate) fn memory<F: Fingerprint>(&self, stores: &[&Store<F>]) -> u64 {
        let mut indexes = WAITING;
        for store in stores {
            indexes += store.statistics().resident_bytes;
        }
        let all = memory::of_load(Some(self.options.memory));
        all.saturating_sub(indexes).max(all / 4)
    }

    /// Returns the clusters of a store and of new records, to be computed within the memory.
    pub(crate) fn clusters<F: Fingerprint>(
        &self,
        store: &Store<F>,
        new: Option<&Store<F>>,
        linkage: Linkage,
        needs: Needs,
    ) -> anyhow::Result<(Clusters<F>, Budget)> {
        let stores: Vec<&Store<F>> = std::iter::once(store).chain(new).collect();
        let has = self.memory(&stores);
        let mut clusters = store
            .clusters(self.distance(store)?)?
            .with_linkage(linkage)
            .with_memory(has)
            .with_temp_dir(&self.temp_dir());
        if let Some(new) = new {
            clusters = clusters.with_new(&new.snapshot())?;
        }
        if needs.report {
            clusters = clusters.with_sizes().with_keepers();
        }
        // Earlier evidence does not tell the pairs of old records, which make chains.
        if needs.evidence {
            clusters = clusters.with_removals();
        } else if needs.report {
            clusters = clusters.with_chains();
        }
        let least = clusters.least_memory()?;
        Ok((clusters, self.budget(has, least, store.path())?))
    }

    /// Returns the memory of clusters of a store, which have so much and take that at least.
    pub(crate) fn budget(&self, has: u64, least: u64, store: &Path) -> anyhow::Result<Budget> {
        if has < least {
            let needed = bytes((self.options.memory + least - has).next_multiple_of(1 << 20));
            bail!("--memory {}: clusters of {} take {needed} at least", bytes(self.options.memory), store.display());
        }
        Ok(Budget { has, least })
    }

    /// Returns the memory for priorities, which are read before clusters are made.
    pub(crate) fn space(&self, Budget { has, least }: Budget) -> Space {
        Space { memory: has - least, sorting: least, temp_dir: self.temp_dir() }
    }

    /// Returns an error if priorities take more than their memory.
    pub(crate) fn check_space(&self, name: &str, needed: Option<u64>, space: &Space) -> anyhow::Result<()> {
        let Some(needed) = needed else { return Ok(()) };
        bail!(
            "--memory {}: the priorities in {name} take {} beside the clusters; say --memory {}",
            bytes(self.options.memory),
            bytes(needed),
            size::at_least(self.options.memory + needed - space.memory)
        );
    }

    /// Shows the progress of a join and lets Ctrl-C stop it, until the result is dropped.
    pub(crate) fn watch(&self, message: &'static str, progress: fpstore::Progress) -> anyhow::Result<Watched> {
        watch(self.common, message, progress)
    }

    /// Warns of records that are left out although they are far from the record of their cluster that is kept.
    pub(crate) fn warn_of_chains(&self, far: u64, left_out: u64, distance: u32) {
        if far > 0 {
            notice::warn(format_args!(
                "{} of {} that are left out differ in more than {} from the one that is kept (chains): they may not be \
                 duplicates of \
                 it; a smaller --distance leaves out fewer",
                count(far),
                count_of(left_out, "record"),
                count_of(distance.into(), "bit"),
            ));
        }
    }

    /// Writes the closing line to standard error.
    pub(crate) fn done(&self, count: u64, thing: &str) {
        self.done_with(count, thing, None);
    }

    /// Writes the closing line, with a remark.
    pub(crate) fn done_with(&self, count: u64, thing: &str, remark: Option<String>) {
        if !self.common.json {
            let remark = remark.map(|remark| format!("; {remark}")).unwrap_or_default();
            let seconds = self.started.elapsed().as_secs_f64();
            notice::say(format_args!("{} in {seconds:.2} s{remark}", count_of(count, thing)));
        }
    }
}

/// Writes rows as they are found. It keeps an error, because the library accepts only errors of its own.
pub(crate) struct Writing {
    output: Output,
    empty: Arc<UsedRows>,
    rows: u64,
    failed: Option<anyhow::Error>,
}

impl Writing {
    pub(crate) fn new(output: Output) -> Self {
        let empty = Arc::new(UsedRows::new(output.style()));
        Self { output, empty, rows: 0, failed: None }
    }

    /// Where threads take empty rows.
    pub(crate) fn empty(&self) -> Arc<UsedRows> {
        Arc::clone(&self.empty)
    }

    pub(crate) fn write(&mut self, rows: &Rows) -> ControlFlow<()> {
        if self.failed.is_some() {
            return ControlFlow::Break(());
        }
        self.rows += rows.count();
        match self.output.write(rows) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Writes the rows that the library found, if any.
    pub(crate) fn write_found(&mut self, rows: Option<Rows>) -> fpstore::Result<ControlFlow<()>> {
        let Some(rows) = rows else { return Ok(ControlFlow::Continue(())) };
        let step = self.write(&rows);
        self.empty.give_back(rows);
        Ok(step)
    }

    /// Returns the error that stopped the writing, if any.
    pub(crate) fn check(&mut self) -> anyhow::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Completes the output and returns the number of rows.
    pub(crate) fn finish(mut self) -> anyhow::Result<u64> {
        self.check()?;
        self.output.finish()?;
        Ok(self.rows)
    }
}
