//! Options that every program takes: `--threads`, `--quiet`, `--json`.

use std::io::{self, IsTerminal};

use anyhow::Context;

use crate::notice;

/// Value of `schema_version` in every JSON object that the programs write.
pub const SCHEMA_VERSION: u32 = 1;

/// Options that every program takes.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Common {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads, help_heading = "Common options", global = true)]
    pub threads: Option<usize>,

    /// No progress, no summary, no warnings: only data and errors
    #[arg(short, long, help_heading = "Common options", global = true)]
    pub quiet: bool,

    /// Output for programs: JSON objects, one a line, each with a "schema_version"
    #[arg(long, help_heading = "Common options", global = true)]
    pub json: bool,
}

impl Common {
    /// Starts the threads, and enables messages unless `--quiet`. The program calls it once, before any parallel work.
    ///
    /// # Errors
    ///
    /// If the operating system refuses the threads.
    pub fn start(&self) -> anyhow::Result<()> {
        notice::wanted(!self.quiet);
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.unwrap_or(0))
            .build_global()
            .context("cannot start the threads; try a smaller --threads")
    }

    /// Whether progress is shown: standard error is a terminal, without `--quiet` and `--json`.
    #[must_use]
    pub fn shows_progress(&self) -> bool {
        !self.quiet && !self.json && io::stderr().is_terminal()
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=4096) => Ok(n),
        _ => Err("expected a number from 1 to 4096".to_owned()),
    }
}
