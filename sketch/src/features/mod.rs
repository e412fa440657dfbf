//! Features: the pieces of a text that a sketch is made of.
//!
//! | name | features | of a text that is too short |
//! |---|---|---|
//! | `chars:N` | every N characters (code points) in a row | the whole text, even an empty one |
//! | `words:N` | every N white-space tokens in a row, joined by one space (shingles) | none |
//! | `tokens` | every white-space token, `words:1` | none |
//! | `unicode:N` | every N words of Unicode's Annex 29 in a row, joined by one space | all words as one, if any |
//! | `jieba:N` | the same with words that jieba finds in Chinese text | all words as one, if any |
//! | `datatrove:N` | every N words that datatrove finds in English text in a row, joined by one space | none |
//!
//! A feature that occurs again is returned again; [`crate::Weights`] decides what that means. Ready-made tokens are
//! features as they are, whatever is chosen here.

mod datatrove;
mod space;
mod words;

use std::fmt;
use std::str::FromStr;

use crate::document::Document;
use crate::error::{Error, Result};
use crate::hash;
pub use space::Space;

/// Longest n-gram.
const LONGEST: usize = 1000;

/// Kind of the features of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// Every N characters in a row.
    Chars(usize),
    /// Every N white-space tokens in a row.
    Words(usize),
    /// White-space tokens.
    Tokens,
    /// Every N words of Unicode's Annex 29 in a row.
    Unicode(usize),
    /// Every N words of jieba's segmentation in a row.
    Jieba(usize),
    /// Every N words in a row that datatrove finds in English text, which it simplifies first: lower case, no accents,
    /// no punctuation, numbers as 0.
    Datatrove(usize),
    /// Ready-made tokens of the caller. A text is split at white space.
    Given,
}

impl Features {
    /// Returns one spelling for features that have several.
    pub(crate) fn canonical(self) -> Self {
        if self == Self::Words(1) { Self::Tokens } else { self }
    }

    /// Returns the number of characters or words in a feature.
    #[must_use]
    pub fn length(self) -> usize {
        match self {
            Self::Chars(length)
            | Self::Words(length)
            | Self::Unicode(length)
            | Self::Jieba(length)
            | Self::Datatrove(length) => length,
            Self::Tokens | Self::Given => 1,
        }
    }
}

/// Splits texts into features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splitter {
    /// Kind of the features.
    pub features: Features,
    /// Definition of white space.
    pub space: Space,
}

impl Splitter {
    /// Calls `take` with every feature, in the order of the text.
    pub fn each(&self, document: Document<'_>, mut take: impl FnMut(&str)) {
        let text = match document {
            Document::Text(text) => text,
            Document::Tokens(tokens) => return tokens.iter().for_each(|token| take(token)),
        };
        match self.features {
            Features::Chars(length) => chars(text, length, take),
            Features::Tokens | Features::Given | Features::Words(1) => self.space.each(text, take),
            Features::Words(length) => {
                let mut shingles = Shingles::new(length);
                self.space.each(text, |word| shingles.push(word, &mut take));
            }
            Features::Unicode(length) => {
                let mut shingles = Shingles::new(length);
                words::unicode(text, |word| shingles.push(word, &mut take));
                shingles.rest(take);
            }
            Features::Jieba(length) => {
                let mut shingles = Shingles::new(length);
                words::jieba(text, |word| shingles.push(word, &mut take));
                shingles.rest(take);
            }
            Features::Datatrove(length) => {
                let mut shingles = Shingles::new(length);
                datatrove::words(text, |word| shingles.push(word, &mut take));
            }
        }
    }

