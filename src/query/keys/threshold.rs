//! How much two records of a key index have to have in common.

use crate::error::{Error, Result};

/// The least number of shared keys, and the least estimated Jaccard similarity. By default one key is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    pub(crate) min_shared: u64,
    pub(crate) min_jaccard: f64,
}

impl Default for Threshold {
    fn default() -> Self {
        Self { min_shared: 1, min_jaccard: 0.0 }
    }
}

impl Threshold {
    /// Refuses a similarity that is not possible, or that cannot be estimated.
    pub(crate) fn check(&self, has_sketches: bool, remedy: &'static str) -> Result<()> {
        if !(0.0..=1.0).contains(&self.min_jaccard) {
            return Err(Error::invalid(format!("a Jaccard similarity of {} is not possible", self.min_jaccard))
                .with_remedy("use a number from 0 to 1"));
        }
        if self.min_jaccard > 0.0 && !has_sketches {
            return Err(Error::invalid("without sketches no Jaccard similarity can be estimated").with_remedy(remedy));
        }
        Ok(())
    }
}
