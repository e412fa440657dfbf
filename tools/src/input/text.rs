//! Parses a record on a line of text: a fingerprint in hex or decimal, then a TAB and an id, or no id.

use fpstore::Fingerprint;

use super::hex::{WORD, parse_hex};
use super::recognise::{UTF_16, is_utf_16};
use super::{Digits, Entry, RawId};

/// Parses `HEX` or `HEX<TAB>ID`.
#[inline]
pub(super) fn hex_line<F: Fingerprint>(line: &[u8]) -> Result<Entry<'_, F>, String> {
    // The digits are nearly always where they should be, so no search is needed.
    let split = match line.split_at_checked(F::WORDS * WORD) {
        Some((key, [])) => Some((key, None)),
        Some((key, [b'\t', id @ ..])) => Some((key, Some(id))),
        _ => None,
    };
    if let Some((key, id)) = split
        && let Ok(fingerprint) = parse_hex(key)
    {
        return entry(fingerprint, id);
    }
    digits_line(line, Digits::Hex)
}

/// Parses a line whose fingerprint has another notation.
pub(super) fn digits_line<F: Fingerprint>(line: &[u8], digits: Digits) -> Result<Entry<'_, F>, String> {
    record(line, |text| digits.read(text))
}

/// Suggests another format for a first line that holds no record.
#[cold]
pub(super) fn other_format(line: &[u8]) -> &'static str {
    let named = |delimiter| line.split(|&byte| byte == delimiter).any(|cell| cell == b"fingerprint" || cell == b"id");
    match line {
        _ if is_utf_16(line) => UTF_16,
        _ if line.contains(&b'\t') && named(b'\t') => "; if this line names columns, say --format tsv",
        _ if line.contains(&b',') && named(b',') => "; if this line names columns, say --format csv",
        _ => "",
    }
}

#[inline]
fn record<F>(line: &[u8], fingerprint: impl Fn(&[u8]) -> Result<F, String>) -> Result<Entry<'_, F>, String> {
    match memchr::memchr(b'\t', line).and_then(|tab| line.split_at_checked(tab)) {
        Some((key, rest)) => entry(fingerprint(key)?, Some(rest.strip_prefix(b"\t").unwrap_or(rest))),
        None => entry(fingerprint(line)?, None),
    }
}

/// Returns the record of the text before the first TAB and after it.
#[inline]
fn entry<F>(fingerprint: F, id: Option<&[u8]>) -> Result<Entry<'_, F>, String> {
    match id {
        Some(id) if memchr::memchr(b'\t', id).is_some() => Err("more than two columns".to_owned()),
        Some(id) => Ok(Entry { fingerprint, id: RawId::Text(id) }),
        None => Ok(Entry { fingerprint, id: RawId::None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;
    use fpstore::U256;
    use proptest::prelude::*;

    fn read<'a, F>(fingerprint: F, id: &'a str) -> Result<Entry<'a, F>, String> {
        Ok(Entry { fingerprint, id: if id.is_empty() { RawId::None } else { RawId::Text(id.as_bytes()) } })
    }

    #[test]
    fn hex() {
        assert_eq!(hex_line(b"00000000000000ff"), read(255_u64, ""));
        assert_eq!(hex_line(b"0xFFFFFFFFFFFFFFFF\t18446744073709551615"), read(u64::MAX, "18446744073709551615"));
        assert_eq!(hex_line(b"0X0123456789abcDEF\t/a b"), read(0x0123_4567_89ab_cdef_u64, "/a b"));
        assert_eq!(hex_line(b"0x000000000000000100000000000000fF\t0"), read(1_u128 << 64 | 255, "0"));
        let wide = [b"1".as_slice(), &[b'0'; 63]].concat();
        assert_eq!(hex_line(&wide), read(U256([1 << 60, 0, 0, 0]), ""));
    }

    #[test]
    fn decimals() {
        assert_eq!(digits_line(b"0", Digits::Dec), read(0_u64, ""));
        assert_eq!(digits_line(b"18446744073709551615\t007", Digits::Dec), read(u64::MAX, "007"));
        assert_eq!(digits_line(b"18446744073709551616\tx", Digits::Dec), read(1_u128 << 64, "x"));
        assert_eq!(digits_line(b"-1\tx", Digits::Signed), read(u64::MAX, "x"));
    }

    #[test]
    fn what_is_refused_and_how() {
        for (line, part) in [
            (b"123".as_slice(), "found 3 in '123'"),
            (b"0x123", "found 3 in '0x123'"),
            (b"00000000000000ff0", "found 17"),
            (b"00000000000000fg", "found '00000000000000fg'"),
            (b"00000000000000ff 7", "a TAB separates"),
            (b"00000000000000ff\t1\t2", "more than two columns"),
            (b"\xff\xfe0\x000\x00", "expected 16 hexadecimal digits"),
            (b"", "found 0"),
            (b"000000000000000000000000000000ff", "found 32"),
            (b"000000000000000000000000000000ff", "which a store takes that is created with --width 128"),
            (b"0x00000000000000", "found 14 in '0x00000000000000'"),
            (b"000000000000\t1\t2", "found 12"),
        ] {
            let error = hex_line::<u64>(line).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let error = hex_line::<u128>(b"00000000000000ff").unwrap_err();
        assert!(error.contains("expected 32 hexadecimal digits (a 128-bit fingerprint), found 16"), "{error}");
        assert!(hex_line::<U256>(&[b'0'; 65]).unwrap_err().contains("found 65"));
        let dec_line = |line| digits_line::<u64>(line, Digits::Dec);
        assert!(dec_line(b"18446744073709551616").unwrap_err().contains("does not fit 64 bits"));
        assert!(dec_line(b"ff").unwrap_err().contains("expected a decimal number"));
        assert!(dec_line(b"+1").is_err());
    }

    fn round_trip<F: Fingerprint>(words: [u64; 4], position: usize, byte: u8) {
        let fingerprint = F::from_words(|i| words[i]);
        let text = number::hex(fingerprint);
        assert_eq!(text.len(), F::WORDS * WORD);
        assert_eq!(parse_hex(text.as_bytes()), Ok(fingerprint));
        assert_eq!(parse_hex(format!("0x{}", text.to_uppercase()).as_bytes()), Ok(fingerprint));
        // Any other byte is rejected, wherever it is.
        let mut spoiled = text.into_bytes();
        let position = position % spoiled.len();
        spoiled[position] = byte;
        assert_eq!(parse_hex::<F>(&spoiled).is_ok(), byte.is_ascii_hexdigit());
        spoiled.truncate(position);
        assert!(parse_hex::<F>(&spoiled).is_err());
    }

    proptest! {
        #[test]
        fn hex_of_every_width_comes_back(words: [u64; 4], position: usize, byte: u8) {
            // "0x" before the next character would be a prefix.
            prop_assume!(!matches!(byte, b'x' | b'X'));
            round_trip::<u64>(words, position, byte);
            round_trip::<u128>(words, position, byte);
            round_trip::<U256>(words, position, byte);
        }
    }
}
