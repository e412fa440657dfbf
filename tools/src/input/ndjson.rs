//! One record in a JSON object: two of its keys, the rest passed over without keeping it.
//!
//! The fingerprint is a string of 16 hexadecimal digits, or a number: its decimal value. The id is a number or a
//! string of decimal digits; `null` is as good as none.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::Entry;
use super::options::Selection;
use super::text::{parse_hex, parse_id};

/// Reads one line.
pub(super) fn line(line: &[u8], selection: &Selection) -> Result<Entry, String> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let entry = Object(selection).deserialize(&mut json).and_then(|entry| json.end().map(|()| entry));
    entry.map_err(|error| {
        // A line is the whole text: its own line number (always 1) would only confuse.
        let text = error.to_string();
        match text.split_once(" at line 1 column ") {
            Some((message, "0")) => message.to_owned(),
            Some((message, column)) => format!("{message} (column {column})"),
            None => text,
        }
    })
}

/// The whole object.
struct Object<'a>(&'a Selection);

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Entry;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Entry, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
        let Selection { fingerprint: fingerprint_name, id: id_name, id_required } = self.0;
        let mut fingerprint = None;
        let mut id = None;
        while let Some(key) = map.next_key_seed(Key(self.0))? {
            let (slot, value, name) = match key {
                Column::Fingerprint => (&mut fingerprint, map.next_value_seed(Value(parse_hex))?, fingerprint_name),
                Column::Id => (&mut id, map.next_value_seed(Value(parse_id))?, id_name),
                Column::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(value).is_some() {
                return Err(A::Error::custom(format!("the key \"{name}\" occurs twice")));
            }
        }
        let missing = |name: &str| A::Error::custom(format!("there is no \"{name}\""));
        let id = id.flatten();
        if *id_required && id.is_none() {
            return Err(missing(id_name));
        }
        let fingerprint = fingerprint.flatten().ok_or_else(|| missing(fingerprint_name))?;
        Ok(Entry { fingerprint, id })
    }
}

enum Column {
    Fingerprint,
    Id,
    Other,
}

/// A key of the object.
struct Key<'a>(&'a Selection);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Column;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Column, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Column;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Column, E> {
        Ok(if key == self.0.fingerprint {
            Column::Fingerprint
        } else if key == self.0.id {
            Column::Id
        } else {
            Column::Other
        })
    }
}

/// A number, or a string that the function reads, or `null`.
struct Value(fn(&[u8]) -> Result<u64, String>);

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Option<u64>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<u64>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Value {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unsigned 64-bit number or a string")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<u64>, E> {
        Ok(Some(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<u64>, E> {
        self.0(text.as_bytes()).map(Some).map_err(E::custom)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(id_required: bool) -> Selection {
        Selection { fingerprint: "fingerprint".into(), id: "id".into(), id_required }
    }

    #[test]
    fn records() {
        let entry = |fingerprint, id| Ok(Entry { fingerprint, id });
        let read = |text: &str| line(text.as_bytes(), &selection(false));
        assert_eq!(read(r#"{"fingerprint":"00000000000000ff"}"#), entry(255, None));
        assert_eq!(read(r#" {"id": 7, "x": {"id": [1]}, "fingerprint": "0x00000000000000FF"} "#), entry(255, Some(7)));
        assert_eq!(read(r#"{"fingerprint":18446744073709551615,"id":"12"}"#), entry(u64::MAX, Some(12)));
        assert_eq!(read(r#"{"fingerprint":1,"id":null}"#), entry(1, None));
        assert_eq!(read(r#"{"\u0066ingerprint":1,"t":"\u00e9"}"#), entry(1, None));
    }

    #[test]
    fn what_is_refused_and_how() {
        for (text, part) in [
            ("", "EOF"),
            ("[1]", "a JSON object"),
            ("{", "EOF"),
            (r#"{"fingerprint":1} x"#, "trailing characters"),
            (r#"{"id":1}"#, "there is no \"fingerprint\""),
            (r#"{"fingerprint":null}"#, "there is no \"fingerprint\""),
            (r#"{"fingerprint":"ff"}"#, "expected 16 hexadecimal digits"),
            (r#"{"fingerprint":-1}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":1.5}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":18446744073709551616}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":true}"#, "unsigned 64-bit"),
            (r#"{"fingerprint":1,"fingerprint":2}"#, "occurs twice"),
            (r#"{"fingerprint":1,"id":"doc/7"}"#, "text ids are not supported yet"),
        ] {
            let error = line(text.as_bytes(), &selection(false)).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
            assert!(!error.contains("line 1"), "{text}: {error}");
        }
        let error = line(br#"{"fingerprint":1}"#, &selection(true)).unwrap_err();
        assert!(error.contains("there is no \"id\""), "{error}");
    }
}
