//! Fingerprints in hexadecimal.

use fpstore::{AnyFingerprint, Fingerprint};

use super::place::excerpt;

/// Hexadecimal digits of a 64-bit word.
pub(super) const WORD: usize = 16;

/// Value of each hexadecimal digit; 255 for other bytes.
#[allow(clippy::indexing_slicing, reason = "done by the compiler, which would say so")]
const VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut i = 0;
    while i < 16 {
        values[b"0123456789abcdef"[i] as usize] = i as u8;
        values[b"0123456789ABCDEF"[i] as usize] = i as u8;
        i += 1;
    }
    values
};

/// Parses a fingerprint of exactly as many hexadecimal digits as it is wide, upper or lower case, with or without `0x`.
///
/// # Errors
///
/// If the text is anything else. The error is a sentence for people.
#[inline]
pub fn parse_hex<F: Fingerprint>(text: &[u8]) -> Result<F, String> {
    let digits = match text {
        [b'0', b'x' | b'X', rest @ ..] => rest,
        _ => text,
    };
    let (words, rest) = digits.as_chunks::<WORD>();
    let mut seen = 0;
    let fingerprint = F::from_words(|i| {
        let Some(word) = words.get(i) else { return 0 };
        let mut number = 0;
        for byte in word {
            let value = VALUES.get(usize::from(*byte)).copied().unwrap_or(255);
            seen |= value;
            number = number << 4 | u64::from(value & 15);
        }
        number
    });
    if seen > 15 || words.len() != F::WORDS || !rest.is_empty() {
        return Err(complain(text, digits, F::WIDTH));
    }
    Ok(fingerprint)
}

/// Describes the error in a fingerprint.
#[cold]
fn complain(text: &[u8], digits: &[u8], width: u32) -> String {
    let expected = format!("expected {} hexadecimal digits (a {width}-bit fingerprint)", width / 4);
    if digits.iter().all(u8::is_ascii_hexdigit) {
        let found = digits.len();
        let other = AnyFingerprint::WIDTHS.into_iter().find(|&other| other as usize == 4 * found).map_or(
            String::new(),
            |other| {
                format!(
                    "; {found} digits are a {other}-bit fingerprint, which a store takes that is created with --width \
                     {other}"
                )
            },
        );
        return format!("{expected}, found {found} in {}{other}", excerpt(text));
    }
    format!("{expected}, found {}{}", excerpt(text), separator_hint(text))
}

/// Hints at the most common mistake: columns separated by something other than a TAB.
pub(super) fn separator_hint(text: &[u8]) -> &'static str {
    if text.iter().any(|byte| matches!(byte, b' ' | b',' | b';')) {
        "; a TAB separates the fingerprint and the id"
    } else {
        ""
    }
}
