//! One record in a JSON object: its fingerprint and its id.
//!
//! The fingerprint is a string of hexadecimal digits, or a number of at most 64 bits, which is its value;
//! `--fingerprint-format` can say otherwise. The id is a number or a string; `null` counts as no id.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use fpstore::Fingerprint;
use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use super::object::{self, Id};
use super::selection::{Selection, list};
use super::{Digits, Entry, RawId};

/// Parses one object. `unescaped` keeps an id with escapes.
pub(super) fn line<'a, F: Fingerprint>(
    line: &'a [u8],
    selection: &Selection,
    digits: Option<Digits>,
    unescaped: &'a mut String,
) -> Result<Entry<'a, F>, String> {
    let (fingerprint, id) = object::record(line, selection, Value(digits, PhantomData))?;
    let id = id.map_or(RawId::None, |id| raw_id(id, unescaped));
    Ok(Entry { fingerprint, id })
}

/// Converts an id of an object. `unescaped` keeps an id with escapes.
pub(super) fn raw_id<'a>(id: Id<'a>, unescaped: &'a mut String) -> RawId<'a> {
    match id {
        Id::Number(number) => RawId::Number(number),
        Id::Text(Cow::Borrowed(text)) => RawId::Text(text.as_bytes()),
        Id::Text(Cow::Owned(text)) => {
            *unescaped = text;
            RawId::Text(unescaped.as_bytes())
        }
    }
}

/// Returns the keys of an object except that of its fingerprint, for a message.
#[cold]
pub(super) fn others(line: &[u8], selection: &Selection) -> String {
    let mut keys = object::keys(line);
    keys.retain(|key| *key != selection.value && *key != selection.id);
    list(&keys)
}

/// A fingerprint as a number or as a string, or `null`.
#[derive(Clone, Copy)]
struct Value<F>(Option<Digits>, PhantomData<F>);

impl<'de, F: Fingerprint> DeserializeSeed<'de> for Value<F> {
    type Value = Option<F>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<F>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<F: Fingerprint> Visitor<'_> for Value<F> {
    type Value = Option<F>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unsigned 64-bit number or a string")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<F>, E> {
        Digits::unsigned(self.0, number).map(Some).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<F>, E> {
        Digits::negative(self.0, number).map(Some).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<F>, E> {
        self.0.unwrap_or_default().read(text.as_bytes()).map(Some).map_err(E::custom)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<F>, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpstore::U256;

    fn selection(id_required: bool) -> Selection {
        Selection { value: "fingerprint".into(), id: "id".into(), id_required, hint: "" }
    }

    fn read<F: Fingerprint>(text: &str, id_required: bool) -> Result<(F, String), String> {
        let mut unescaped = String::new();
        let entry = line::<F>(text.as_bytes(), &selection(id_required), None, &mut unescaped)?;
        let id = match entry.id {
            RawId::None => String::new(),
            RawId::Number(number) => number.to_string(),
            RawId::Text(text) => format!("'{}'", std::str::from_utf8(text).unwrap()),
        };
        Ok((entry.fingerprint, id))
    }

    #[test]
    fn records() {
        for (text, fingerprint, id) in [
            (r#"{"fingerprint":"00000000000000ff"}"#, 255, ""),
            (r#" {"id": 7, "x": {"id": [1]}, "fingerprint": "0x00000000000000FF"} "#, 255, "7"),
            (r#"{"fingerprint":18446744073709551615,"id":"12"}"#, u64::MAX, "'12'"),
            (r#"{"fingerprint":1,"id":null}"#, 1, ""),
            (r#"{"fingerprint":1,"id":""}"#, 1, "''"),
            (r#"{"fingerprint":1,"id":"a\u0062\/"}"#, 1, "'ab/'"),
            (r#"{"\u0066ingerprint":1,"t":"\u00e9"}"#, 1, ""),
        ] {
            assert_eq!(read(text, false), Ok((fingerprint, id.to_owned())), "{text}");
        }
        assert_eq!(read(r#"{"fingerprint":7}"#, false), Ok((7_u128, String::new())));
        assert_eq!(read(r#"{"fingerprint":7}"#, false), Ok((U256([0, 0, 0, 7]), String::new())));
        let wide = r#"{"fingerprint":"00000000000000010000000000000000"}"#;
        assert_eq!(read(wide, false), Ok((1_u128 << 64, String::new())));
        for (text, digits, value) in [
            (r#"{"fingerprint":-1}"#, Digits::Signed, u64::MAX),
            (r#"{"fingerprint":"-1"}"#, Digits::Signed, u64::MAX),
            (r#"{"fingerprint":"10"}"#, Digits::Dec, 10),
        ] {
            let (mut unescaped, selection) = (String::new(), selection(false));
            let entry = line::<u64>(text.as_bytes(), &selection, Some(digits), &mut unescaped).unwrap();
            assert_eq!(entry.fingerprint, value, "{text}");
        }
    }

    #[test]
    fn what_is_refused_and_how() {
        for (text, part) in [
            ("", "EOF"),
            ("[1]", "a JSON object"),
            ("{", "EOF"),
            ("{\n \"fingerprint\":\n 1,\n}", "(line 4 of the object, column 1)"),
            (r#"{"fingerprint":1} x"#, "trailing characters"),
            (r#"{"id":1,"b":[]}"#, "there is no \"fingerprint\"; the columns are 'b', 'id'"),
            (r#"{}"#, "there is no \"fingerprint\"; there are no columns"),
            (r#"{"fingerprint":null}"#, "there is no \"fingerprint\"; it is null"),
            (r#"{"fingerprint":"ff"}"#, "expected 16 hexadecimal digits"),
            (r#"{"fingerprint":-1}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":1.5}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":18446744073709551616}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":true}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":1,"fingerprint":2}"#, "occurs twice"),
            (r#"{"fingerprint":1,"id":null,"id":2}"#, "occurs twice"),
            (r#"{"fingerprint":1,"id":-2}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":1,"id":[2]}"#, "unsigned 64-bit"),
        ] {
            let error = read::<u64>(text, false).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
            assert!(!error.contains("line 1"), "{text}: {error}");
        }
        let error = read::<u64>(r#"{"fingerprint":1}"#, true).unwrap_err();
        assert!(error.contains("there is no \"id\"; the columns are 'fingerprint'"), "{error}");
    }
}
