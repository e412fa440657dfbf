//! A value of a JSON object that has an order.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use crate::ranks::Value;

/// A value of JSON.
pub(crate) enum JsonValue<'a> {
    Integer(i128),
    Float(f64),
    Text(Cow<'a, str>),
}

impl<'a> JsonValue<'a> {
    /// Returns the value. `unescaped` keeps a text with escapes.
    pub(crate) fn of(self, unescaped: &'a mut String) -> Value<'a> {
        match self {
            Self::Integer(integer) => Value::Integer(integer),
            Self::Float(float) => Value::Float(float),
            Self::Text(Cow::Borrowed(text)) => Value::Text(text.as_bytes()),
            Self::Text(Cow::Owned(text)) => {
                *unescaped = text;
                Value::Text(unescaped.as_bytes())
            }
        }
    }
}

/// A number, a text or a boolean, or `null`.
#[derive(Clone, Copy)]
pub(crate) struct OfJson;

impl<'de> DeserializeSeed<'de> for OfJson {
    type Value = Option<JsonValue<'de>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OfJson {
    type Value = Option<JsonValue<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a string, a boolean or null")
    }

    fn visit_bool<E: Error>(self, is_true: bool) -> Result<Self::Value, E> {
        Ok(Some(JsonValue::Integer(is_true.into())))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(JsonValue::Integer(number.into())))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(JsonValue::Integer(number.into())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Some(JsonValue::Float(number)))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(JsonValue::Text(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(JsonValue::Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
