//! Words of `word/tag`, weighted by their frequency and hashed by BKDR, in the arithmetic of Java.
//!
//! The fingerprints depend on these quirks of the Java program:
//!
//! * The text is split at single spaces. Empty pieces at the end are dropped; others count as pieces.
//! * A piece without a slash is no word, but counts in the number of pieces. A piece that contains "wn" or "wd"
//!   anywhere is taken for punctuation and does not count; so "town/n" is no word. Its word is looked up all the same.
//! * Each occurrence of a word adds its frequency again.
//! * The remainder modulo 2^f is computed with a double, so hashes of long words lose their low bits.
//! * The remainder is then cast to 32 bits, and its binary digits are remainders of a signed division. Those of a
//!   negative number are 0 and -1, never 1.

use std::collections::HashMap;

use crate::document::Document;
use crate::enough::Enough;
use crate::hash;

const SEED: i64 = 31;

/// Returns the fingerprint of `width` bits. Tokens are pieces.
pub(super) fn fingerprint(document: Document<'_>, width: u32, enough: &mut Enough) -> u128 {
    let pieces: Vec<&str> = match document {
        Document::Text(text) => pieces(text),
        Document::Tokens(tokens) => tokens.iter().map(String::as_str).collect(),
    };
    let frequencies = frequencies(&pieces);
    // One sum for each digit, the most significant first.
    let mut sums = vec![0.0; width as usize];
    for word in pieces.iter().filter_map(|piece| word(piece)) {
        let Some(weight) = frequencies.get(word) else { continue };
        enough.add(|| hash::of_text(word));
        let number = remainder(bkdr(word), width);
        for (sum, place) in sums.iter_mut().zip((0..width).rev()) {
            let one = number >= 0 && place < 32 && number >> place & 1 == 1;
            *sum += if one { *weight } else { -weight };
        }
    }
    sums.iter().fold(0, |bits, sum| bits << 1 | u128::from(*sum > 0.0))
}

/// Splits like Java's `split(" ")`.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces: Vec<&str> = text.split(' ').collect();
    // A text without any space is one piece, even if it is empty.
    if pieces.len() > 1 {
        let kept = pieces.iter().rposition(|piece| !piece.is_empty()).map_or(0, |last| last + 1);
        pieces.truncate(kept);
    }
    pieces
}

/// Returns the word of a piece.
fn word(piece: &str) -> Option<&str> {
    piece.split_once('/').map(|(word, _)| word)
}

/// Returns the frequency of each word, as a share of all pieces that are not taken for punctuation.
#[allow(clippy::cast_precision_loss, reason = "no text has 2^53 words")]
fn frequencies<'a>(pieces: &[&'a str]) -> HashMap<&'a str, f64> {
    let mut counts: HashMap<&str, f64> = HashMap::new();
    let mut punctuation = 0;
    for piece in pieces {
        let Some(word) = word(piece) else { continue };
        if piece.contains("wn") || piece.contains("wd") {
            punctuation += 1;
        } else {
            *counts.entry(word).or_default() += 1.0;
        }
    }
    let all = (pieces.len() - punctuation) as f64;
    counts.values_mut().for_each(|count| *count /= all);
    counts
}

/// Returns the hash of a word over UTF-16 units, with overflow, and its absolute value (the least number is its own).
fn bkdr(word: &str) -> i64 {
    let hash = word.encode_utf16().fold(0_i64, |hash, unit| hash.wrapping_mul(SEED).wrapping_add(unit.into()));
    hash.wrapping_abs()
}

/// Returns the hash modulo 2^f as a double, cast to 64 bits and then to 32.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as Java rounds and casts")]
fn remainder(hash: i64, width: u32) -> i32 {
    (hash as f64 % 2_f64.powi(width.cast_signed())) as i64 as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_as_java_splits() {
        for (text, expected) in
            [("", &[""][..]), (" ", &[]), ("   ", &[]), (" a", &["", "a"]), ("a  b  ", &["a", "", "b"])]
        {
            assert_eq!(pieces(text), expected, "{text:?}");
        }
    }

    /// The hashes of words that the Java classes computed.
    #[test]
    fn every_word() {
        let mut seen = 0;
        for line in include_str!("../../tests/vectors/bkdr_simhash.ndjson").lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let Some(words) = line["words"].as_array() else { continue };
            let pieces = pieces(line["content"].as_str().unwrap());
            let frequencies = frequencies(&pieces);
            for word in words {
                let text = word["word"].as_str().unwrap();
                let number = |key: &str| word[key].as_i64().unwrap();
                assert_eq!(bkdr(text).to_string(), word["bkdr"].as_str().unwrap(), "{text}");
                assert_eq!(i64::from(remainder(bkdr(text), 8)), number("mod2_8"), "{text}");
                assert_eq!(i64::from(remainder(bkdr(text), 32)), number("int_of_mod2_32"), "{text}");
                let weight = frequencies.get(text).copied().unwrap_or(-1.0);
                assert!((weight - word["weight"].as_f64().unwrap()).abs() < 1e-15, "{text}");
                seen += 1;
            }
        }
        assert_eq!(seen, 24);
    }

    #[test]
    fn quirks() {
        assert_eq!(bkdr("ab"), 97 * 31 + 98);
        assert_eq!(remainder(i64::MIN, 64), 0);
        assert!(remainder((1 << 31) + 5, 32) < 0);
        // Punctuation by its tag or by accident. Known from another piece, it counts as a word.
        assert!(frequencies(&["town/n", "a/wd"]).is_empty());
        let of = |text: &str, width| fingerprint(text.into(), width, &mut Enough::new(0));
        assert_eq!(of("a/n a/wd", 8), of("a/n", 8));
        assert_eq!(of("", 64), 0);
    }
}