    /// Calls `take` with the native hash of every feature, in the order of the text: the XXH3 of one piece of text, or
    /// the folded hashes of several words.
    pub fn hashes(&self, document: Document<'_>, mut take: impl FnMut(u64)) {
        match (document, self.features) {
            (Document::Text(text), Features::Words(length)) => {
                let mut last = Last::new(length);
                self.space.each(text, |word| last.push(hash::of_text(word), &mut take));
            }
            (Document::Text(text), Features::Unicode(length)) => {
                let mut last = Last::new(length);
                words::unicode(text, |word| last.push(hash::of_text(word), &mut take));
                last.rest(take);
            }
            (Document::Text(text), Features::Jieba(length)) => {
                let mut last = Last::new(length);
                words::jieba(text, |word| last.push(hash::of_text(word), &mut take));
                last.rest(take);
            }
            (Document::Text(text), Features::Datatrove(length)) => {
                let mut last = Last::new(length);
                datatrove::words(text, |word| last.push(hash::of_text(word), &mut take));
            }
            _ => self.each(document, |feature| take(hash::of_text(feature))),
        }
    }
}

/// Calls `take` with every run of `length` characters, or with the whole text if it is shorter.
fn chars(text: &str, length: usize, mut take: impl FnMut(&str)) {
    let ends = text.char_indices().map(|(place, _)| place).chain([text.len()]);
    let mut any = false;
    for ((start, _), end) in text.char_indices().zip(ends.skip(length)) {
        any = true;
        take(text.get(start..end).unwrap_or_default());
    }
    if !any {
        take(text);
    }
}

/// The last words, as one text.
struct Shingles {
    length: usize,
    text: String,
    /// Offset in the text at which each word begins.
    starts: std::collections::VecDeque<usize>,
    any: bool,
}

impl Shingles {
    fn new(length: usize) -> Self {
        Self { length, text: String::new(), starts: std::collections::VecDeque::new(), any: false }
    }

    fn push(&mut self, word: &str, take: &mut impl FnMut(&str)) {
        /// Length from which on text that is no longer needed is cut off.
        const MUCH: usize = 1 << 14;
        if self.starts.len() == self.length {
            self.starts.pop_front();
        }
        let first = self.starts.front().copied().unwrap_or(self.text.len());
        if first > MUCH {
            self.text.drain(..first);
            self.starts.iter_mut().for_each(|start| *start -= first);
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.starts.push_back(self.text.len());
        self.text.push_str(word);
        if self.starts.len() == self.length {
            self.any = true;
            take(self.joined());
        }
    }

    /// Calls `take` with the words there are, if there were never enough for a shingle.
    fn rest(self, mut take: impl FnMut(&str)) {
        if !self.any && !self.starts.is_empty() {
            take(self.joined());
        }
    }

    fn joined(&self) -> &str {
        self.starts.front().and_then(|start| self.text.get(*start..)).unwrap_or_default()
    }
}

/// The folded hashes of the last words: of the last one, of the last two and so on.
struct Last {
    folded: Vec<u64>,
    count: usize,
}

impl Last {
    fn new(length: usize) -> Self {
        Self { folded: vec![0; length], count: 0 }
    }

    #[inline]
    fn push(&mut self, word: u64, take: &mut impl FnMut(u64)) {
        let mut shorter = word;
        // No fold waits for another one: each is computed from the previous state.
        for (place, folded) in self.folded.iter_mut().enumerate() {
            let longer = if place == 0 { word } else { hash::with(shorter, word) };
            shorter = std::mem::replace(folded, longer);
        }
        self.count += 1;
        if self.count >= self.folded.len() {
            take(self.folded.last().copied().unwrap_or_default());
        }
    }

    /// Calls `take` with the hash of the words there are, if there were never enough for a shingle.
    fn rest(self, mut take: impl FnMut(u64)) {
        if (1..self.folded.len()).contains(&self.count) {
            take(self.folded.get(self.count - 1).copied().unwrap_or_default());
        }
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chars(length) => write!(f, "chars:{length}"),
            Self::Words(length) => write!(f, "words:{length}"),
            Self::Tokens => f.write_str("tokens"),
            Self::Given => f.write_str("given"),
            Self::Unicode(length) => write!(f, "unicode:{length}"),
            Self::Jieba(length) => write!(f, "jieba:{length}"),
            Self::Datatrove(length) => write!(f, "datatrove:{length}"),
        }
    }
}

