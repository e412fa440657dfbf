//! Faults of single documents, which do not stop the reading of others.

use std::fmt;

use fpsketch::TooFew;

use super::DOCUMENT_LIMIT;

/// Kind of fault, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The text, or the tokens, are null.
    Null,
    /// The column or key is missing.
    Missing,
    /// The bytes are not UTF-8.
    NotText,
    /// Half of a surrogate pair, as JavaScript writes it.
    Surrogate,
    /// The document is longer than the limit.
    TooLong,
    /// The record is not a JSON object, or the row has another number of cells.
    Malformed,
    /// The id is not one that a store accepts, or it is missing and required.
    Id,
    /// The document has too few features.
    Features,
    /// A long text has too few features.
    LongWithoutFeatures,
}

impl FaultKind {
    /// The name under which a summary counts such faults.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null text",
            Self::Missing => "no text",
            Self::NotText => "not UTF-8",
            Self::Surrogate => "lone surrogate",
            Self::TooLong => "too long",
            Self::Malformed => "malformed",
            Self::Id => "unusable id",
            Self::Features => "too few features",
            Self::LongWithoutFeatures => "too few features of a long text",
        }
    }
}

/// The fault of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    message: String,
}

impl Fault {
    /// Returns a fault with a message that does not name the place.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Returns the fault of a document with fewer features than `least`; `bytes` is the length of its text.
    #[must_use]
    pub fn features(few: TooFew, least: usize, bytes: u64) -> Self {
        /// Texts of at least this length are expected to have features.
        const LONG: u64 = 256;
        let kind = if bytes >= LONG { FaultKind::LongWithoutFeatures } else { FaultKind::Features };
        Self::new(kind, format!("{few}, fewer than --min-features {least}"))
    }

    /// Whether the document was read correctly but has too few features.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        matches!(self.kind, FaultKind::Features | FaultKind::LongWithoutFeatures)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// Fault of a document that is longer than the limit.
pub(super) fn too_long() -> Fault {
    Fault::new(FaultKind::TooLong, format!("the document is longer than {} MiB", DOCUMENT_LIMIT >> 20))
}

/// Fault of bytes that are not UTF-8 from offset `valid` on; `start` bytes before `bytes` were cut off.
pub(super) fn not_text(bytes: &[u8], start: usize, valid: usize, of: &str) -> Fault {
    let offset = start + valid;
    let message = match looks_like(bytes) {
        Some(kind) => {
            let byte = bytes.get(valid).copied().unwrap_or_default();
            format!("is not text: byte 0x{byte:02x} at offset {offset}{of}; this looks like {kind}")
        }
        None => format!("not UTF-8 at byte offset {offset}{of}; convert it, for example with iconv -f LATIN1 -t UTF-8"),
    };
    Fault::new(FaultKind::NotText, message)
}

/// Recognises a type of file by its first bytes.
fn looks_like(bytes: &[u8]) -> Option<&'static str> {
    const BEGINNINGS: [(&[u8], &str); 11] = [
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive, such as .docx, .odt or .epub"),
        (b"\x1f\x8b", "gzip; a name that ends in .gz has it decompressed"),
        (b"\x28\xb5\x2f\xfd", "zstd; a name that ends in .zst has it decompressed"),
        (b"\x7fELF", "a program"),
        (b"\xd0\xcf\x11\xe0", "a document of an old Microsoft Office"),
        (b"\xff\xfe", "UTF-16; convert it with iconv -f UTF-16 -t UTF-8"),
        (b"\xfe\xff", "UTF-16; convert it with iconv -f UTF-16 -t UTF-8"),
    ];
    BEGINNINGS.iter().find(|(beginning, _)| bytes.starts_with(beginning)).map(|(_, kind)| *kind)
}

/// Fault of a line of JSON that the parser rejected with this message.
pub(super) fn malformed(line: &[u8], message: String) -> Fault {
    if let Err(error) = std::str::from_utf8(line) {
        return not_text(line, 0, error.valid_up_to(), " of the line");
    }
    let of_escape = message.contains("surrogate") || message.contains("hex escape");
    match surrogate(line).filter(|_| of_escape) {
        Some((column, digits)) => Fault::new(
            FaultKind::Surrogate,
            format!("a lone surrogate \\u{digits} (column {column}): half of a character, which no text can have"),
        ),
        None => Fault::new(FaultKind::Malformed, message),
    }
}

/// Returns column and digits of the first JSON escape that is half of a surrogate pair.
fn surrogate(line: &[u8]) -> Option<(usize, &str)> {
    let unit = |place: usize| {
        let digits = line.get(place..)?.strip_prefix(b"\\u")?.get(..4)?;
        let digits = std::str::from_utf8(digits).ok()?;
        Some((u16::from_str_radix(digits, 16).ok()?, digits))
    };
    let mut place = 0;
    while let Some(found) = memchr::memchr(b'\\', line.get(place..)?) {
        place += found;
        match unit(place) {
            Some((0xd800..=0xdbff, _)) if matches!(unit(place + 6), Some((0xdc00..=0xdfff, _))) => place += 12,
            Some((0xd800..=0xdfff, digits)) => return Some((place + 1, digits)),
            Some(_) => place += 6,
            None => place += 2,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogates_alone_and_in_pairs() {
        for (line, expected) in [
            (r#""\ud800""#, Some((2, "d800"))),
            (r#""a\uDC00b""#, Some((3, "DC00"))),
            (r#""\ud83d\ude00 \ud83dx""#, Some((15, "d83d"))),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud800""#, None),
            (r#""\ud8"#, None),
            (r#""\"#, None),
        ] {
            assert_eq!(surrogate(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn bytes_that_are_no_text() {
        let png = not_text(b"\x89PNG\r\n\x1a\n", 0, 0, "").to_string();
        assert_eq!(png, "is not text: byte 0x89 at offset 0; this looks like a PNG image");
        let latin = not_text(b"caf\xe9", 3, 3, " of the text").to_string();
        assert!(latin.starts_with("not UTF-8 at byte offset 6 of the text; convert it"), "{latin}");
    }
}
