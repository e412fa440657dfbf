//! Notations of a fingerprint in a text or a column: hexadecimal, decimal, or a signed integer.

use fpstore::Fingerprint;

use super::decimal;
use super::hex::{parse_hex, separator_hint};
use super::place::excerpt;

/// Notation of fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Digits {
    /// Hexadecimal: width / 4 digits
    #[default]
    Hex,
    /// Decimal, without a sign
    Dec,
    /// Decimal with a sign, as databases and Spark keep 64 bits: -1 is ffffffffffffffff
    Signed,
}

impl Digits {
    /// Parses a fingerprint.
    #[inline]
    pub(super) fn read<F: Fingerprint>(self, text: &[u8]) -> Result<F, String> {
        match self {
            Self::Hex => parse_hex(text).map_err(|message| message + hint(text)),
            Self::Dec => match decimal::number(text) {
                Some(Some(number)) => Ok(number),
                Some(None) => Err(format!("{} does not fit {} bits", excerpt(text), F::WIDTH)),
                None => Err(format!("expected a decimal number, found {}{}", excerpt(text), decimal_hint(text))),
            },
            Self::Signed => {
                let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                let number = number.ok_or_else(|| {
                    let hint = separator_hint(text);
                    format!("expected a signed decimal number of 64 bits, found {}{hint}", excerpt(text))
                })?;
                word(i64::cast_unsigned(number))
            }
        }
    }

    /// Converts a fingerprint that is stored as a number, not as text. Without an explicit notation the number is the
    /// value.
    pub(super) fn unsigned<F: Fingerprint>(digits: Option<Self>, number: u64) -> Result<F, String> {
        match digits {
            Some(Self::Hex) => Err(format!("{number} is a number; with --fingerprint-format hex texts are expected")),
            Some(Self::Signed) if i64::try_from(number).is_err() => {
                Err(format!("{number} does not fit a signed number of 64 bits; say --fingerprint-format dec"))
            }
            _ => Ok(F::from_words(|i| if i + 1 == F::WORDS { number } else { 0 })),
        }
    }

    /// Converts a fingerprint that is stored as a negative number.
    pub(super) fn negative<F: Fingerprint>(digits: Option<Self>, number: i64) -> Result<F, String> {
        match digits {
            Some(Self::Signed) => word(number.cast_unsigned()),
            _ => Err(format!("{number} is negative, an unsigned 64-bit number is expected{SIGNED}")),
        }
    }
}

/// Converts 64 bits to a fingerprint.
#[inline]
fn word<F: Fingerprint>(word: u64) -> Result<F, String> {
    if F::WIDTH == 64 {
        Ok(F::from_words(|_| word))
    } else {
        Err(format!("signed numbers are 64-bit fingerprints, {}-bit ones are expected", F::WIDTH))
    }
}

const SIGNED: &str = "; signed 64-bit integers are read with --fingerprint-format signed";

/// Suggests another notation for a text that is not hexadecimal of the right length.
#[cold]
fn hint(text: &[u8]) -> &'static str {
    if is_negative(text) {
        SIGNED
    } else if text.len() < 40 && !matches!(text.len(), 0 | 32) && text.iter().all(u8::is_ascii_digit) {
        "; if it is a decimal number, say --fingerprint-format dec"
    } else {
        ""
    }
}

/// Suggests another notation for a text that is not a decimal number.
#[cold]
fn decimal_hint(text: &[u8]) -> &'static str {
    if is_negative(text) { SIGNED } else { separator_hint(text) }
}

fn is_negative(text: &[u8]) -> bool {
    matches!(text, [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpstore::U256;

    #[test]
    fn of_texts() {
        assert_eq!(Digits::Hex.read(b"00000000000000ff"), Ok(255_u64));
        assert_eq!(Digits::Dec.read(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(Digits::Dec.read(b"7"), Ok(U256([0, 0, 0, 7])));
        for (text, value) in [("-1", u64::MAX), ("0", 0), ("+7", 7), ("-9223372036854775808", 1 << 63)] {
            assert_eq!(Digits::Signed.read(text.as_bytes()), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_refused_and_how() {
        for (digits, text, part) in [
            (
                Digits::Hex,
                "1234567890123456789",
                "found 19 in '1234567890123456789'; if it is a decimal number, say --fin",
            ),
            (Digits::Hex, "-1234567890123456789", "--fingerprint-format signed"),
            (Digits::Hex, "00000000000000000000000000000001", "--width 128"),
            (Digits::Dec, "-5", "--fingerprint-format signed"),
            (Digits::Dec, "ff", "expected a decimal number"),
            (Digits::Dec, "18446744073709551616", "does not fit 64 bits"),
            (Digits::Signed, "9223372036854775808", "expected a signed decimal number of 64 bits"),
            (Digits::Signed, "", "expected a signed decimal number"),
        ] {
            let error = digits.read::<u64>(text.as_bytes()).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(Digits::Signed.read::<u128>(b"1").unwrap_err().contains("128-bit ones are expected"));
    }

    #[test]
    fn of_numbers() {
        let unsigned = |digits, number| Digits::unsigned::<u64>(digits, number);
        let negative = |digits, number| Digits::negative::<u64>(digits, number);
        for digits in [None, Some(Digits::Dec), Some(Digits::Signed)] {
            assert_eq!(unsigned(digits, 7), Ok(7));
        }
        assert_eq!(unsigned(None, u64::MAX), Ok(u64::MAX));
        assert_eq!(Digits::unsigned(None, 7), Ok(U256([0, 0, 0, 7])));
        assert!(unsigned(Some(Digits::Hex), 7).unwrap_err().contains("texts are expected"));
        assert!(unsigned(Some(Digits::Signed), u64::MAX).unwrap_err().contains("--fingerprint-format dec"));
        assert_eq!(negative(Some(Digits::Signed), -1), Ok(u64::MAX));
        assert!(negative(None, -1).unwrap_err().contains("--fingerprint-format signed"));
        assert!(Digits::negative::<u128>(Some(Digits::Signed), -1).is_err());
    }
}
