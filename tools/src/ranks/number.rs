//! The order of numbers.

const SIGN: u64 = 1 << 63;

/// Integers of at most this size are exact as floats.
const EXACT: u128 = 1 << 53;

/// An integer or a float; not NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// Parses a text. `None` if it is no number, `Some(None)` if it is NaN.
    pub(super) fn parse(text: &[u8]) -> Option<Option<Self>> {
        let text = std::str::from_utf8(text).ok()?.trim();
        if let Ok(integer) = text.parse() {
            return Some(Some(Self::Integer(integer)));
        }
        let float: f64 = text.parse().ok()?;
        Some((!float.is_nan()).then_some(Self::Float(float)))
    }

    /// Bytes that are ordered as numbers are.
    pub(super) fn key(self) -> ([u8; 25], usize) {
        // The nearest float comes first, and then what it lacks.
        let (float, rest) = match self {
            Self::Float(float) => (float, 0),
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "the rest makes up for it"
            )]
            Self::Integer(integer) => (integer as f64, integer.saturating_sub(integer as f64 as i128)),
        };
        let mut key = [0; 25];
        let (tag, length) = match rest {
            0 => (1, 9),
            ..0 => (0, 25),
            1.. => (2, 25),
        };
        let bytes = of_float(float).to_be_bytes().into_iter().chain([tag]).chain(rest.to_be_bytes());
        key.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        (key, length)
    }
}

/// Whether an integer is exact as a float.
pub(super) fn is_exact(integer: i128) -> bool {
    integer.unsigned_abs() <= EXACT
}

/// A code that is ordered as the integers are; neither 0 nor [`u64::MAX`]. `None` if there is none of 64 bits.
pub(super) fn of_integer(integer: i128) -> Option<u64> {
    let integer = i64::try_from(integer).ok()?;
    Some(integer.cast_unsigned() ^ SIGN).filter(|code| !matches!(*code, 0 | u64::MAX))
}

/// The integer of a code.
pub(super) fn to_integer(code: u64) -> i64 {
    (code ^ SIGN).cast_signed()
}

/// A code that is ordered as the floats are; neither 0 nor [`u64::MAX`].
pub(super) fn of_float(float: f64) -> u64 {
    // Of the two zeros only the positive one is left.
    let bits = (float + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The float of a code.
pub(super) fn to_float(code: u64) -> f64 {
    f64::from_bits(if code & SIGN == 0 { !code } else { code ^ SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    #[test]
    fn numbers_in_order() {
        let (int, float) = (Number::Integer, Number::Float);
        let ordered = [
            float(f64::NEG_INFINITY),
            float(-1e30),
            int(i128::from(i64::MIN) - 1),
            int(i64::MIN.into()),
            int(i128::from(i64::MIN) + 1),
            float(-1.5),
            int(-1),
            float(-f64::MIN_POSITIVE),
            int(0),
            float(f64::MIN_POSITIVE),
            float(0.5),
            int(1),
            int(1 << 53),
            int((1 << 53) + 1),
            float(9_007_199_254_740_994.0),
            int((1 << 53) + 3),
            int(i64::MAX.into()),
            float(9_223_372_036_854_775_808.0),
            int(i128::from(i64::MAX) + 2),
            int(u128::from(u64::MAX).cast_signed()),
            float(1e30),
            int(i128::MAX - 1),
            float(f64::INFINITY),
        ];
        let keys: Vec<Vec<u8>> = ordered.iter().map(|number| number.key()).map(|(key, n)| key[..n].to_vec()).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert_eq!(int(7).key(), float(7.0).key());
        assert_eq!(float(-0.0).key(), int(0).key());
    }

    #[test]
    fn codes_leave_room_for_no_value() {
        assert_eq!([i64::MIN, i64::MAX].map(|extreme| of_integer(extreme.into())), [None, None]);
        for float in [f64::NEG_INFINITY, f64::MIN, -0.0, 0.0, f64::MAX, f64::INFINITY] {
            assert!(!matches!(of_float(float), 0 | u64::MAX));
        }
    }

    #[test]
    fn texts_that_are_numbers() {
        let (int, float) = (|n| Some(Some(Number::Integer(n))), |x| Some(Some(Number::Float(x))));
        for (text, expected) in [
            ("7", int(7)),
            (" -07 ", int(-7)),
            ("+18446744073709551616", int(1 << 64)),
            ("1.50", float(1.5)),
            ("1e3", float(1000.0)),
            ("-inf", float(f64::NEG_INFINITY)),
            ("NaN", Some(None)),
            ("", None),
            ("0x10", None),
            ("1,5", None),
            ("2024-01-01", None),
        ] {
            assert_eq!(Number::parse(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn codes_are_ordered_and_come_back(a: i64, b: i64, x: f64, y: f64) {
            if let (Some(of_a), Some(of_b)) = (of_integer(a.into()), of_integer(b.into())) {
                prop_assert_eq!(of_a.cmp(&of_b), a.cmp(&b));
                prop_assert_eq!(to_integer(of_a), a);
            }
            if let Some(order @ (Ordering::Less | Ordering::Greater)) = x.partial_cmp(&y) {
                prop_assert_eq!(of_float(x).cmp(&of_float(y)), order);
                prop_assert_eq!(to_float(of_float(x)), x);
            }
            let key = |n: i64| Number::Integer(n.into()).key().0;
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
        }
    }
}
