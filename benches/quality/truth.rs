//! Which pairs of documents are right: the Jaccard similarity of their sets of five tokens in a row.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;

/// Tokens in a row.
const SHINGLE: usize = 5;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// What stands between white space; in a Chinese or Japanese text every character.
    Tokens,
    /// The same of letters and digits alone, in lower case.
    Letters,
    /// What stands between white space, in every text.
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

/// Two documents that have shingles in common.
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

/// All pairs with a Jaccard similarity of at least a tenth, by counting the shingles that they have in common.
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

/// Hashes of the shingles. A text of fewer tokens is one shingle; one without any has none.
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
