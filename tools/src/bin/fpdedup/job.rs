//! What all subcommands do: open the store, share out the memory, show how far the work is, and listen to Ctrl-C.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use fpstore::{Filters, Fingerprint, Store};
use fpstore_tools::common::Common;
use fpstore_tools::number::count_of;
use fpstore_tools::output::{Output, Rows};
use fpstore_tools::progress::Progress;
use fpstore_tools::{interrupt, memory};

use crate::PROGRAM;
use crate::args::Options;

/// Output that waits to be written.
const WAITING: u64 = 8 << 20;

/// The width of a store's fingerprints.
pub(crate) fn width(store: &Path) -> anyhow::Result<u32> {
    Ok(fpstore::parameters_of(store, &fpstore::Options::new())?.width())
}

/// Opens a store for reading.
pub(crate) fn open<F: Fingerprint>(store: &Path) -> anyhow::Result<Store<F>> {
    Ok(Store::open_read_only(store, &fpstore::Options::new().with_filters(Filters::Off))?)
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

    /// The distance that was asked for, or the store's own.
    pub(crate) fn distance<F: Fingerprint>(&self, store: &Store<F>) -> anyhow::Result<u32> {
        let distance = self.options.distance.unwrap_or_else(|| store.parameters().max_distance());
        if distance > F::WIDTH {
            bail!("--distance {distance}: fingerprints of {} bits differ in no more", F::WIDTH);
        }
        Ok(distance)
    }

    /// The place for temporary files.
    pub(crate) fn temp_dir(&self) -> std::path::PathBuf {
        self.options.tmp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// The memory that is left for the work beside the indexes of the stores.
    pub(crate) fn memory<F: Fingerprint>(&self, stores: &[&Store<F>]) -> u64 {
        let indexes: u64 = stores.iter().map(|store| store.statistics().resident_bytes).sum();
        memory::of_load(Some(self.options.memory)).saturating_sub(indexes + WAITING)
    }

    /// Shows how far a join is and has Ctrl-C stop it, until the result is dropped.
    pub(crate) fn watch(&self, message: &'static str, progress: fpstore::Progress) -> anyhow::Result<Progress> {
        let watched = progress.clone();
        let shown = if self.common.shows_progress() {
            Progress::share(message, move || watched.share())
        } else {
            Progress::hidden()
        };
        interrupt::on_interrupt(move || progress.stop())?;
        Ok(shown)
    }

    /// A closing line on standard error.
    pub(crate) fn done(&self, count: u64, thing: &str) {
        if !self.common.quiet && !self.common.json {
            let text = format!("{} in {:.2} s", count_of(count, thing), self.started.elapsed().as_secs_f64());
            eprint_line(&text);
        }
    }
}

#[expect(clippy::print_stderr, reason = "the closing line")]
fn eprint_line(text: &str) {
    eprintln!("{PROGRAM}: {text}");
}

/// Writes rows as they come. What goes wrong is kept, as the library knows errors of its own only.
pub(crate) struct Writing {
    output: Output,
    pub(crate) rows: u64,
    failed: Option<anyhow::Error>,
}

impl Writing {
    pub(crate) fn new(output: Output) -> Self {
        Self { output, rows: 0, failed: None }
    }

    pub(crate) fn write(&mut self, rows: &Rows) -> ControlFlow<()> {
        self.rows += rows.count();
        match self.output.write(rows) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Has the output appear; the number of rows.
    pub(crate) fn finish(self) -> anyhow::Result<u64> {
        match self.failed {
            Some(error) => Err(error),
            None => self.output.finish().map(|()| self.rows),
        }
    }
}
