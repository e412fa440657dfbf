//! Comparing two texts: the check after a fingerprint match, for texts so short that a few words decide.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use super::{FeatureSet, longest_common_substring};
use crate::error::{Error, Result};
use crate::features::{Features, Space, Splitter};

/// A measure of two texts. All but [`Measure::Euclidean`] are similarities from 0 to 1. Two texts with nothing to
/// compare are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// 1 - edits / length of the longer text. Edits are insertions, deletions and replacements of characters
    /// (Levenshtein).
    Edit,
    /// Length of the longest common substring, as a share of the longer text.
    Substring,
    /// The cosine of the angle between the vectors of feature counts.
    Cosine(Features),
    /// The distance between these vectors: 0 for equal texts, without an upper bound.
    Euclidean(Features),
    /// Shared features as a share of all distinct features.
    Jaccard(Features),
}

/// Longest text that is compared character by character.
const LONGEST: usize = 1 << 16;

impl Measure {
    /// Returns the value for two texts.
    ///
    /// # Errors
    ///
    /// If a text is too long for a measure that compares every character, in time or in memory.
    pub fn of(self, a: &str, b: &str) -> Result<f64> {
        let longer = a.len().max(b.len());
        if matches!(self, Self::Edit | Self::Substring) && longer > LONGEST {
            return Err(Error::new(format!(
                "{self} compares texts of at most {LONGEST} bytes, this one has {longer}; cosine and jaccard take \
                 longer ones"
            )));
        }
        Ok(match self {
            Self::Edit => rapidfuzz::distance::levenshtein::normalized_similarity(a.chars(), b.chars()),
            Self::Substring => match a.chars().count().max(b.chars().count()) {
                0 => 1.0,
                longer => share(longest_common_substring(a, b), longer),
            },
            Self::Cosine(features) => cosine(&counts(a, features), &counts(b, features)),
            Self::Euclidean(features) => euclidean(&counts(a, features), &counts(b, features)),
            Self::Jaccard(features) => {
                let splitter = Splitter { features, space: Space::Unicode };
                let set = |text: &str| FeatureSet::new(text.into(), &splitter);
                set(a).jaccard(&set(b))
            }
        })
    }

    /// Whether a value is on the similar side of a threshold.
    #[must_use]
    pub fn similar(self, value: f64, threshold: f64) -> bool {
        if let Self::Euclidean(_) = self { value <= threshold } else { value >= threshold }
    }
}

/// Returns how often each feature occurs, by its hash. Among a million features two share a hash once in 37 million
/// texts.
fn counts(text: &str, features: Features) -> HashMap<u64, f64> {
    let mut counts = HashMap::new();
    let splitter = Splitter { features, space: Space::Unicode };
    splitter.hashes(text.into(), |feature| *counts.entry(feature).or_default() += 1.0);
    counts
}

fn cosine(a: &HashMap<u64, f64>, b: &HashMap<u64, f64>) -> f64 {
    let norm = |counts: &HashMap<u64, f64>| counts.values().map(|count| count * count).sum::<f64>();
    match (a.is_empty(), b.is_empty()) {
        (true, true) => 1.0,
        (true, false) | (false, true) => 0.0,
        (false, false) => {
            let product: f64 = a.iter().filter_map(|(feature, count)| b.get(feature).map(|other| count * other)).sum();
            (product / (norm(a) * norm(b)).sqrt()).min(1.0)
        }
    }
}

fn euclidean(a: &HashMap<u64, f64>, b: &HashMap<u64, f64>) -> f64 {
    let of = |counts: &HashMap<u64, f64>, feature: &u64| counts.get(feature).copied().unwrap_or(0.0);
    let features: HashSet<&u64> = a.keys().chain(b.keys()).collect();
    features.into_iter().map(|feature| (of(a, feature) - of(b, feature)).powi(2)).sum::<f64>().sqrt()
}

#[allow(clippy::cast_precision_loss, reason = "lengths of texts")]
fn share(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edit => f.write_str("edit"),
            Self::Substring => f.write_str("substring"),
            Self::Cosine(features) => write!(f, "cosine:{features}"),
            Self::Euclidean(features) => write!(f, "euclidean:{features}"),
            Self::Jaccard(features) => write!(f, "jaccard:{features}"),
        }
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, features) = text.split_once(':').unwrap_or((text, "unicode:1"));
        match name {
            "edit" if name == text => Ok(Self::Edit),
            "substring" if name == text => Ok(Self::Substring),
            "cosine" => features.parse().map(Self::Cosine),
            "euclidean" => features.parse().map(Self::Euclidean),
            "jaccard" => features.parse().map(Self::Jaccard),
            _ => Err(Error::new(format!(
                "'{text}' is not a measure; the measures are edit, substring, cosine[:FEATURES], euclidean[:FEATURES] \
                 and \
                 jaccard[:FEATURES]"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(name: &str, a: &str, b: &str) -> f64 {
        name.parse::<Measure>().unwrap().of(a, b).unwrap()
    }

    #[test]
    fn values_worked_out_by_hand() {
        for (name, a, b, expected) in [
            ("edit", "kitten", "sitting", 1.0 - 3.0 / 7.0),
            ("edit", "日本", "日本語", 2.0 / 3.0),
            ("substring", "the cat sat", "a cat sat", 8.0 / 11.0),
            ("cosine", "a a b", "a b b", 0.8),
            ("cosine:words:2", "a b", "b a", 0.0),
            ("euclidean", "a a b", "b c", 5_f64.sqrt()),
            ("jaccard:words:2", "a b c d", "b c d e", 0.5),
            ("jaccard", "a b", "a b", 1.0),
        ] {
            assert!((measure(name, a, b) - expected).abs() < 1e-12, "{name}: {}", measure(name, a, b));
        }
    }

    #[test]
    fn nothing_to_compare() {
        for name in ["edit", "substring", "cosine", "jaccard"] {
            assert!((measure(name, "", "") - 1.0).abs() < 1e-12, "{name}");
            assert!(measure(name, "", "x").abs() < 1e-12, "{name}");
        }
        assert!(measure("euclidean", "", "").abs() < 1e-12);
    }

    #[test]
    fn texts_that_are_too_long() {
        let long = "x ".repeat(LONGEST);
        for name in ["edit", "substring"] {
            let error = name.parse::<Measure>().unwrap().of(&long, "x").unwrap_err().to_string();
            assert!(error.contains("at most 65536 bytes"), "{error}");
        }
        assert!((measure("jaccard:chars:1000", &long, &long) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn names_and_sides() {
        for name in ["edit", "substring", "cosine:unicode:1", "euclidean:tokens", "jaccard:chars:3"] {
            assert_eq!(name.parse::<Measure>().unwrap().to_string(), name);
        }
        for name in ["", "edit:3", "cos", "jaccard:x"] {
            assert!(name.parse::<Measure>().is_err(), "{name}");
        }
        assert!(Measure::Edit.similar(0.9, 0.8) && !Measure::Edit.similar(0.7, 0.8));
        assert!(Measure::Euclidean(Features::Tokens).similar(1.0, 2.0));
    }
}
