//! MD5 hashes of features, as the two Python packages compute them.

use md5::{Digest, Md5};
use unicode_general_category::{GeneralCategory as Category, get_general_category};

use crate::document::Document;
use crate::features::Features;

/// Returns the characters that the package `simhash` uses: the matches of `[\w\u4e00-\u9fcc]+` in the lower-case text,
/// joined.
pub(super) fn letters(document: Document<'_>, features: Features) -> Option<String> {
    match (document, features) {
        (Document::Text(text), Features::Chars(_)) => {
            Some(text.to_lowercase().chars().filter(|c| is_word(*c)).collect())
        }
        _ => None,
    }
}

/// Whether Python's `\w` matches: letters, numbers and the underscore, but no combining marks.
fn is_word(c: char) -> bool {
    use Category::{
        DecimalNumber, LetterNumber, LowercaseLetter, ModifierLetter, OtherLetter, OtherNumber, TitlecaseLetter,
        UppercaseLetter,
    };
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(
        get_general_category(c),
        UppercaseLetter
            | LowercaseLetter
            | TitlecaseLetter
            | ModifierLetter
            | OtherLetter
            | DecimalNumber
            | LetterNumber
            | OtherNumber
    )
}

/// Returns the last bytes of the MD5, as many as the fingerprint has, big-endian.
pub(super) fn hash(feature: &str, width: u32) -> u128 {
    md5(feature) & (u128::MAX >> (128 - width))
}

/// Returns the first eight bytes of the MD5, big-endian.
pub(super) fn first_half(feature: &str) -> u128 {
    md5(feature) >> 64
}

fn md5(feature: &str) -> u128 {
    u128::from_be_bytes(Md5::digest(feature.as_bytes()).into())
}
