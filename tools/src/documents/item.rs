//! What was cut out of an input for one document, and what has to be done to make a document of it. That is left to the
//! thread that goes on to work on the document.

use std::fmt;
use std::sync::Arc;

use super::content::{Columns, Kind};
use super::fault::{malformed, not_text};
use super::{Content, Document, DocumentId, Fault, FaultKind};
use crate::input::object::{self, Id, NoRecord};
use crate::input::{Place, RawId};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes that a piece of memory takes beside those that were asked for.
const PIECE: usize = 16;

/// A document that is still to be made.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) place: Location,
    pub(super) raw: Raw,
}

/// Where a document stands.
#[derive(Clone, Debug)]
pub enum Location {
    /// On a line or in a record of an input.
    At(Place),
    /// It is the whole input of that name.
    Whole(Arc<str>),
}

/// What was read of it.
#[derive(Debug)]
pub(super) enum Raw {
    /// A JSON object.
    Object(Vec<u8>),
    /// An id and a text out of a table.
    Cells(DocumentId, Vec<u8>),
    /// The same with tokens.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "of Parquet"))]
    Tokens(DocumentId, Vec<String>),
    /// A file and its name.
    File(DocumentId, Vec<u8>),
    /// It was seen to be no document.
    Bad(Fault),
}

impl Item {
    /// Bytes of memory that it takes. Tokens in an object take some twenty times their letters and commas, once they are parsed.
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

    /// Where the document stands, and the document.
    pub(super) fn document(self, columns: &Columns) -> (Location, Result<Document, Fault>) {
        (self.place, self.raw.document(columns))
    }
}

impl Raw {
    fn document(self, columns: &Columns) -> Result<Document, Fault> {
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
        Ok(Document { id, content })
    }
}

/// Reads a line of NDJSON.
fn object(line: &[u8], columns: &Columns) -> Result<Document, Fault> {
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
    Ok(Document { id: id.map_err(|message| Fault::new(FaultKind::Id, message))?, content })
}

/// A text, which stands that far from the start of what messages count from.
fn text(bytes: Vec<u8>, start: usize, of: &str) -> Result<Content, Fault> {
    let text = String::from_utf8(bytes);
    text.map(Content::Text).map_err(|error| not_text(error.as_bytes(), start, error.utf8_error().valid_up_to(), of))
}

impl Location {
    /// The name of the input.
    #[must_use]
    pub fn input(&self) -> &str {
        match self {
            Self::At(place) => &place.input,
            Self::Whole(name) => name,
        }
    }

    /// The number of the line or record, where there are such.
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
