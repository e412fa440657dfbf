//! Decimal numbers of up to 256 bits.

use fpstore::Fingerprint;

/// Digits that always fit 64 bits.
const CHUNK: usize = 19;

/// Parses a decimal number of 64 bits. `None` if the text is empty or has other characters than digits; `Some(None)` if
/// the number is too large.
#[inline]
pub(super) fn decimal(text: &[u8]) -> Option<Option<u64>> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))))
}

/// Parses decimal digits, with any leading zeros, as a number as wide as the fingerprint. `None` if the text is empty
/// or has other characters; `Some(None)` if the number is too large.
#[inline]
pub(super) fn number<F: Fingerprint>(text: &[u8]) -> Option<Option<F>> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // The least significant word first.
    let mut words = [0_u64; 4];
    for chunk in text.chunks(CHUNK) {
        let (factor, addend) = chunk
            .iter()
            .fold((1_u64, 0_u64), |(factor, value), digit| (factor * 10, value * 10 + u64::from(digit - b'0')));
        let mut carry = addend;
        for word in &mut words {
            let product = u128::from(*word) * u128::from(factor) + u128::from(carry);
            *word = low(product);
            carry = low(product >> 64);
        }
        if carry != 0 {
            return Some(None);
        }
    }
    let fits = words.iter().skip(F::WORDS).all(|word| *word == 0);
    Some(fits.then(|| F::from_words(|i| words.get(F::WORDS - 1 - i).copied().unwrap_or(0))))
}

/// Returns the lower 64 bits.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the lower half")]
fn low(number: u128) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpstore::U256;
    use proptest::prelude::*;

    /// 2 to the power of 256.
    const TOO_LARGE: &[u8] = b"115792089237316195423570985008687907853269984665640564039457584007913129639936";

    #[test]
    fn limits() {
        assert_eq!(number::<u64>(b"18446744073709551615"), Some(Some(u64::MAX)));
        assert_eq!(number::<u64>(b"18446744073709551616"), Some(None));
        assert_eq!(number::<u128>(b"18446744073709551616"), Some(Some(1 << 64)));
        assert_eq!(number::<u128>(b"340282366920938463463374607431768211455"), Some(Some(u128::MAX)));
        assert_eq!(number::<u128>(b"340282366920938463463374607431768211456"), Some(None));
        assert_eq!(number::<U256>(b"340282366920938463463374607431768211456"), Some(Some(U256([0, 1, 0, 0]))));
        assert_eq!(number::<U256>(TOO_LARGE), Some(None));
        let mut largest = TOO_LARGE.to_vec();
        largest[TOO_LARGE.len() - 1] = b'5';
        assert_eq!(number::<U256>(&largest), Some(Some(U256([u64::MAX; 4]))));
        assert_eq!(number::<U256>(&[TOO_LARGE, TOO_LARGE].concat()), Some(None));
        assert_eq!(number::<u64>(&[b'0'; 1000]), Some(Some(0)));
        for text in [b"".as_slice(), b"+1", b"-1", b"1 ", b"ff", b"1_000"] {
            assert_eq!(number::<U256>(text), None);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_language(value: u128, small: u64, zeros in 0_usize..60) {
            let text = format!("{}{value}", "0".repeat(zeros));
            prop_assert_eq!(number::<u128>(text.as_bytes()), Some(Some(value)));
            let wide = U256([0, 0, (value >> 64) as u64, value as u64]);
            prop_assert_eq!(number::<U256>(text.as_bytes()), Some(Some(wide)));
            prop_assert_eq!(number::<u64>(small.to_string().as_bytes()), Some(Some(small)));
        }
    }
}
