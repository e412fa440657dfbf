//! Right pairs of documents: the Jaccard similarity of their sets of five consecutive tokens.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;

/// Consecutive tokens of a shingle.
const SHINGLE: usize = 5;

/// The definition of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// Separated by white space; in a Chinese or Japanese text every character.
    Tokens,
    /// The same, with letters and digits only, in lower case.
    Letters,
    /// Separated by white space, in every text.
    Space,
}

impl Truth {
    pub(crate) const ALL: [Self; 3] = [Self::Tokens, Self::Letters, Self::Space];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens as they are written",
            Self::Letters => "lower case, without punctuation",
            Self::Space => "white-space tokens in Chinese and Japanese too",
        }
    }
}

/// Two documents with common shingles.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) inter: u64,
    pub(crate) union: u64,
}

impl Pair {
    pub(crate) fn jaccard(&self) -> f64 {
        self.inter as f64 / self.union as f64
    }
}

/// All pairs with a Jaccard similarity of at least a tenth, from the counts of their common shingles.
pub(crate) fn related(texts: &[String], truth: Truth) -> Vec<Pair> {
    let mut sizes = vec![0; texts.len()];
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (number, text) in texts.iter().enumerate() {
        for shingle in shingles(text, truth) {
            let holders = holders.entry(shingle).or_default();
            if holders.last() != Some(&number) {
                holders.push(number);
                sizes[number] += 1;
            }
        }
    }
    let mut common = vec![0_u64; texts.len() * texts.len()];
    for holders in holders.values() {
        for (place, a) in holders.iter().enumerate() {
            holders[place + 1..].iter().for_each(|b| common[a * texts.len() + b] += 1);
        }
    }
    let mut related = Vec::new();
    for a in 0..texts.len() {
        for b in a + 1..texts.len() {
            let inter = common[a * texts.len() + b];
            let union = sizes[a] + sizes[b] - inter;
            if inter > 0 && 10 * inter >= union {
                related.push(Pair { a, b, inter, union });
            }
        }
    }
    related
}

/// Hashes of the shingles. A text of fewer tokens is one shingle; a text without tokens has none.
fn shingles(text: &str, truth: Truth) -> Vec<u64> {
    let lower = text.to_lowercase();
    let spaced = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let text = if truth == Truth::Letters { lower.chars().map(spaced).collect() } else { text.to_owned() };
    let mut tokens: Vec<&str> = text.split_whitespace().collect();
    if truth != Truth::Space && is_unspaced(&text) {
        tokens = tokens.iter().flat_map(|token| token.split("")).filter(|token| !token.is_empty()).collect();
    }
    let hash = |tokens: &[&str]| {
        let mut hasher = DefaultHasher::new();
        tokens.hash(&mut hasher);
        hasher.finish()
    };
    if tokens.is_empty() { Vec::new() } else { tokens.windows(SHINGLE.min(tokens.len())).map(hash).collect() }
}

/// Whether a text is Chinese or Japanese: a quarter of its letters are ideographs or kana.
pub(crate) fn is_unspaced(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let unspaced = |c: &char| matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
    4 * text.chars().filter(unspaced).count() > letters
}
