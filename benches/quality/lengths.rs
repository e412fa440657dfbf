//! Unrelated texts of few words: the number of pairs of them that pass for near-duplicates.
//!
//! The texts consist of random words with the word frequencies of the corpora, so they share words and occasionally
//! features, as short texts do. A pair is false if its sets of features have a Jaccard similarity below one half.

use serde::Serialize;

use crate::data::Data;
use crate::ties::{Featured, Rule, mixed};
use crate::truth::is_unspaced;

/// Texts of each length; the second number is for `cargo test --benches`.
const TEXTS: [usize; 2] = [20_000, 300];
/// Maximum number of words of a text.
const LONGEST: usize = 20;
/// The counted distances.
pub(crate) const DISTANCES: [u32; 3] = [3, 6, 10];

/// False pairs among texts of one length.
#[derive(Serialize)]
pub(crate) struct Length {
    way: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) words: usize,
    pub(crate) pairs: u64,
    /// Pairs within [`DISTANCES`].
    pub(crate) found: [u64; 3],
    /// Texts in any of the pairs.
    pub(crate) texts: [usize; 3],
}

pub(crate) fn measure(corpora: &[Data], quick: bool, rules: &[Rule]) -> Vec<Length> {
    // One word each, so that a text has one feature less than words.
    let is_word = |token: &&str| token.chars().all(char::is_alphabetic) && !is_unspaced(token);
    let tokens = corpora.iter().flat_map(|data| &data.texts).flat_map(|text| text.split_whitespace());
    let words: Vec<&str> = tokens.filter(is_word).collect();
    let mut all = Vec::new();
    for length in 1..=LONGEST {
        let mut seed = length as u64;
        let mut word = || {
            seed = mixed(seed);
            words[(seed % words.len() as u64) as usize]
        };
        let text = |_| (0..length).map(|_| word()).collect::<Vec<&str>>().join(" ");
        let texts: Vec<Featured> = (0..TEXTS[usize::from(quick)]).map(text).map(Featured::new).collect();
        for rule in rules {
            let fingerprints: Vec<u64> = texts.iter().map(|text| text.fingerprint(*rule)).collect();
            let mut of_length = Length {
                way: "length",
                rule: rule.name(),
                words: length,
                pairs: (texts.len() * (texts.len() - 1) / 2) as u64,
                found: [0; 3],
                texts: [0; 3],
            };
            let mut in_any = vec![[false; 3]; texts.len()];
            for (a, one) in fingerprints.iter().enumerate() {
                for (b, other) in fingerprints.iter().enumerate().skip(a + 1) {
                    let distance = (one ^ other).count_ones();
                    if distance > DISTANCES[2] {
                        continue;
                    }
                    let (features, others) = (&texts[a].features, &texts[b].features);
                    let common = features.intersection(others).count();
                    if 2 * common >= features.len() + others.len() - common {
                        continue;
                    }
                    for (place, _) in DISTANCES.iter().enumerate().filter(|(_, k)| distance <= **k) {
                        of_length.found[place] += 1;
                        in_any[a][place] = true;
                        in_any[b][place] = true;
                    }
                }
            }
            of_length.texts = std::array::from_fn(|place| in_any.iter().filter(|any| any[place]).count());
            all.push(of_length);
        }
    }
    all
}
