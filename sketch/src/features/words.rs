//! Words of a text in any script.

mod ascii;
mod class;

use unicode_segmentation::UnicodeSegmentation;

use self::class::{Class, class, joins};
use super::space::{is_ascii_space, pieces};
use crate::normalise::ascii_length;

/// Calls `take` with every word of Unicode's Annex 29 that contains a letter or a digit. White space always ends a
/// word, so the text is processed in pieces: stretches of ASCII, and pieces with other characters between white space.
#[inline]
pub(super) fn unicode(text: &str, mut take: impl FnMut(&str)) {
    let mut rest = text;
    while !rest.is_empty() {
        let length = ascii_length(rest.as_bytes());
        let space = |place: usize| rest.as_bytes().get(place).is_some_and(|byte| is_ascii_space(*byte));
        let end =
            if length == rest.len() { length } else { (0..length).rev().find(|place| space(*place)).unwrap_or(0) };
        let (stretch, others) = rest.split_at(end);
        ascii::words(stretch, &mut take);
        let length = (length - end..others.len()).find(|place| space(end + place)).unwrap_or(others.len());
        let (others, left) = others.split_at(length);
        pieces(others, |piece| {
            if !plain(piece, &mut take) {
                piece.unicode_words().for_each(&mut take);
            }
        });
        rest = left;
    }
}

/// Applies the rules WB5 to WB13b to ASCII and to the quotation marks and dashes of printed English, five times as fast
/// as tables for all of Unicode. Returns false, without calling `take`, if the piece contains any other character.
#[inline]
fn plain(piece: &str, take: &mut impl FnMut(&str)) -> bool {
    if !piece.is_ascii() && piece.chars().any(|c| class(c).is_none()) {
        return false;
    }
    // The word that has begun, the class of the character before, and where the word ends unless the next character
    // joins it.
    let mut word: Option<usize> = None;
    let mut alphanumeric = false;
    let mut before = Class::Other;
    let mut middle: Option<(Class, usize)> = None;
    let mut finish = |word: &mut Option<usize>, alphanumeric: &mut bool, end: usize| {
        if let Some(start) = word.take()
            && std::mem::take(alphanumeric)
        {
            take(piece.get(start..end).unwrap_or_default());
        }
    };
    for (place, c) in piece.char_indices() {
        let class = class(c).unwrap_or(Class::Other);
        match class {
            Class::Letter | Class::Digit | Class::Underscore => {
                if let Some((joint, end)) = middle.take()
                    && !joins(before, joint, class)
                {
                    finish(&mut word, &mut alphanumeric, end);
                }
                word.get_or_insert(place);
                alphanumeric |= class != Class::Underscore;
                before = class;
            }
            Class::MidLetter | Class::MidNumber | Class::Mid if word.is_some() && middle.is_none() => {
                middle = Some((class, place));
            }
            _ => {
                let end = middle.take().map_or(place, |(_, end)| end);
                finish(&mut word, &mut alphanumeric, end);
            }
        }
    }
    finish(&mut word, &mut alphanumeric, middle.map_or(piece.len(), |(_, end)| end));
    true
}

/// Calls `take` with every word that jieba finds and that contains a letter or a digit. Its model finds words that are
/// not in the dictionary.
#[cfg(feature = "jieba")]
pub(super) fn jieba(text: &str, take: impl FnMut(&str)) {
    use std::sync::OnceLock;
    static DICTIONARY: OnceLock<jieba_rs::Jieba> = OnceLock::new();
    let words = DICTIONARY.get_or_init(jieba_rs::Jieba::new).cut(text, true);
    words.into_iter().map(|token| token.word).filter(|word| word.contains(char::is_alphanumeric)).for_each(take);
}

/// Never called: the name of these features is rejected in such a build.
#[cfg(not(feature = "jieba"))]
pub(super) fn jieba(_: &str, _: impl FnMut(&str)) {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        // The pieces live as long as the text.
        unicode(text, |word| {
            let start = word.as_ptr().addr() - text.as_ptr().addr();
            found.push(&text[start..start + word.len()]);
        });
        found
    }

    #[test]
    fn letters_of_other_scripts() {
        for c in (0x80..=0xffff).filter_map(char::from_u32).filter(|c| class(*c) == Some(Class::Letter)) {
            for text in [format!("{c}"), format!("a{c}1{c}{c}"), format!("{c}.{c}:{c}'a"), format!("_{c}_")] {
                assert_eq!(text.unicode_words().collect::<Vec<_>>(), [&text], "{c:?}");
            }
        }
    }

    proptest! {
        /// The fast paths for ASCII and for pieces give the same words.
        #[test]
        fn as_the_library_has_it(text in "[a-c1-3_'.,:;é狐\u{301} \
        \n-]{0,30}", printed in "[ab1_'.,:\u{2018}\u{2019}\u{2013}\u{2014}\u{201c}\u{201d}\u{2026} \
        ]{0,30}", any in "\\PC{0,30}", scripts in "[a1éя狐ياß_.,' \u{301}\u{200c}]{0,30}", ascii in "[ -~\n]{0,40}") {
            for text in [text, any, scripts, ascii, printed] {
                // Only Python takes U+001C to U+001F for white space; none of these texts contains them.
                let expected: Vec<&str> = text.split_whitespace().flat_map(|piece| piece.unicode_words()).collect();
                prop_assert_eq!(words(&text), expected);
            }
        }
    }
}
