//! What is gathered of all fingerprints.

use fpstore::Fingerprint;

use super::counts::Counts;
use super::distinct::Distinct;
use super::sample::Sample;

/// Counts and samples of all fingerprints.
#[derive(Clone, Debug)]
pub struct Gathered<F> {
    pub(super) counts: Counts,
    pub(super) sample: Sample<F>,
    pub(super) distinct: Distinct,
}

impl<F: Fingerprint> Gathered<F> {
    /// Of no fingerprint yet.
    #[must_use]
    pub fn new() -> Self {
        Self { counts: Counts::new(F::WIDTH), sample: Sample::new(), distinct: Distinct::default() }
    }

    /// Adds a batch, and empties it.
    pub fn add(&mut self, batch: &mut Vec<F>) {
        let Self { counts, sample, distinct } = self;
        let values = batch.as_slice();
        let sampled = || {
            values.iter().for_each(|value| {
                sample.push(*value);
                distinct.push(*value);
            });
        };
        let (more, ()) = rayon::join(|| Counts::of(values), sampled);
        let before = std::mem::replace(counts, Counts::new(0));
        *counts = before.with(more);
        batch.clear();
    }
}

impl<F: Fingerprint> Default for Gathered<F> {
    fn default() -> Self {
        Self::new()
    }
}
