//! Counts as floating-point numbers.

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn number(fingerprints: &[u64]) -> f64 {
    fingerprints.len().max(1) as f64
}