impl FromStr for Features {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, length) = text.split_once(':').unwrap_or((text, "1"));
        let number = length.parse::<usize>().ok().filter(|length| (1..=LONGEST).contains(length));
        let length =
            || number.ok_or_else(|| Error::new(format!("'{text}': the number after the colon is from 1 to {LONGEST}")));
        Ok(match name {
            "chars" => Self::Chars(length()?),
            "words" => Self::Words(length()?),
            "tokens" if name == text => Self::Tokens,
            "unicode" => Self::Unicode(length()?),
            "jieba" if cfg!(feature = "jieba") => Self::Jieba(length()?),
            "datatrove" => Self::Datatrove(length()?),
            "jieba" => return Err(Error::new("this program was built without Chinese segmentation (feature jieba)")),
            _ => {
                return Err(Error::new(format!(
                    "'{text}' is not a kind of features; the kinds are chars:N, words:N, tokens, unicode:N, jieba:N and \
                     datatrove:N"
                )));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn features(name: &str, text: &str) -> Vec<String> {
        let splitter = Splitter { features: name.parse().unwrap(), space: Space::Unicode };
        let mut found = Vec::new();
        splitter.each(text.into(), |feature| found.push(feature.to_owned()));
        found
    }

    #[test]
    fn every_kind() {
        assert_eq!(features("chars:3", "aé😀x"), ["aé😀", "é😀x"]);
        assert_eq!(features("tokens", " a\u{3000}b,\n c "), ["a", "b,", "c"]);
        assert_eq!(features("words:2", " a\tb,  c "), ["a b,", "b, c"]);
        assert_eq!(features("unicode:1", "can't 3.14 stop (now)"), ["can't", "3.14", "stop", "now"]);
        assert_eq!(features("unicode:2", "The fox, 狐"), ["The fox", "fox 狐"]);
        #[cfg(feature = "jieba")]
        assert_eq!(features("jieba:1", "我们正在研究，网页 检测abc"), ["我们", "正在", "研究", "网页", "检测", "abc"]);
    }

    #[test]
    fn texts_that_are_too_short() {
        assert_eq!(features("chars:4", "abc"), ["abc"]);
        assert_eq!(features("chars:4", ""), [""]);
        assert_eq!(features("words:5", "a b c d"), [""; 0]);
        assert_eq!(features("unicode:5", "a b"), ["a b"]);
        assert_eq!(features("unicode:2", " ,.- "), [""; 0]);
        assert_eq!(features("tokens", " \n"), [""; 0]);
    }

    #[test]
    fn names() {
        for name in ["chars:4", "words:5", "tokens", "unicode:2", "jieba:1", "datatrove:5"] {
            assert_eq!(name.parse::<Features>().map(|features| features.to_string()), Ok(name.to_owned()));
        }
        assert_eq!("unicode".parse(), Ok(Features::Unicode(1)));
        for name in ["", "char", "chars:0", "chars:", "words:x", "tokens:2", "chars:1001", "words:1:2"] {
            assert!(name.parse::<Features>().is_err(), "{name}");
        }
    }

    proptest! {
        /// Compares with the words themselves, and hashes with hashes of features.
        #[test]
        fn shingles_are_words_in_a_row(words in prop::collection::vec("[a-zé]{1,900}", 0..40), length in 1_usize..6) {
            let text = words.join("  ");
            let expected: Vec<String> = words.windows(length).map(|words| words.join(" ")).collect();
            prop_assert_eq!(&features(&format!("words:{length}"), &text), &expected);
            let splitter = Splitter { features: Features::Words(length), space: Space::Unicode };
            let mut hashes = Vec::new();
            splitter.hashes(text.as_str().into(), |hash| hashes.push(hash));
            let of = |words: &[String]| words.iter().map(|word| hash::of_text(word)).reduce(hash::with).unwrap();
            prop_assert_eq!(hashes, words.windows(length).map(of).collect::<Vec<_>>());
        }

        #[test]
        fn characters_in_a_row(text in "\\PC{0,30}", length in 1_usize..6) {
            let all: Vec<char> = text.chars().collect();
            let mut expected: Vec<String> = all.windows(length).map(|piece| piece.iter().collect()).collect();
            if expected.is_empty() {
                expected.push(text.clone());
            }
            prop_assert_eq!(features(&format!("chars:{length}"), &text), expected);
        }
    }
}
