//! `simplify_text` of datatrove with its default configuration: lower case, numbers become 0, punctuation becomes
//! space, and letters lose their accents.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

use super::ranges::contains;
use super::tables::PUNCTUATION;
use crate::normalise::{ascii_length, lower};

/// Returns the simplified text. All white space is spaces; several may follow each other.
pub(super) fn simplified(text: &str) -> String {
    let spaced = spaced(&lower(text));
    if spaced.is_ascii() { spaced } else { without_accents(&spaced) }
}

/// Replaces numbers by 0, and punctuation, control characters and white space by spaces.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(&byte) = rest.as_bytes().first() {
        let length = match byte {
            b'a'..=b'z' => {
                let letters = rest.bytes().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(rest.len());
                spaced.push_str(rest.get(..letters).unwrap_or_default());
                letters
            }
            b'0'..=b'9' | 0x80.. => {
                let length = number(rest);
                match rest.chars().next() {
                    _ if length > 0 => spaced.push('0'),
                    Some(c) if !is_space(c) => spaced.push(c),
                    _ => spaced.push(' '),
                }
                if length > 0 { length } else { rest.chars().next().map_or(1, char::len_utf8) }
            }
            // All other characters of ASCII are controls, white space or punctuation; there are no capitals.
            _ => {
                spaced.push(' ');
                1
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    spaced
}

/// Whether a character beyond ASCII becomes a space.
fn is_space(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9f}') || c.is_whitespace() || contains(PUNCTUATION, c)
}

/// Returns the length of the number at the start: digits of any script, and digits after one separator.
fn number(text: &str) -> usize {
    let whole = digits(text);
    if whole == 0 {
        return 0;
    }
    let rest = text.get(whole..).unwrap_or_default();
    let separator = rest.chars().next().filter(|c| matches!(c, '.' | ',' | '،' | '٫' | '\u{2396}'..='\u{2398}'));
    let separator = separator.map_or(0, char::len_utf8);
    match digits(rest.get(separator..).unwrap_or_default()) {
        0 => whole,
        // Without a separator there are no digits left.
        fraction => whole + separator + fraction,
    }
}

/// Returns the length of the decimal digits at the start.
fn digits(text: &str) -> usize {
    text.char_indices().find(|(_, c)| !is_digit(*c)).map_or(text.len(), |(place, _)| place)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || !c.is_ascii() && get_general_category(c) == GeneralCategory::DecimalNumber
}

/// Decomposes characters (NFD) and removes non-spacing marks. ASCII characters neither change nor let marks pass.
fn without_accents(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (ascii, others) = rest.split_at(ascii_length(rest.as_bytes()));
        out.push_str(ascii);
        let length = others.bytes().position(|byte| byte.is_ascii()).unwrap_or(others.len());
        let (others, left) = others.split_at(length);
        out.extend(others.nfd().filter(|c| get_general_category(*c) != GeneralCategory::NonspacingMark));
        rest = left;
    }
    out
}
