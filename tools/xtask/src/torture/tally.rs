//! Counts of the results.

use std::fmt::Display;

use anyhow::Result;

use crate::say::say;

/// The results of one kind of disturbance.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    kind: &'static str,
    skipped: Option<String>,
    /// The store was as before.
    pub(super) before: u64,
    /// The load was in the store, and the program was ended.
    pub(super) after: u64,
    /// The program ended by itself, with success.
    pub(super) finished: u64,
    /// Temporary files left behind; the next run has removed all of them, unless there is a violation.
    pub(super) leftovers: u64,
    violations: Vec<String>,
}

impl Tally {
    pub(super) fn new(kind: &'static str) -> Self {
        Self { kind, skipped: None, before: 0, after: 0, finished: 0, leftovers: 0, violations: Vec::new() }
    }

    /// Records that the disturbance cannot be tried on this machine.
    pub(super) fn skip(mut self, why: String) -> Self {
        self.skipped = Some(why);
        self
    }

    /// Prints the result of one load, and keeps a violation.
    pub(super) fn outcome(&mut self, moment: &str, outcome: Result<impl Display>) -> Result<()> {
        match outcome {
            Ok(outcome) => say(&format!("{moment}: {outcome}")),
            Err(error) => {
                let text = format!("{moment}: {error:#}");
                say(&format!("VIOLATION: {text}"))?;
                self.violations.push(text);
                Ok(())
            }
        }
    }

    pub(super) fn violations(&self) -> &[String] {
        &self.violations
    }

    /// Returns the summary.
    pub(super) fn line(&self) -> String {
        let Self { kind, before, after, finished, leftovers, .. } = self;
        if let Some(why) = &self.skipped {
            return format!("{kind}: SKIPPED: {why}");
        }
        let failed = self.violations.len() as u64;
        let total = before + after + finished + failed;
        format!(
            "{kind}: {total}; before the commit point {before}, after it {after}, ended undisturbed {finished}; \
             temporary files left {leftovers}, all removed by the next run; violations {failed}"
        )
    }
}
