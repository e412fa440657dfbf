//! Definitions of white space. Systems differ in it, so every value made of tokens depends on it.

/// The characters that separate tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Space {
    /// Python's `str.split()`: Unicode's white space, and the separators U+001C to U+001F.
    #[default]
    Unicode,
    /// Java's `Character.isWhitespace`, as in Lucene's `WhitespaceTokenizer`: no-break spaces do not separate. A token
    /// is cut after 255 UTF-16 units.
    Lucene,
    /// Java's `StringTokenizer`: space, tab, line feed, carriage return, form feed.
    StringTokenizer,
}

/// UTF-16 units of Lucene's longest token.
const LUCENE_LONGEST: usize = 255;

impl Space {
    /// Calls `take` with every token.
    #[inline]
    pub(super) fn each(self, text: &str, mut take: impl FnMut(&str)) {
        match self {
            Self::Unicode => pieces(text, take),
            Self::StringTokenizer => {
                text.split([' ', '\t', '\n', '\r', '\u{c}']).filter(|token| !token.is_empty()).for_each(take);
            }
            Self::Lucene => {
                for token in text.split(is_java_space).filter(|token| !token.is_empty()) {
                    cut(token, &mut take);
                }
            }
        }
    }
}

/// Calls `take` with every piece between white space as Python defines it. It works on bytes and decodes only what is
/// not ASCII: three times as fast as a split by characters.
#[inline]
pub(super) fn pieces(text: &str, mut take: impl FnMut(&str)) {
    let mut start = 0;
    let mut place = 0;
    while let Some(&byte) = text.as_bytes().get(place) {
        let length = if byte.is_ascii() {
            usize::from(is_ascii_space(byte))
        } else {
            // Four of the 128 possible first bytes of longer characters begin a white space.
            let character = matches!(byte, 0xc2 | 0xe1..=0xe3).then(|| text.get(place..)?.chars().next()).flatten();
            character.filter(|c| is_python_space(*c)).map_or(0, char::len_utf8)
        };
        if length > 0 {
            if start < place {
                take(text.get(start..place).unwrap_or_default());
            }
            start = place + length;
        }
        place += length.max(1);
    }
    if start < text.len() {
        take(text.get(start..).unwrap_or_default());
    }
}

/// Whether an ASCII character is white space in Python.
#[inline]
pub(super) fn is_ascii_space(byte: u8) -> bool {
    byte <= b' ' && matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ')
}

/// Whether Python's `str.isspace` accepts the character.
#[inline]
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Whether Java's `Character.isWhitespace` accepts the character.
fn is_java_space(c: char) -> bool {
    is_python_space(c) && !matches!(c, '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}')
}

/// Cuts a token that is too long for Lucene.
fn cut(token: &str, take: &mut impl FnMut(&str)) {
    if token.len() < LUCENE_LONGEST {
        return take(token);
    }
    let (mut start, mut units) = (0, 0);
    for (place, c) in token.char_indices() {
        units += c.len_utf16();
        if units >= LUCENE_LONGEST {
            let end = place + c.len_utf8();
            take(token.get(start..end).unwrap_or_default());
            (start, units) = (end, 0);
        }
    }
    if units > 0 {
        take(token.get(start..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(space: Space, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        space.each(text, |token| found.push(token.to_owned()));
        found
    }

    #[test]
    fn each_system_has_its_own() {
        // Every character that one of them takes for white space, followed by a letter.
        let all = "a\tb\nc\u{b}d\u{c}e\rf\u{1c}g\u{1f}h \
                   i\u{85}j\u{a0}k\u{2003}l\u{2007}m\u{202f}n\u{2028}o\u{3000}p\u{200b}q";
        let count = |space| tokens(space, all).len();
        assert_eq!(count(Space::Unicode), 16);
        assert_eq!(count(Space::Lucene), 12);
        assert_eq!(count(Space::StringTokenizer), 6);
    }

    #[test]
    fn lucene_cuts_long_tokens() {
        let lengths =
            |text: &str| tokens(Space::Lucene, text).iter().map(|token| token.encode_utf16().count()).collect();
        let of = |text: &str| -> Vec<usize> { lengths(text) };
        assert_eq!(of(&"x".repeat(255)), [255]);
        assert_eq!(of(&"x".repeat(256)), [255, 1]);
        assert_eq!(of(&"é".repeat(600)), [255, 255, 90]);
        // A surrogate pair is not split: 254 units and a pair are one token of 256.
        assert_eq!(of(&format!("{}😀x", "x".repeat(254))), [256, 1]);
    }

    proptest! {
        #[test]
        fn pieces_are_those_of_a_split(text in "[a \
        \u{1c}\t\r\u{85}\u{a0}é\u{1680}\u{2003}\u{200b}\u{2028}\u{205f}\u{3000}狐😀]{0,30}") {
            let expected: Vec<&str> = text.split(is_python_space).filter(|token| !token.is_empty()).collect();
            prop_assert_eq!(tokens(Space::Unicode, &text), expected);
        }
    }

    /// No white space begins with a byte other than those checked.
    #[test]
    fn first_bytes_of_white_space() {
        let all = (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| is_python_space(*c));
        let mut count = 0;
        for c in all {
            assert_eq!(tokens(Space::Unicode, &format!("a{c}b")), ["a", "b"], "{c:?}");
            count += 1;
        }
        assert_eq!(count, 29);
    }
}
