//! Weights of features.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

/// The weight of a feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Weights {
    /// One for each occurrence.
    #[default]
    Count,
    /// One, however often the feature occurs.
    Distinct,
    /// The weight in a table, for each occurrence.
    Table(Arc<Table>),
}

impl Weights {
    /// Returns the part of a sketch's identity that describes the weights.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Count => "count".to_owned(),
            Self::Distinct => "distinct".to_owned(),
            Self::Table(table) => format!("table:{:016x}", table.hash()),
        }
    }
}

/// Weights of features, and a default for features that are not in the table.
///
/// As text, a table has a line `feature<TAB>weight` for each feature. A first line `#default<TAB>weight` gives the
/// default, which is one otherwise. A feature of weight zero is a stop word.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    weights: HashMap<Box<str>, f64>,
    default: f64,
}

const DEFAULT: &str = "#default";

/// Largest weight.
const LARGEST: f64 = 1e100;

impl Table {
    /// Returns a table in which every feature has the default weight.
    #[must_use]
    pub fn new(default: f64) -> Self {
        Self { weights: HashMap::new(), default }
    }

    /// Returns the weight of a feature.
    #[must_use]
    pub fn get(&self, feature: &str) -> f64 {
        self.weights.get(feature).copied().unwrap_or(self.default)
    }

    /// Sets the weight of a feature.
    pub fn set(&mut self, feature: &str, weight: f64) {
        self.weights.insert(feature.into(), weight);
    }

    /// Reads one line of the text; `first` says whether it is the first. Empty lines are skipped.
    ///
    /// # Errors
    ///
    /// If the line is not a line of a table, or names a feature for the second time.
    pub fn line(&mut self, line: &str, first: bool) -> Result<()> {
        if line.is_empty() {
            return Ok(());
        }
        // A feature may contain spaces and TABs, so the weight is what follows the last TAB.
        let (feature, weight) =
            line.rsplit_once('\t').ok_or_else(|| Error::new("expected a feature, a TAB and its weight"))?;
        let weight = weight.trim().parse::<f64>().ok().filter(|weight| weight.is_finite());
        let weight = weight.ok_or_else(|| Error::new("the weight after the TAB is not a number"))?;
        if weight.abs() > LARGEST {
            return Err(Error::new(format!("the weight {weight} is too large; sums of such weights would overflow")));
        }
        if feature == DEFAULT {
            if !first {
                return Err(Error::new(format!("{DEFAULT} is allowed in the first line only")));
            }
            self.default = weight;
        } else if self.weights.insert(feature.into(), weight).is_some() {
            return Err(Error::new(format!("the feature '{feature}' occurs twice")));
        }
        Ok(())
    }

    /// Returns the weight of all features that are not in the table.
    #[must_use]
    pub fn default_weight(&self) -> f64 {
        self.default
    }

    /// Returns all features in the table, sorted, with their weights.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&str, f64)> {
        let mut sorted: Vec<(&str, f64)> = self.weights.iter().map(|(feature, weight)| (&**feature, *weight)).collect();
        sorted.sort_unstable_by_key(|(feature, _)| *feature);
        sorted
    }

    /// Returns the text, sorted by features.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{DEFAULT}\t{}\n", self.default);
        for (feature, weight) in self.sorted() {
            let _ = writeln!(text, "{feature}\t{weight}");
        }
        text
    }

    /// Returns a checksum of the table: the XXH3 of its text, without entries that change nothing.
    fn hash(&self) -> u64 {
        // Zero has no sign in the text.
        let weights = self.weights.iter().filter(|(_, weight)| **weight != self.default);
        let weights = weights.map(|(feature, weight)| (feature.clone(), weight + 0.0)).collect();
        xxh3_64(Self { weights, default: self.default + 0.0 }.text().as_bytes())
    }

    /// Whether a weight is below zero.
    pub(crate) fn is_negative(&self) -> bool {
        self.default < 0.0 || self.weights.values().any(|weight| *weight < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_as_text() {
        let mut table = Table::new(1.0);
        table.line("#default\t0.5", true).unwrap();
        for line in ["the\t0", "new york\t5", "", "a\tb\t2.5"] {
            table.line(line, false).unwrap();
        }
        assert_eq!(["the", "new york", "a\tb", "other"].map(|feature| table.get(feature)), [0.0, 5.0, 2.5, 0.5]);
        let text = table.text();
        assert_eq!(text, "#default\t0.5\na\tb\t2.5\nnew york\t5\nthe\t0\n");
        let mut again = Table::new(1.0);
        for (number, line) in text.lines().enumerate() {
            again.line(line, number == 0).unwrap();
        }
        assert_eq!(again, table);
        let mut same = table.clone();
        same.set("more", 0.5);
        same.set("the", -0.0);
        assert_eq!(same.hash(), table.hash());
        for (line, part) in [
            ("#default\t3", "in the first line"),
            ("x\t1e308", "too large"),
            ("x", "expected a feature"),
            ("x\tinf", "not a number"),
            ("the\t1", "'the' occurs twice"),
        ] {
            assert!(table.line(line, false).unwrap_err().to_string().contains(part));
        }
    }
}
