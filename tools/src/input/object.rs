//! Parses a JSON object for two keys, the value that the record is about and its id. Other keys are skipped without
//! being stored.
//!
//! An id is a number or a string; `null` counts as no id.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::place::excerpt;
use super::selection::Selection;

/// Why an object is not a record, as a message.
#[derive(Debug)]
pub(crate) enum NoRecord {
    /// The value is missing.
    NoValue(String),
    /// The id is missing and required.
    NoId(String),
    /// The text is not a JSON object, or a key has a value of another type.
    Malformed(String),
}

impl From<NoRecord> for String {
    fn from(reason: NoRecord) -> Self {
        match reason {
            NoRecord::NoValue(message) | NoRecord::NoId(message) | NoRecord::Malformed(message) => message,
        }
    }
}

/// Parses one object; `value` parses the required value.
pub(crate) fn record<'a, T, V>(line: &'a [u8], selection: &Selection, value: V) -> Result<(T, Option<Id<'a>>), NoRecord>
where
    V: DeserializeSeed<'a, Value = Option<T>> + Copy,
{
    let (value, id) = fields(line, selection, value)?;
    let value = value.ok_or_else(|| NoRecord::NoValue(selection.no_value_in(&keys(line))))?;
    if id.is_none() && selection.id_required {
        return Err(NoRecord::NoId(selection.no_id_in(&keys(line))));
    }
    Ok((value, id))
}

/// Parses one object, which may lack the value or the id.
pub(crate) fn fields<'a, T, V>(line: &'a [u8], selection: &Selection, value: V) -> Result<Fields<'a, T>, NoRecord>
where
    V: DeserializeSeed<'a, Value = Option<T>> + Copy,
{
    let mut json = serde_json::Deserializer::from_slice(line);
    let record = Object(selection, value).deserialize(&mut json);
    let record = record.and_then(|record| json.end().map(|()| record));
    record.map_err(|error| NoRecord::Malformed(describe(&error)))
}

/// The value and the id of an object.
type Fields<'a, T> = (Option<T>, Option<Id<'a>>);

/// Returns the keys of an object, for a message; none if the text is not an object.
#[cold]
pub(crate) fn keys(line: &[u8]) -> Vec<String> {
    let object: Result<BTreeMap<String, IgnoredAny>, _> = serde_json::from_slice(line);
    object.map(|object| object.into_keys().collect()).unwrap_or_default()
}

/// Returns the number under a key, or `None` if the key is missing or its value is `null`.
pub(super) fn number(line: &[u8], key: &str) -> Result<Option<f64>, String> {
    let object: BTreeMap<String, Value> = serde_json::from_slice(line).map_err(|error| describe(&error))?;
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) => Ok(Some(number)),
            None => Err(format!("\"{key}\" is not a number: {}", excerpt(value.to_string().as_bytes()))),
        },
    }
}

/// Describes an error. Its line counts from the start of the object; the first line is left out, because it would be
/// confused with the line of the input.
pub(super) fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let Some((message, _)) = text.rsplit_once(" at line ") else { return text };
    let hint =
        if error.is_eof() { "; was it cut? an object that is longer than a line needs --format json" } else { "" };
    match (error.line(), error.column()) {
        (0 | 1, 0) => format!("{message}{hint}"),
        (0 | 1, column) => format!("{message} (column {column}){hint}"),
        (line, column) => format!("{message} (line {line} of the object, column {column}){hint}"),
    }
}

/// The whole object.
struct Object<'s, V>(&'s Selection, V);

impl<'de, T, V: DeserializeSeed<'de, Value = Option<T>> + Copy> DeserializeSeed<'de> for Object<'_, V> {
    type Value = (Option<T>, Option<Id<'de>>);
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T, V: DeserializeSeed<'de, Value = Option<T>> + Copy> Visitor<'de> for Object<'_, V> {
    type Value = (Option<T>, Option<Id<'de>>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self(selection, seed) = self;
        let (mut value, mut id) = (None, None);
        while let Some(key) = map.next_key_seed(Key(selection))? {
            let (twice, name) = match key {
                Column::Value => (value.replace(map.next_value_seed(seed)?).is_some(), &selection.value),
                Column::Id => (id.replace(map.next_value_seed(IdValue)?).is_some(), &selection.id),
                Column::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if twice {
                return Err(A::Error::custom(format!("the key \"{name}\" occurs twice")));
            }
        }
        Ok((value.flatten(), id.flatten()))
    }
}

/// The column that a key names.
enum Column {
    Value,
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
        Ok(if key == self.0.value {
            Column::Value
        } else if key == self.0.id {
            Column::Id
        } else {
            Column::Other
        })
    }
}

/// An id.
pub(crate) enum Id<'de> {
    Number(u64),
    Text(Cow<'de, str>),
}

/// An id as a number or as a string, or `null`.
#[derive(Clone, Copy)]
pub(super) struct IdValue;

impl<'de> DeserializeSeed<'de> for IdValue {
    type Value = Option<Id<'de>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for IdValue {
    type Value = Option<Id<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unsigned 64-bit number or a string")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Id::Number(number)))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Id::Text(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Id::Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
