//! The summary: for people on standard error, as JSON on standard output.

use std::io;
use std::path::Path;

use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::notice;
use fpstore_tools::number::{bytes, count, count_of};
use fpstore_tools::report;
use serde::Serialize;

use super::compare::Near;
use super::links::Fate;
use super::work::State;

/// The removed documents, by rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Removals {
    /// Number of documents at each distance from their keeper, or with each number of keys in common with it, from 0.
    by_nearness: Vec<u64>,
    /// Number of these that are not near their keeper.
    far: u64,
    /// Number of the others that equal their keeper.
    equal: u64,
    /// Number of documents that are not removed, because their texts differ.
    doubtful: u64,
}

impl Removals {
    pub(super) fn count(&mut self, fate: Fate, near: Near) {
        match fate {
            Fate::Stays => {}
            Fate::Doubtful | Fate::Different => self.doubtful += 1,
            Fate::Removed(link) => {
                // A distance has at most 128 bits, and documents as many keys as a signature has bands.
                let at = usize::try_from(link.near).unwrap_or(usize::MAX);
                if self.by_nearness.len() <= at {
                    self.by_nearness.resize(at + 1, 0);
                }
                self.by_nearness.iter_mut().skip(at).take(1).for_each(|count| *count += 1);
                match (near.is_far(&link), near.is_equal(&link)) {
                    (true, _) => self.far += 1,
                    (false, is_equal) => self.equal += u64::from(is_equal),
                }
            }
        }
    }

    fn total(&self) -> u64 {
        self.by_nearness.iter().sum()
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
    pub(super) near: Near,
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
    method: &'static str,
    hasher: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_jaccard: Option<f64>,
    linkage: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<f64>,
    documents: u64,
    kept: u64,
    removed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_distance: Option<&'a [u64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_shared_keys: Option<&'a [u64]>,
    far: u64,
    doubtful: u64,
    without_fingerprint: u64,
    left_out: u64,
    text_bytes: u64,
    phases: &'a [Phase],
}

impl Summary<'_> {
    pub(super) fn write(&self, state: &State, json: bool) -> anyhow::Result<()> {
        let removed = self.removals.total();
        let Removals { by_nearness, far, equal, doubtful } = &self.removals;
        if json {
            let (distance, min_jaccard) = match self.near {
                Near::Distance { distance, .. } => (Some(distance), None),
                Near::Keys { min_jaccard, .. } => (None, Some(min_jaccard)),
            };
            let object = Object {
                schema_version: SCHEMA_VERSION,
                output: self.output.display().to_string(),
                method: if distance.is_some() { "simhash" } else { "minhash" },
                hasher: &self.hasher,
                distance,
                min_jaccard,
                linkage: self.linkage,
                verified: self.threshold,
                documents: state.documents,
                kept: self.kept,
                removed,
                by_distance: distance.map(|_| &**by_nearness),
                by_shared_keys: min_jaccard.map(|_| &**by_nearness),
                far: *far,
                doubtful: *doubtful,
                without_fingerprint: state.without,
                left_out: state.left_out,
                text_bytes: state.text_bytes,
                phases: &self.phases,
            };
            report::json(&mut io::stdout().lock(), &object)?;
            return Ok(());
        }
        let mut facts = vec![
            ("documents", format!("{}, {} of text", count(state.documents), bytes(state.text_bytes))),
            ("removed", count(removed)),
        ];
        let near = count(removed - equal - far);
        match self.near {
            Near::Distance { distance, .. } => {
                let near = format!("{near} within {}", count_of(distance.into(), "bit"));
                facts.extend([("  equal fingerprints", count(*equal)), ("  near ones", near)]);
            }
            Near::Keys { keys, .. } => {
                let near = format!("{near} with some of {} in common", count_of(keys as u64, "band"));
                facts.extend([("  all bands in common", count(*equal)), ("  near ones", near)]);
            }
        }
        if *far > 0 {
            facts.push(("  far ones", format!("{} (chains)", count(*far))));
        }
        facts.push(("kept", count(self.kept)));
        if let Some(threshold) = self.threshold {
            facts.push(("  texts differ", format!("{}, less than {threshold} alike", count(*doubtful))));
        }
        if state.without > 0 {
            let nothing = match self.near {
                Near::Distance { .. } => "  no fingerprint",
                Near::Keys { .. } => "  no signature",
            };
            facts.push((nothing, count(state.without)));
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
