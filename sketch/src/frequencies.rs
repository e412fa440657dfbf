//! Weights computed from a corpus: rare features weigh more.

use std::collections::HashMap;

use crate::document::Document;
use crate::error::Result;
use crate::simhash::Simhash;
use crate::weights::Table;

/// Counts in how many documents each feature occurs, and turns the counts into weights.
///
/// Rare features say more about a document: a feature in df of n documents weighs `ln((1 + n) / (1 + df)) + 1`, the
/// smoothed inverse document frequency of scikit-learn.
#[derive(Debug, Default)]
pub struct DocumentFrequencies {
    counts: HashMap<Box<str>, (u64, u64)>,
    documents: u64,
    bytes: usize,
}

impl DocumentFrequencies {
    /// Counts a document.
    ///
    /// # Errors
    ///
    /// If the preset has no weights.
    pub fn add(&mut self, document: Document<'_>, simhash: &Simhash) -> Result<()> {
        self.documents += 1;
        let Self { counts, documents, bytes } = self;
        let count = |feature: &str| {
            if let Some((count, last)) = counts.get_mut(feature) {
                *count += u64::from(last != documents);
                *last = *documents;
            } else {
                *bytes += feature.len();
                counts.insert(feature.into(), (1, *documents));
            }
        };
        simhash.each_feature(document, count)
    }

    /// Returns the memory in use, in bytes and approximately.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes + self.counts.capacity() * 40 + self.counts.len() * 16
    }

    /// Returns the table of weights. Features of fewer than `at_least` documents get the default, which is the weight
    /// of a feature that never occurred. Features that contain a line feed get it too, because the text of a table
    /// cannot hold them.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "no corpus has 2^53 documents")]
    pub fn table(&self, at_least: u64) -> Table {
        let weight = |count: u64| ((1 + self.documents) as f64 / (1 + count) as f64).ln() + 1.0;
        let kept =
            self.counts.iter().filter(|(feature, (count, _))| *count >= at_least && !feature.contains(['\n', '\r']));
        let mut table = Table::new(weight(0));
        kept.for_each(|(feature, (count, _))| table.set(feature, weight(*count)));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::simhash::SimhashPreset;

    #[test]
    fn rare_features_weigh_more() {
        let simhash = Simhash::new(SimhashPreset::Native).prepared(|now| now.with_features(Features::Tokens)).unwrap();
        let mut frequencies = DocumentFrequencies::default();
        for text in ["a b a", "a c", "a"] {
            frequencies.add(text.into(), &simhash).unwrap();
        }
        let table = frequencies.table(1);
        assert!((table.get("a") - 1.0).abs() < 1e-12);
        assert!((table.get("b") - (1.0 + 2_f64.ln())).abs() < 1e-12);
        assert!((table.get("never") - (1.0 + 4_f64.ln())).abs() < 1e-12);
        assert!((frequencies.table(2).get("b") - (1.0 + 4_f64.ln())).abs() < 1e-12);
    }
}
