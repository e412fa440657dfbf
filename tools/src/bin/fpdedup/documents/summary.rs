//! The summary: for people on standard error, as JSON on standard output.

use std::io;
use std::path::Path;

use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::notice;
use fpstore_tools::number::{bytes, count, count_of};
use fpstore_tools::report;
use serde::Serialize;

use super::links::{Fate, Link};
use super::work::State;

/// The removed documents, by rule.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Removals {
    /// Number of documents at each distance from their keeper, from 0.
    by_distance: Vec<u64>,
    /// Number of documents that are not removed, because their texts differ.
    doubtful: u64,
}

impl Removals {
    pub(super) fn count(&mut self, fate: Fate) {
        match fate {
            Fate::Stays => {}
            Fate::Doubtful | Fate::Different => self.doubtful += 1,
            Fate::Removed(Link { distance, .. }) => {
                let distance = distance as usize;
                if self.by_distance.len() <= distance {
                    self.by_distance.resize(distance + 1, 0);
                }
                self.by_distance.iter_mut().skip(distance).take(1).for_each(|count| *count += 1);
            }
        }
    }

    fn total(&self) -> u64 {
        self.by_distance.iter().sum()
    }
}

/// Seconds and bytes of a phase.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Phase {
    pub(super) phase: &'static str,
    pub(super) seconds: f64,
    /// Bytes that were read from the inputs, or written to the output.
    pub(super) bytes: u64,
}

/// Content of the summary.
pub(super) struct Summary<'a> {
    pub(super) output: &'a Path,
    pub(super) hasher: String,
    pub(super) distance: u32,
    pub(super) linkage: &'static str,
    pub(super) threshold: Option<f64>,
    pub(super) kept: u64,
    pub(super) removals: Removals,
    pub(super) phases: Vec<Phase>,
}

#[derive(Serialize)]
struct Object<'a> {
    schema_version: u32,
    output: String,
    hasher: &'a str,
    distance: u32,
    linkage: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<f64>,
    documents: u64,
    kept: u64,
    removed: u64,
    #[serde(flatten)]
    removals: &'a Removals,
    without_fingerprint: u64,
    left_out: u64,
    text_bytes: u64,
    phases: &'a [Phase],
}

impl Summary<'_> {
    pub(super) fn write(&self, state: &State, json: bool) -> anyhow::Result<()> {
        let removed = self.removals.total();
        if json {
            let object = Object {
                schema_version: SCHEMA_VERSION,
                output: self.output.display().to_string(),
                hasher: &self.hasher,
                distance: self.distance,
                linkage: self.linkage,
                verified: self.threshold,
                documents: state.documents,
                kept: self.kept,
                removed,
                removals: &self.removals,
                without_fingerprint: state.without,
                left_out: state.left_out,
                text_bytes: state.text_bytes,
                phases: &self.phases,
            };
            report::json(&mut io::stdout().lock(), &object)?;
            return Ok(());
        }
        let distances = &self.removals.by_distance;
        let equal = distances.first().copied().unwrap_or(0);
        let far: u64 = distances.iter().skip(self.distance as usize + 1).sum();
        let mut facts = vec![
            ("documents", format!("{}, {} of text", count(state.documents), bytes(state.text_bytes))),
            ("removed", count(removed)),
            ("  equal fingerprints", count(equal)),
            (
                "  near ones",
                format!("{} within {}", count(removed - equal - far), count_of(self.distance.into(), "bit")),
            ),
        ];
        if far > 0 {
            facts.push(("  far ones", format!("{} (chains)", count(far))));
        }
        facts.push(("kept", count(self.kept)));
        if let Some(threshold) = self.threshold {
            facts.push(("  texts differ", format!("{}, less than {threshold} alike", count(self.removals.doubtful))));
        }
        if state.without > 0 {
            facts.push(("  no fingerprint", count(state.without)));
        }
        if state.left_out > 0 {
            facts.push(("left out", count(state.left_out)));
        }
        for Phase { phase, seconds, bytes: amount } in &self.phases {
            facts.push((phase, format!("{seconds:.2} s, {}", bytes(*amount))));
        }
        let mut text = Vec::new();
        report::facts(&mut text, &facts)?;
        for line in String::from_utf8_lossy(&text).lines() {
            notice::say(line);
        }
        Ok(())
    }
}
