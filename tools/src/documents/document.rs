//! One document and its id.

use fpstore::Id;

use super::Content;
use crate::input::RawId;
use crate::input::ids::text;

/// One document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The id.
    pub id: DocumentId,
    /// The text or tokens.
    pub content: Content,
    /// Its number in all inputs, from 0; documents with a fault have one too.
    pub number: u64,
}

/// The id of a document, if it has one: a number, or a text that a store accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DocumentId {
    /// The document has no id.
    #[default]
    None,
    /// A number.
    Number(u64),
    /// A text, of 1 to 4096 bytes and without tabs and line ends.
    Text(String),
}

impl DocumentId {
    /// Returns the id as an input has it.
    #[must_use]
    pub fn raw(&self) -> RawId<'_> {
        match self {
            Self::None => RawId::None,
            Self::Number(number) => RawId::Number(*number),
            Self::Text(text) => RawId::Text(text.as_bytes()),
        }
    }

    /// Converts an id of a format that distinguishes numbers from texts.
    pub(super) fn typed(id: RawId<'_>) -> Result<Self, String> {
        Ok(match id {
            RawId::None => Self::None,
            RawId::Number(number) => Self::Number(number),
            RawId::Text(bytes) => Self::Text(text(bytes)?.to_owned()),
        })
    }

    /// Converts an id of any other format: an id that looks like a number is one.
    pub(super) fn untyped(id: RawId<'_>) -> Result<Self, String> {
        match id.own()? {
            Some(Id::Number(number)) => Ok(Self::Number(number)),
            _ => Self::typed(id),
        }
    }
}
