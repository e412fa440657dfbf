//! One record on a line of text: a fingerprint in hex or decimal, then a TAB and an id, or no id.

use super::Entry;
use super::place::excerpt;

/// Digits of a 64-bit fingerprint.
const HEX_DIGITS: usize = 16;

/// Value of a hexadecimal digit; 255 for anything else.
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

/// Reads `HEX` or `HEX<TAB>ID`.
pub(super) fn hex_line(line: &[u8]) -> Result<Entry, String> {
    record(line, parse_hex)
}

/// Reads `NUMBER` or `NUMBER<TAB>ID`, both decimal.
pub(super) fn dec_line(line: &[u8]) -> Result<Entry, String> {
    record(line, |text| match decimal(text) {
        Some(Some(number)) => Ok(number),
        Some(None) => Err(format!("{} does not fit 64 bits", excerpt(text))),
        None => Err(format!("expected a decimal number, found {}{}", excerpt(text), separator_hint(text))),
    })
}

/// Reads a fingerprint of exactly 16 hexadecimal digits, upper or lower case, with or without `0x`.
///
/// # Errors
///
/// When it is anything else: a sentence for people.
#[inline]
pub fn parse_hex(text: &[u8]) -> Result<u64, String> {
    let digits = match text {
        [b'0', b'x' | b'X', rest @ ..] => rest,
        _ => text,
    };
    let mut number = 0;
    let mut seen = 0;
    for byte in digits {
        let value = VALUES.get(usize::from(*byte)).copied().unwrap_or(255);
        seen |= value;
        number = number << 4 | u64::from(value & 15);
    }
    if seen > 15 || digits.len() != HEX_DIGITS { Err(complain(text, digits)) } else { Ok(number) }
}

/// What is wrong with a fingerprint.
#[cold]
fn complain(text: &[u8], digits: &[u8]) -> String {
    let expected = "expected 16 hexadecimal digits (a 64-bit fingerprint)";
    if digits.iter().all(u8::is_ascii_hexdigit) {
        return format!("{expected}, found {} in {}", digits.len(), excerpt(text));
    }
    format!("{expected}, found {}{}", excerpt(text), separator_hint(text))
}

/// Reads an id.
#[inline]
pub(super) fn parse_id(text: &[u8]) -> Result<u64, String> {
    match decimal(text) {
        Some(Some(id)) => Ok(id),
        Some(None) => Err(format!("the id {} does not fit 64 bits", excerpt(text))),
        None if text.is_empty() => Err("the id is empty".to_owned()),
        None if text.contains(&b'\t') => Err("more than two columns".to_owned()),
        None => Err(format!("the id {} is not a decimal number; text ids are not supported yet", excerpt(text))),
    }
}

#[inline]
fn record(line: &[u8], fingerprint: impl Fn(&[u8]) -> Result<u64, String>) -> Result<Entry, String> {
    match memchr::memchr(b'\t', line).and_then(|tab| line.split_at_checked(tab)) {
        Some((key, rest)) => {
            Ok(Entry { fingerprint: fingerprint(key)?, id: Some(parse_id(rest.strip_prefix(b"\t").unwrap_or(rest))?) })
        }
        None => Ok(Entry { fingerprint: fingerprint(line)?, id: None }),
    }
}

/// `None` where there is anything but digits, or nothing; `Some(None)` where the number is too large.
#[inline]
fn decimal(text: &[u8]) -> Option<Option<u64>> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))))
}

/// The commonest mistake: columns that something else than a TAB separates.
fn separator_hint(text: &[u8]) -> &'static str {
    if text.iter().any(|byte| matches!(byte, b' ' | b',' | b';')) {
        "; a TAB stands between the fingerprint and the id"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex() {
        let entry = |fingerprint, id| Ok(Entry { fingerprint, id });
        assert_eq!(hex_line(b"00000000000000ff"), entry(255, None));
        assert_eq!(hex_line(b"0xFFFFFFFFFFFFFFFF\t18446744073709551615"), entry(u64::MAX, Some(u64::MAX)));
        assert_eq!(hex_line(b"0X0123456789abcDEF\t0"), entry(0x0123_4567_89ab_cdef, Some(0)));
    }

    #[test]
    fn dec() {
        let entry = |fingerprint, id| Ok(Entry { fingerprint, id });
        assert_eq!(dec_line(b"0"), entry(0, None));
        assert_eq!(dec_line(b"18446744073709551615\t007"), entry(u64::MAX, Some(7)));
    }

    #[test]
    fn what_is_refused_and_how() {
        for (line, part) in [
            (b"123".as_slice(), "found 3 in '123'"),
            (b"0x123", "found 3 in '0x123'"),
            (b"00000000000000ff0", "found 17"),
            (b"00000000000000fg", "found '00000000000000fg'"),
            (b"00000000000000ff 7", "a TAB stands between"),
            (b"00000000000000ff\t", "the id is empty"),
            (b"00000000000000ff\t1\t2", "more than two columns"),
            (b"00000000000000ff\t-1", "not a decimal number"),
            (b"00000000000000ff\t/a/path", "text ids are not supported yet"),
            (b"00000000000000ff\t18446744073709551616", "does not fit 64 bits"),
            (b"\xff\xfe0\x000\x00", "expected 16 hexadecimal digits"),
            (b"", "found 0"),
        ] {
            let error = hex_line(line).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(dec_line(b"18446744073709551616").unwrap_err().contains("does not fit"));
        assert!(dec_line(b"ff").unwrap_err().contains("expected a decimal number"));
        assert!(dec_line(b"+1").is_err());
    }
}
