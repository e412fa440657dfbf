//! A document as cut out of an input. The thread that works on it converts it to a [`Document`].

use std::fmt;
use std::sync::Arc;

use super::content::{Columns, Kind};
use super::fault::{malformed, not_text};
use super::{Content, Document, DocumentId, Fault, FaultKind};
use crate::input::object::{self, Id, NoRecord};
use crate::input::{Place, RawId};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Overhead of an allocation in bytes.
const PIECE: usize = 16;

/// A document that is still to be converted.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) place: Location,
    pub(super) raw: Raw,
    /// Number of the document in all inputs, from 0.
    pub(super) number: u64,
}

/// Place of a document.
#[derive(Clone, Debug)]
pub enum Location {
    /// A line or a record of an input.
    At(Place),
    /// A whole input, by its name.
    Whole(Arc<str>),
}

/// The unconverted document.
#[derive(Debug)]
pub(super) enum Raw {
    /// A JSON object.
    Object(Vec<u8>),
    /// An id and a text from a table.
    Cells(DocumentId, Vec<u8>),
    /// An id and tokens from a table.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "of Parquet"))]
    Tokens(DocumentId, Vec<String>),
    /// A file, with its path as the id.
    File(DocumentId, Vec<u8>),
    /// A document whose fault was found while reading.
    Bad(Fault),
}

impl Item {
    /// Memory in bytes. Parsed tokens take about twenty times their bytes in the object.
    pub(super) fn cost(&self, kind: Kind) -> u64 {
        let content = match &self.raw {
            Raw::Object(bytes) if kind == Kind::Tokens => 20 * bytes.capacity(),
            Raw::Object(bytes) | Raw::Cells(_, bytes) | Raw::File(_, bytes) => bytes.capacity() + PIECE,
            Raw::Bad(_) => PIECE,
            Raw::Tokens(_, tokens) => {
                let texts: usize = tokens.iter().map(|token| token.capacity() + PIECE).sum();
                texts + tokens.capacity() * size_of::<String>()
            }
        };
        (content + size_of::<Self>()) as u64
    }

    /// Returns the place of the document, and the document.
    pub(super) fn document(self, columns: &Columns) -> (Location, Result<Document, Fault>) {
        let content = self.raw.document(columns);
        (self.place, content.map(|(id, content)| Document { id, content, number: self.number }))
    }
}

impl Raw {
    fn document(self, columns: &Columns) -> Result<(DocumentId, Content), Fault> {
        let (id, content) = match self {
            Self::Bad(fault) => return Err(fault),
            Self::Object(line) => return object(&line, columns),
            Self::Tokens(id, tokens) => (id, Content::Tokens(tokens)),
            Self::Cells(id, bytes) => (id, text(bytes, 0, " of the text")?),
            Self::File(id, mut bytes) => {
                let mark = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
                bytes.drain(..mark);
                (id, text(bytes, mark, "")?)
            }
        };
        Ok((id, content))
    }
}

/// Parses a line of NDJSON.
fn object(line: &[u8], columns: &Columns) -> Result<(DocumentId, Content), Fault> {
    let Columns { kind, selection } = columns;
    let record = object::record(line, selection, *kind);
    let (content, id) = record.map_err(|reason| match reason {
        NoRecord::NoValue(message) => Fault::new(FaultKind::Missing, message),
        NoRecord::NoId(message) => Fault::new(FaultKind::Id, message),
        NoRecord::Malformed(message) => malformed(line, message),
    })?;
    let content = content.ok_or_else(|| kind.null())?;
    let id = DocumentId::typed(match &id {
        None => RawId::None,
        Some(Id::Number(number)) => RawId::Number(*number),
        Some(Id::Text(text)) => RawId::Text(text.as_bytes()),
    });
    Ok((id.map_err(|message| Fault::new(FaultKind::Id, message))?, content))
}

/// Converts a text; its first byte is at offset `start` of what messages refer to.
fn text(bytes: Vec<u8>, start: usize, of: &str) -> Result<Content, Fault> {
    let text = String::from_utf8(bytes);
    text.map(Content::Text).map_err(|error| not_text(error.as_bytes(), start, error.utf8_error().valid_up_to(), of))
}

impl Location {
    /// Name of the input.
    #[must_use]
    pub fn input(&self) -> &str {
        match self {
            Self::At(place) => &place.input,
            Self::Whole(name) => name,
        }
    }

    /// Number of the line or record, if the input has such.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::At(place) => Some(place.number),
            Self::Whole(_) => None,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(place) => place.fmt(f),
            Self::Whole(name) => f.write_str(name),
        }
    }
}
