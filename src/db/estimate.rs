//! Estimates of the device space and the memory that a segment will take.
//!
//! Every write checks for errors of the device anyway; an early refusal spares the user hours of work.

use crate::db::store_inner::StoreInner;
use crate::error::{Error, Result};
use crate::fingerprint::IdKind;
use crate::format::manifest::RunEntry;
use crate::plan::{Cost, Workload, predict};
use crate::version::Run;
use std::sync::Arc;

/// The least part of the estimated size that a segment takes: families of fingerprints and repetitive texts compress
/// well.
const LEAST_PART: f64 = 0.25;
/// Compressed size of texts, at most as a rule.
const TEXTS_PART: f64 = 0.5;
/// Size of merged segments with little in common.
const MERGED_PART: f64 = 0.5;

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "these are estimates"
)]
impl StoreInner {
    /// Refuses a segment of this many records and bytes of texts if the device has less than a quarter of its size with
    /// distinct, evenly spread fingerprints.
    pub(crate) fn check_room_to_load(&self, records: u64, texts: u64) -> Result<()> {
        let tables = self.predicted(records)?.disk_bytes;
        let ids = match self.context.parameters.ids() {
            IdKind::None => 0.0,
            IdKind::Number => (records.max(2) as f64).log2() / 8.0 * records as f64,
            IdKind::Text => TEXTS_PART * texts as f64,
        };
        self.check_space(tables + ids, LEAST_PART)
    }

    /// Refuses to merge runs if the device has far too little space.
    pub(crate) fn check_room_to_merge(&self, runs: &[Arc<Run>]) -> Result<()> {
        let sum = |of: fn(&RunEntry) -> u64| runs.iter().map(|run| of(&run.entry)).fold(0, u64::saturating_add);
        let bytes = sum(|run| run.records.map_or(0, |segment| segment.file_length));
        let (records, removed) = (sum(RunEntry::records), sum(RunEntry::removed));
        let left = records.saturating_sub(removed) as f64 / records.max(1) as f64;
        self.check_space(bytes as f64 * left, MERGED_PART)
    }

    /// Bytes of memory of the index of this many fingerprints, about.
    pub(crate) fn index_bytes(&self, fingerprints: u64) -> u64 {
        self.predicted(fingerprints).map_or(0, |cost| cost.resident_bytes as u64)
    }

    fn predicted(&self, fingerprints: u64) -> Result<Cost> {
        let parameters = &self.context.parameters;
        let (width, distance, block_size) = (parameters.width(), parameters.max_distance(), parameters.block_size());
        predict(parameters.design(), &Workload { fingerprints, width, distance, block_size, filter: false })
    }

    fn check_space(&self, estimated: f64, least: f64) -> Result<()> {
        let path = &self.context.path;
        let Some(free) = self.context.env().free_bytes(path) else { return Ok(()) };
        if free as f64 >= estimated * least {
            return Ok(());
        }
        let message = format!("the new segment takes some {} bytes, {free} are free", estimated as u64);
        Err(Error::too_little_space(message, path))
    }
}
