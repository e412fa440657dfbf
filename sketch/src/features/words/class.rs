//! Classes of characters for the rules of words, for characters that need no tables of Unicode.

/// Class of a character in the rules of words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Letter,
    Digit,
    /// Joins letters and digits to a word, and makes no word alone.
    Underscore,
    /// Joins two letters.
    MidLetter,
    /// Joins two digits.
    MidNumber,
    /// Joins two letters or two digits.
    Mid,
    Other,
}

/// Returns the class of a character, or `None` for characters that need the tables of Unicode.
#[inline]
pub(super) fn class(c: char) -> Option<Class> {
    Some(match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        // Letters of Latin, Greek, Cyrillic and Arabic script that no rule treats differently.
        '\u{c0}'..='\u{d6}'
        | '\u{d8}'..='\u{f6}'
        | '\u{f8}'..='\u{2c1}'
        | '\u{391}'..='\u{3a1}'
        | '\u{3a3}'..='\u{3f5}'
        | '\u{400}'..='\u{481}'
        | '\u{48a}'..='\u{52f}'
        | '\u{620}'..='\u{64a}'
        | '\u{671}'..='\u{6d3}' => Class::Letter,
        '0'..='9' => Class::Digit,
        '_' => Class::Underscore,
        ':' => Class::MidLetter,
        ',' | ';' => Class::MidNumber,
        '\'' | '.' | '\u{2018}' | '\u{2019}' => Class::Mid,
        // Dashes, double quotation marks, the ellipsis.
        '\0'..='\x7f' | '\u{2013}' | '\u{2014}' | '\u{201c}' | '\u{201d}' | '\u{2026}' => Class::Other,
        _ => return None,
    })
}

/// Whether the character between two others is part of a word.
pub(super) fn joins(before: Class, middle: Class, after: Class) -> bool {
    match (before, after) {
        (Class::Letter, Class::Letter) => matches!(middle, Class::MidLetter | Class::Mid),
        (Class::Digit, Class::Digit) => matches!(middle, Class::MidNumber | Class::Mid),
        _ => false,
    }
}
