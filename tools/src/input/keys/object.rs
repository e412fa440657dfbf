//! A JSON object with an id, keys and a sketch.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::names::{BANDS, HASHER, KEYS, SKETCH};
use crate::input::RawId;
use crate::input::ndjson::raw_id;
use crate::input::object::{Id, IdValue, describe, keys};
use crate::input::selection::list;

/// Digits of a key of `bands`.
const DIGITS: usize = 16;

/// The keys and the sketch of the object that was read last.
#[derive(Debug, Default)]
pub(super) struct KeyObject {
    pub(super) keys: Vec<u64>,
    pub(super) sketch: Vec<u8>,
    pub(super) hasher: Option<String>,
}

impl KeyObject {
    /// Reads an object; `id` names the column of ids, and `unescaped` keeps an id with escapes.
    pub(super) fn read<'a>(
        &mut self,
        line: &'a [u8],
        id: &str,
        unescaped: &'a mut String,
    ) -> Result<RawId<'a>, String> {
        self.keys.clear();
        self.sketch.clear();
        self.hasher = None;
        let mut json = serde_json::Deserializer::from_slice(line);
        let found = Object { id, into: self }.deserialize(&mut json);
        let found = found.and_then(|found| json.end().map(|()| found)).map_err(|error| describe(&error))?;
        if !found.has_keys {
            let names = list(&keys(line));
            return Err(format!("there is neither \"{KEYS}\" nor \"{BANDS}\"; the columns are {names}"));
        }
        Ok(found.id.map_or(RawId::None, |id| raw_id(id, unescaped)))
    }
}

struct Found<'de> {
    id: Option<Id<'de>>,
    has_keys: bool,
}

struct Object<'s> {
    id: &'s str,
    into: &'s mut KeyObject,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Found<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut id, mut named, mut sketch) = (None, None, false);
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let twice = match &*name {
                name if name == self.id => id.replace(map.next_value_seed(IdValue)?).is_some(),
                name @ (KEYS | BANDS) => {
                    if named.is_some_and(|other| other != name) {
                        return Err(A::Error::custom(format!(
                            "there are \"{KEYS}\" and \"{BANDS}\"; give one of them"
                        )));
                    }
                    if name == KEYS {
                        self.into.keys.extend(map.next_value::<Vec<u64>>()?);
                        named.replace(KEYS).is_some()
                    } else {
                        let bands: Vec<Hex<'_>> = map.next_value()?;
                        for band in bands {
                            self.into.keys.push(band.key().map_err(A::Error::custom)?);
                        }
                        named.replace(BANDS).is_some()
                    }
                }
                SKETCH => {
                    let digits: Option<Hex<'_>> = map.next_value()?;
                    self.into.sketch =
                        digits.map_or(Ok(Vec::new()), |digits| digits.bytes()).map_err(A::Error::custom)?;
                    std::mem::replace(&mut sketch, true)
                }
                HASHER => {
                    let hasher: Option<String> = map.next_value()?;
                    hasher.and_then(|hasher| self.into.hasher.replace(hasher)).is_some()
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if twice {
                return Err(A::Error::custom(format!("the key \"{name}\" occurs twice")));
            }
        }
        Ok(Found { id: id.flatten(), has_keys: named.is_some() })
    }
}

/// Hexadecimal digits in a string.
#[derive(Deserialize)]
struct Hex<'a>(#[serde(borrow)] Cow<'a, str>);

impl Hex<'_> {
    fn key(&self) -> Result<u64, String> {
        let digits = self.0.as_bytes();
        let is_hex = digits.len() == DIGITS && digits.iter().all(u8::is_ascii_hexdigit);
        let key = if is_hex { u64::from_str_radix(&self.0, 16).ok() } else { None };
        key.ok_or_else(|| format!("\"{BANDS}\": expected {DIGITS} hexadecimal digits, found '{}'", self.0))
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pair = |pair: &[u8]| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = self.0.as_bytes().chunks(2).map(pair).collect();
        bytes.ok_or_else(|| format!("\"{SKETCH}\": expected pairs of hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(String, Vec<u64>, Vec<u8>), String> {
        let (mut object, mut unescaped) = (KeyObject::default(), String::new());
        object.keys.push(99);
        let id = format!("{:?}", object.read(text.as_bytes(), "id", &mut unescaped)?);
        Ok((id, object.keys, object.sketch))
    }

    #[test]
    fn records() {
        for (text, keys, sketch) in [
            (r#"{"id":7,"keys":[1,18446744073709551615]}"#, vec![1, u64::MAX], vec![]),
            (r#"{"keys":[],"x":[{"keys":[3]}],"id":7,"sketch":"00fF"}"#, vec![], vec![0, 255]),
            (r#"{"id":7,"bands":["000000000000000a","FFFFFFFFFFFFFFFF"],"sketch":null}"#, vec![10, u64::MAX], vec![]),
        ] {
            assert_eq!(read(text).unwrap(), ("Number(7)".to_owned(), keys, sketch), "{text}");
        }
    }

    #[test]
    fn what_is_refused_and_how() {
        for (text, part) in [
            ("[1]", "a JSON object"),
            (r#"{"id":1,"url":"x"}"#, "there is neither \"keys\" nor \"bands\"; the columns are 'id', 'url'"),
            (r#"{"id":1,"keys":[1],"keys":[2]}"#, "occurs twice"),
            (r#"{"id":1,"keys":[1],"bands":[]}"#, "give one of them"),
            (r#"{"id":1,"keys":[-1]}"#, "expected u64"),
            (r#"{"id":1,"keys":[1.5]}"#, "expected u64"),
            (r#"{"id":1,"keys":7}"#, "expected a sequence"),
            (r#"{"id":1,"bands":["0a"]}"#, "expected 16 hexadecimal digits, found '0a'"),
            (r#"{"id":1,"bands":["+00000000000000a"]}"#, "expected 16 hexadecimal digits"),
            (r#"{"id":1,"keys":[],"sketch":"abc"}"#, "expected pairs of hexadecimal digits"),
            (r#"{"id":1,"keys":[18446744073709551616]}"#, "expected u64"),
            (r#"{"id":1,"keys":[1]"#, "EOF"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
