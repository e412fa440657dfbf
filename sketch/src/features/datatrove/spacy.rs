//! spaCy's tokenizer for English (3.8.18), for words of simplified texts: no capitals, no digit but 0, hardly any
//! punctuation. So its rules for URLs, abbreviations, times and emoticons never apply, and what remains is:
//! contractions without their apostrophes, symbols, currencies and units after a number.

use super::contractions::CONTRACTIONS;
use super::ranges::contains;
use super::tables::{CURRENCY, ICONS, LETTERS, PREFIXES, UNITS};

/// Words that stay whole although they begin with a symbol, and the ends of the tokens that they would be otherwise.
const WHOLE: [(&str, &[usize]); 2] = [("‘s", &[3, 4]), ("<space>", &[1, 6, 7])];
/// Bytes of the longest unit, and of a zero before it.
const LONGEST_UNIT: usize = 17;

/// The tokenizer.
#[derive(Debug, Default)]
pub(super) struct Tokenizer {
    /// Ends of the tokens of a chunk.
    ends: Vec<usize>,
    /// Ends of its suffixes, the last one first.
    suffixes: Vec<usize>,
}

impl Tokenizer {
    /// Calls `take` with the tokens of a chunk, which is text between white space.
    pub(super) fn each(&mut self, chunk: &str, take: &mut impl FnMut(&str)) {
        self.ends.clear();
        self.suffixes.clear();
        if chunk.bytes().all(|byte| byte.is_ascii_lowercase()) {
            match contraction(chunk) {
                None => return take(chunk),
                Some(cuts) => {
                    self.ends.extend(cuts);
                    self.ends.push(chunk.len());
                }
            }
        } else {
            self.split(chunk);
        }
        let (mut start, mut ends) = (0, self.ends.as_slice());
        while let [end, rest @ ..] = ends {
            // Where such tokens came about in another way, they are joined again.
            let is_whole = |(word, parts): &&(&str, &[usize])| {
                let parts = parts.iter().map(|part| start + part);
                chunk.get(start..).is_some_and(|text| text.starts_with(word))
                    && ends.iter().copied().take(parts.len()).eq(parts)
            };
            let end = WHOLE.iter().find(is_whole).map_or(*end, |(word, _)| start + word.len());
            take(chunk.get(start..end).unwrap_or_default());
            start = end;
            ends = rest;
            while let [passed, rest @ ..] = ends
                && *passed <= end
            {
                ends = rest;
            }
        }
    }

    /// Splits prefixes and suffixes off until nothing changes, then what remains.
    fn split(&mut self, chunk: &str) {
        let (mut start, mut end) = (0, chunk.len());
        let at = |start: usize, end: usize| chunk.get(start..end).unwrap_or_default();
        while start < end && !is_special(at(start, end)) {
            let before = (start, end);
            let prefix = prefix(at(start, end));
            if prefix > 0 {
                start += prefix;
                self.ends.push(start);
                if start < end && is_special(at(start, end)) {
                    break;
                }
            }
            let suffix = suffix(at(start, end));
            if suffix > 0 {
                self.suffixes.push(end);
                end -= suffix;
            }
            if (start, end) == before {
                break;
            }
        }
        self.infixes(at(start, end), start);
        self.ends.extend(self.suffixes.drain(..).rev());
    }

    /// Splits what is left without prefixes and suffixes.
    fn infixes(&mut self, text: &str, offset: usize) {
        if text.is_empty() {
            return;
        }
        let end = offset + text.len();
        if let Some(cuts) = contraction(text) {
            self.ends.extend(cuts.iter().map(|cut| offset + cut));
        } else if !is_special(text) {
            let mut before = None;
            for (place, c) in text.char_indices() {
                if place > 0 && is_infix(before, c, || text.get(place + c.len_utf8()..)?.chars().next()) {
                    let place = offset + place;
                    if self.ends.last() != Some(&place) {
                        self.ends.push(place);
                    }
                    self.ends.push(place + c.len_utf8());
                }
                before = Some(c);
            }
        }
        if self.ends.last() != Some(&end) {
            self.ends.push(end);
        }
    }
}

/// Whether a rule names the word itself.
fn is_special(word: &str) -> bool {
    WHOLE.iter().any(|(whole, _)| *whole == word) || contraction(word).is_some()
}

/// Returns where a contraction is split.
fn contraction(word: &str) -> Option<&'static [usize]> {
    let (first, last) = (word.as_bytes().first()?, word.as_bytes().last()?);
    if word.len() > 10 || !b"acdghimnostwy".contains(first) || !b"adelmst".contains(last) {
        return None;
    }
    let place = CONTRACTIONS.binary_search_by_key(&word, |(word, _)| word).ok()?;
    CONTRACTIONS.get(place).map(|(_, cuts)| *cuts)
}

/// Returns the length of the prefix of a text, one character at most.
fn prefix(text: &str) -> usize {
    text.chars().next().filter(|c| is_symbol(*c) || contains(CURRENCY, *c)).map_or(0, char::len_utf8)
}

/// Returns the length of the suffix of a text.
fn suffix(text: &str) -> usize {
    let Some(last) = text.chars().next_back() else { return 0 };
    let after_number = |length: usize| text.get(..text.len() - length).is_some_and(|before| before.ends_with('0'));
    if text.bytes().rev().take(LONGEST_UNIT).any(|byte| byte == b'0') {
        let unit = UNITS.iter().filter(|unit| text.ends_with(**unit)).map(|unit| unit.len());
        if let Some(length) = unit.filter(|length| after_number(*length)).max() {
            return length;
        }
    }
    let length = last.len_utf8();
    let is_suffix = is_symbol(last) && !matches!(last, '=' | '§') || contains(CURRENCY, last) && after_number(length);
    if is_suffix { length } else { 0 }
}

/// Whether a character is split off wherever a word begins with it.
fn is_symbol(c: char) -> bool {
    !matches!(c, 'a'..='z' | '0') && (contains(ICONS, c) || PREFIXES.contains(c))
}

/// Whether a character within a word is split off.
fn is_infix(before: Option<char>, c: char, after: impl FnOnce() -> Option<char>) -> bool {
    match c {
        '<' | '=' | '>' => {
            before.is_some_and(|c| c == '0' || contains(LETTERS, c)) && after().is_some_and(|c| contains(LETTERS, c))
        }
        _ => !c.is_ascii() && contains(ICONS, c),
    }
}
