//! A cell of a row of labels, and the names of its columns.

use std::borrow::Cow;

use fpstore::clusters::LabelRef;
use fpstore::{Fingerprint, IdKind};
use serde::Deserialize;

use crate::input::decimal::decimal;
use crate::input::hex::parse_hex;
use crate::input::ids::text;
use crate::input::place::excerpt;

/// Names of the columns.
pub(in crate::input) const ID: &str = "id";
pub(in crate::input) const FINGERPRINT: &str = "fingerprint";
pub(in crate::input) const CLUSTER: &str = "cluster";
pub(super) const KEEPER: &str = "keeper";
pub(super) const DISTANCE: &str = "distance";
pub(super) const SHARED_KEYS: &str = "shared_keys";

/// A cell of a row.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of 64 bits or a string")]
pub(in crate::input) enum Cell<'a> {
    Number(u64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
    /// Bytes of a number or a text.
    #[serde(skip)]
    Bytes(&'a [u8]),
    /// A text that was checked to be a valid id.
    #[serde(skip)]
    Id(&'a str),
    /// A fingerprint, most significant byte first.
    #[serde(skip)]
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "of Parquet"))]
    Raw(&'a [u8]),
    #[serde(skip)]
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "of Parquet"))]
    Null,
}

impl Cell<'_> {
    /// The bytes of a cell of a text line.
    pub(in crate::input) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Id(id) => Some(id.as_bytes()),
            _ => None,
        }
    }

    /// Returns the number in the cell.
    pub(super) fn number(&self) -> Result<u64, String> {
        let bytes = match self {
            Self::Number(number) => return Ok(*number),
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
            Self::Id(_) | Self::Raw(_) | Self::Null => b"",
        };
        decimal(bytes).flatten().ok_or_else(|| format!("expected a number, this is {}", excerpt(bytes)))
    }

    /// Converts the cell to a label of a store with ids of this kind; `made` keeps a number formatted as text.
    pub(super) fn label<'b, F: Fingerprint>(
        &'b self,
        kind: IdKind,
        made: &'b mut String,
    ) -> Result<LabelRef<'b, F>, String> {
        let bytes = match self {
            Self::Number(number) => match kind {
                IdKind::Number => return Ok(LabelRef::Number(*number)),
                IdKind::Text => {
                    *made = number.to_string();
                    return Ok(LabelRef::Text(made));
                }
                IdKind::None if F::WORDS == 1 => return Ok(LabelRef::Fingerprint(F::from_words(|_| *number))),
                IdKind::None => return Err(format!("expected a fingerprint of {} bits, found {number}", F::WIDTH)),
            },
            Self::Raw(bytes) if kind == IdKind::None && bytes.len() == F::BYTES => {
                let (words, _) = bytes.as_chunks::<8>();
                let word = |number| words.get(number).map_or(0, |word| u64::from_be_bytes(*word));
                return Ok(LabelRef::Fingerprint(F::from_words(word)));
            }
            Self::Raw(bytes) => {
                return Err(format!(
                    "found a fingerprint of {} bits, the ids of the store are {kind}",
                    8 * bytes.len()
                ));
            }
            Self::Null => return Err("a cell is empty (null)".to_owned()),
            Self::Id(id) => return Ok(LabelRef::Text(id)),
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        };
        match kind {
            IdKind::Number => match decimal(bytes) {
                Some(Some(number)) => Ok(LabelRef::Number(number)),
                _ => Err(format!("the ids of the store are decimal numbers, this is {}", excerpt(bytes))),
            },
            IdKind::Text => text(bytes).map(LabelRef::Text),
            IdKind::None => parse_hex(bytes).map(LabelRef::Fingerprint),
        }
    }
}
