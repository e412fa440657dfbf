//! Estimates of the device space and the memory that a segment will take.
//!
//! Every write checks for errors of the device anyway; an early refusal spares the user hours of work.

use crate::error::{Error, Result};
use crate::fingerprint::IdKind;
use crate::plan::{Workload, predict};
use crate::version::StoreContext;
use std::sync::Arc;

/// The least part of the estimated size that a segment takes: families of fingerprints and repetitive texts compress
/// well.
const LEAST_PART: f64 = 0.25;
/// Compressed size of texts, at most as a rule.
const TEXTS_PART: f64 = 0.5;
/// Size of merged segments with little in common.
const MERGED_PART: f64 = 0.5;

pub(crate) struct Estimate(Arc<StoreContext>);

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "these are estimates"
)]
impl Estimate {
    pub(crate) fn of(context: &Arc<StoreContext>) -> Self {
        Self(Arc::clone(context))
    }

    /// Refuses a segment of so many records and bytes of texts if the device has less than a quarter of its size with
    /// distinct, evenly spread fingerprints.
    pub(crate) fn check_records(&self, records: u64, texts: u64) -> Result<()> {
        let tables = predict(self.0.parameters.design(), &self.workload(records))?.disk_bytes;
        let ids = match self.0.parameters.ids() {
            IdKind::None => 0.0,
            IdKind::Number => (records.max(2) as f64).log2() / 8.0 * records as f64,
            IdKind::Text => TEXTS_PART * texts as f64,
        };
        self.check(tables + ids, LEAST_PART)
    }

    pub(crate) fn index_bytes(&self, fingerprints: u64) -> u64 {
        let cost = predict(self.0.parameters.design(), &self.workload(fingerprints));
        cost.map_or(0, |cost| cost.resident_bytes as u64)
    }

    fn workload(&self, fingerprints: u64) -> Workload {
        let parameters = &self.0.parameters;
        Workload {
            fingerprints,
            width: parameters.width(),
            distance: parameters.max_distance(),
            block_size: parameters.block_size(),
            filter: false,
        }
    }

    /// Refuses to merge segments of so many bytes and records, `without` of which are removed, if the device has far
    /// too little space.
    pub(crate) fn check_merge(&self, bytes: u64, records: u64, without: u64) -> Result<()> {
        let left = records.saturating_sub(without) as f64 / records.max(1) as f64;
        self.check(bytes as f64 * left, MERGED_PART)
    }

    fn check(&self, estimated: f64, least: f64) -> Result<()> {
        let Some(free) = self.0.env().free_bytes(&self.0.path) else { return Ok(()) };
        if free as f64 >= estimated * least {
            return Ok(());
        }
        let message = format!("the new segment takes some {} bytes, {free} are free", estimated as u64);
        Err(Error::too_little_room(message, &self.0.path))
    }
}
