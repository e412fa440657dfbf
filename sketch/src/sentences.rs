//! Keys of the longest sentences: a cheap way to find copies, exact if the sentences are unchanged.
//!
//! Long sentences are hardly ever written twice, and navigation, dates and the like are short. So pages that share a
//! long sentence are likely copies of each other or of a third page, whatever surrounds it. Search engines in China are
//! said to have used this.

use unicode_segmentation::UnicodeSegmentation;

use crate::document::Document;
use crate::hash;

/// Most sentences that a caller can ask for.
pub const MOST_SENTENCES: usize = 100;

/// Returns keys of the `wanted` longest sentences (at most [`MOST_SENTENCES`]), or of all if there are fewer, from the
/// longest to the shortest.
///
/// Sentences are those of Unicode's Annex 29, and a blank line ends a sentence as well. The words of a sentence are
/// joined by single spaces; the length of this text in characters counts, and the earlier of two equally long sentences
/// comes first. A sentence that repeats counts once. Of a run of more than 32 marks without a letter or a digit, only
/// the first 32 are kept. Ready-made tokens are sentences.
#[must_use]
pub fn sentences(document: Document<'_>, wanted: usize) -> Vec<u64> {
    let wanted = wanted.min(MOST_SENTENCES);
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut add = |sentence: &str| {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        let text = words.join(" ");
        let length = text.chars().count();
        // The place among the sentences kept so far, after all of the same length.
        let place = found.partition_point(|(other, _)| *other >= length);
        if length > 0 && place < wanted && !found.iter().any(|(_, other)| *other == text) {
            found.insert(place, (length, text));
            found.truncate(wanted);
        }
    };
    match document {
        Document::Text(text) => paragraphs(text).for_each(|paragraph| paragraph.unicode_sentences().for_each(&mut add)),
        Document::Tokens(tokens) => tokens.iter().for_each(|token| add(token)),
    }
    found.iter().map(|(_, text)| hash::of_text(text)).collect()
}

/// Most marks in a row that are kept. No text needs more, and the rules for the end of a sentence look at the whole run
/// again for each mark.
const MARKS: usize = 32;

/// Returns the text between blank lines, with single spaces for white space: Annex 29 would end a sentence at each line
/// feed.
fn paragraphs(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        let mut paragraph = String::new();
        let mut marks = 0;
        for line in lines.by_ref() {
            if line.trim().is_empty() {
                if !paragraph.is_empty() {
                    break;
                }
                continue;
            }
            for word in line.split_whitespace() {
                for c in word.chars() {
                    marks = if c.is_alphanumeric() { 0 } else { marks + 1 };
                    if marks <= MARKS {
                        paragraph.push(c);
                    }
                }
                if marks <= MARKS {
                    paragraph.push(' ');
                }
            }
        }
        (!paragraph.is_empty()).then_some(paragraph)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str, wanted: usize) -> Vec<u64> {
        sentences(text.into(), wanted)
    }

    fn of(sentences: &[&str]) -> Vec<u64> {
        sentences.iter().map(|sentence| hash::of_text(sentence)).collect()
    }

    #[test]
    fn the_longest_first() {
        let text = "Short one. This one is much longer, it is!\nAnd this\nis of middle length. 这是一句很长的中文句子吗？ Short \
                    one.";
        assert_eq!(
            keys(text, 3),
            of(&["This one is much longer, it is!", "And this is of middle length.", "这是一句很长的中文句子吗？"])
        );
        assert_eq!(keys(text, 9).len(), 4);
    }

    #[test]
    fn ties_and_repeats_and_nothing() {
        assert_eq!(keys("Bb. Aa. Bb.", 2), of(&["Bb.", "Aa."]));
        assert_eq!(keys("A heading\n\nA sentence.", 5), of(&["A sentence.", "A heading"]));
        assert_eq!(keys("", 3), [0; 0]);
        assert_eq!(keys(" \n\n ", 3), [0; 0]);
        assert_eq!(keys("One.", 0), [0; 0]);
        // Each of these took hours without the limit.
        for mark in [")", "\"", " ", ". ", ".)"] {
            assert_eq!(keys(&format!("One.{}", mark.repeat(500_000)), 1).len(), 1, "{mark:?}");
        }
        let tokens = ["x".to_owned(), "yy".to_owned()];
        assert_eq!(sentences(tokens.as_slice().into(), 1), of(&["yy"]));
    }
}
