//! What a segment will take of the device and of memory, before a byte of it is written.
//!
//! The device is asked again with every write; to refuse what it has no room for only spares the user hours of work.

use crate::env::Env;
use crate::error::{Error, Result};
use crate::fingerprint::IdKind;
use crate::format::parameters::Parameters;
use crate::plan::{Workload, predict};
use crate::version::StoreContext;
use std::path::PathBuf;
use std::sync::Arc;

/// Families of fingerprints, and texts that repeat, are compressed further than estimates say; never below this part of
/// them, or hardly.
const LEAST_PART: f64 = 0.25;
/// What is left of texts, at most as a rule.
const TEXTS_PART: f64 = 0.5;
/// What is left of segments that become one, where they have little in common.
const MERGED_PART: f64 = 0.5;

/// Estimates for segments of a store.
pub(crate) struct Estimate {
    env: Arc<dyn Env>,
    path: PathBuf,
    parameters: Parameters,
}

impl Estimate {
    pub(crate) fn of(context: &StoreContext) -> Self {
        let (env, path) = (Arc::clone(context.env()), context.path.clone());
        Self { env, path, parameters: context.parameters.clone() }
    }

    /// Refuses so many records, with so many bytes of texts, if less than a quarter is free of what they take when all
    /// fingerprints are different and evenly spread.
    ///
    /// # Errors
    /// `Io` that tells both numbers.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn check_records(&self, records: u64, texts: u64) -> Result<()> {
        let tables = predict(self.parameters.design(), &self.workload(records))?.disk_bytes;
        let ids = match self.parameters.ids() {
            IdKind::None => 0.0,
            IdKind::Number => (records.max(2) as f64).log2() / 8.0 * records as f64,
            IdKind::Text => TEXTS_PART * texts as f64,
        };
        self.check(tables + ids, LEAST_PART)
    }

    /// Bytes of memory of the index of so many fingerprints, about.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    pub(crate) fn index_bytes(&self, fingerprints: u64) -> u64 {
        let cost = predict(self.parameters.design(), &self.workload(fingerprints));
        cost.map_or(0, |cost| cost.resident_bytes as u64)
    }

    fn workload(&self, fingerprints: u64) -> Workload {
        Workload {
            fingerprints,
            width: self.parameters.width(),
            distance: self.parameters.max_distance(),
            block_size: self.parameters.block_size(),
            filter: false,
        }
    }

    /// Refuses to make one segment of others, of so many bytes and records together and without some of the records, if
    /// there is not nearly room for it.
    ///
    /// # Errors
    /// As [`Estimate::check_records`].
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn check_merge(&self, bytes: u64, records: u64, without: u64) -> Result<()> {
        let left = records.saturating_sub(without) as f64 / records.max(1) as f64;
        self.check(bytes as f64 * left, MERGED_PART)
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates"
    )]
    fn check(&self, estimated: f64, least: f64) -> Result<()> {
        let Some(free) = self.env.free_bytes(&self.path) else { return Ok(()) };
        if free as f64 >= estimated * least {
            return Ok(());
        }
        let message = format!("the new segment takes some {} bytes, {free} are free", estimated as u64);
        Err(Error::too_little_room(message, &self.path))
    }
}
