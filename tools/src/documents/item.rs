//! What was cut out of an input for one document, and what has to be done to make a document of it. That is left to the
//! thread that goes on to work on the document.

use std::fmt;
use std::sync::Arc;

use super::content::{Columns, Kind, not_utf8};
use super::{Content, Document, DocumentId};
use crate::input::object::{self, Id};
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
}

impl Item {
    /// Bytes of memory that it takes. Tokens in an object take some twenty times their letters and commas, once they are parsed.
    pub(super) fn cost(&self, kind: Kind) -> u64 {
        let content = match &self.raw {
            Raw::Object(bytes) if kind == Kind::Tokens => 20 * bytes.capacity(),
            Raw::Object(bytes) | Raw::Cells(_, bytes) | Raw::File(_, bytes) => bytes.capacity() + PIECE,
            Raw::Tokens(_, tokens) => {
                let texts: usize = tokens.iter().map(|token| token.capacity() + PIECE).sum();
                texts + tokens.capacity() * size_of::<String>()
            }
        };
        (content + size_of::<Self>()) as u64
    }

    /// The document and where it stands; an error names the place.
    pub(super) fn document(self, columns: &Columns) -> anyhow::Result<(Location, Document)> {
        let Self { place, raw } = self;
        match raw.document(columns) {
            Ok(document) => Ok((place, document)),
            Err(message) => Err(anyhow::anyhow!("{place}: {message}")),
        }
    }
}

impl Raw {
    fn document(self, columns: &Columns) -> Result<Document, String> {
        let (id, content) = match self {
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
fn object(line: &[u8], columns: &Columns) -> Result<Document, String> {
    let record = object::record(line, &columns.selection, columns.kind);
    let (content, id) = record.map_err(|message| match std::str::from_utf8(line) {
        Ok(_) => message,
        Err(error) => not_utf8(error.valid_up_to(), " of the line"),
    })?;
    let id = DocumentId::typed(match &id {
        None => RawId::None,
        Some(Id::Number(number)) => RawId::Number(*number),
        Some(Id::Text(text)) => RawId::Text(text.as_bytes()),
    })?;
    Ok(Document { id, content })
}

/// A text, which stands that far from the start of what messages count from.
fn text(bytes: Vec<u8>, start: usize, of: &str) -> Result<Content, String> {
    let text = String::from_utf8(bytes);
    text.map(Content::Text).map_err(|error| not_utf8(start + error.utf8_error().valid_up_to(), of))
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(place) => place.fmt(f),
            Self::Whole(name) => f.write_str(name),
        }
    }
}
