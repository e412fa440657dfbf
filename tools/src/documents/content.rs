//! The content of a document: a text, or tokens.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Unexpected, Visitor};

use super::{Fault, FaultKind, TOKEN_LIMIT};
use crate::input::Selection;

/// The content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A text that is still to be split into features.
    Text(String),
    /// Ready-made tokens, each of them one feature.
    Tokens(Vec<String>),
}

impl Content {
    /// Bytes of the text, or of all tokens.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Tokens(tokens) => tokens.iter().map(|token| token.len() as u64).sum(),
        }
    }
}

impl Kind {
    /// Fault of a document whose text or tokens are null.
    pub(super) fn null(self) -> Fault {
        Fault::new(
            FaultKind::Null,
            match self {
                Self::Text => "the text is null",
                Self::Tokens => "the tokens are null",
            },
        )
    }
}

/// Kind of the content in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Tokens,
}

/// The columns that documents are read from.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) kind: Kind,
    pub(super) selection: Selection,
}

/// Rejects more tokens than [`TOKEN_LIMIT`].
pub(super) fn check_tokens(count: usize) -> Result<(), String> {
    if count > TOKEN_LIMIT {
        return Err(format!("the document has more than {TOKEN_LIMIT} tokens, the most that are read"));
    }
    Ok(())
}

/// The value in a JSON object; the inner `Option` is `None` if the value is `null`.
impl<'de> DeserializeSeed<'de> for Kind {
    type Value = Option<Option<Content>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Kind {
    type Value = Option<Option<Content>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a text, which is a string",
            Self::Tokens => "tokens, which are an array of strings",
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        match self {
            Self::Text => Ok(Some(Some(Content::Text(text.to_owned())))),
            Self::Tokens => Err(E::invalid_type(Unexpected::Other("a string"), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        if self == Self::Text {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let mut tokens = Vec::new();
        while let Some(token) = array.next_element_seed(Token)? {
            tokens.push(token);
            check_tokens(tokens.len()).map_err(A::Error::custom)?;
        }
        Ok(Some(Some(Content::Tokens(tokens))))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Some(None))
    }
}

/// An element of an array of tokens.
struct Token;

impl<'de> DeserializeSeed<'de> for Token {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Token {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a token, which is a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}
