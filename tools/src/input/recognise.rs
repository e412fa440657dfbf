//! Recognises the content of an input by its first bytes, so that a wrong or missing name does not cause a misreading.
//!
//! Only unambiguous content is recognised. Hexadecimal lines begin with neither brace nor bracket, but a row of CSV or
//! a text may; so a brace counts only before a key, and a bracket only before an object.

use std::io;

use super::Format;
use super::header::BYTE_ORDER_MARK;
use super::window::Window;

/// Most bytes of blanks and comments that are examined before the first record.
const LOOKED_THROUGH: usize = 64 << 10;

const PARQUET: &[u8] = b"PAR1";

/// Content that the first bytes imply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A Parquet file.
    Parquet,
    /// JSON objects; the first is one line.
    Lines,
    /// JSON objects; the first is longer than a line.
    Objects,
    /// A JSON array of objects.
    Array,
    /// Only blanks and comments.
    Nothing,
    /// Something else.
    Other,
}

impl Content {
    /// Returns the format for a name with this extension, if the content is recognised. Names for lines of JSON mean
    /// lines, so that an object that was cut affects no other; `.json` may have any layout.
    pub(crate) fn format(self, ending: &str) -> Option<Format> {
        match self {
            Self::Parquet => Some(Format::Parquet),
            Self::Array => Some(Format::Json),
            Self::Lines if ending == "json" => Some(Format::Json),
            Self::Objects if !matches!(ending, "ndjson" | "jsonl") => Some(Format::Json),
            Self::Lines | Self::Objects => Some(Format::Ndjson),
            Self::Nothing | Self::Other => None,
        }
    }
}

/// Hint of a message if the text [`is_utf_16`].
pub(super) const UTF_16: &str = "; this looks like UTF-16: convert it with iconv -f UTF-16 -t UTF-8";

/// Whether a text begins with the byte-order mark of UTF-16.
pub(super) fn is_utf_16(text: &[u8]) -> bool {
    matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Examines the start of a stream without consuming it: no more bytes than needed, and a first line of at most `limit`
/// bytes.
pub(crate) fn recognise(window: &mut Window, limit: usize) -> io::Result<Content> {
    loop {
        match of(window.data(), window.ended(), limit) {
            Some(content) => return Ok(content),
            None => window.fill()?,
        }
    }
}

/// Returns the content that the bytes imply; `None` if more are needed.
fn of(data: &[u8], ended: bool, limit: usize) -> Option<Content> {
    if data.starts_with(PARQUET) {
        return match data.get(PARQUET.len()) {
            // No text continues with these bytes.
            Some(0..=8 | 14..=31 | 127..) => Some(Content::Parquet),
            Some(_) => Some(Content::Other),
            None => ended.then_some(Content::Other),
        };
    }
    let unknown = || ended.then_some(Content::Other);
    if !data.is_empty() && (PARQUET.starts_with(data) || BYTE_ORDER_MARK.starts_with(data)) && data != BYTE_ORDER_MARK {
        return unknown();
    }
    let text = data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data);
    let Some(start) = first_record(text) else {
        return if text.len() > LOOKED_THROUGH { Some(Content::Other) } else { ended.then_some(Content::Nothing) };
    };
    let rest = text.get(start..).unwrap_or_default();
    let follows = rest.iter().skip(1).find(|byte| !byte.is_ascii_whitespace());
    match (rest.first(), follows) {
        (Some(b'{'), Some(b'"' | b'}')) => first_object(rest, ended, limit),
        (Some(b'['), Some(b'{' | b']')) => Some(Content::Array),
        (Some(b'{' | b'['), None) if rest.len() <= LOOKED_THROUGH => unknown(),
        _ => Some(Content::Other),
    }
}

/// Returns the offset of the first byte that is neither blank nor in a comment; `None` if more bytes are needed.
pub(super) fn first_record(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let blank = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        at += blank;
        if rest.get(blank) != Some(&b'#') {
            return Some(at);
        }
        at += memchr::memchr(b'\n', rest.get(blank..)?)?;
    }
}

/// Whether the first object is one line.
fn first_object(text: &[u8], ended: bool, limit: usize) -> Option<Content> {
    match memchr::memchr(b'\n', text) {
        Some(end) if text.get(..end).unwrap_or_default().trim_ascii_end().ends_with(b"}") => Some(Content::Lines),
        Some(_) => Some(Content::Objects),
        None => (ended || text.len() > limit).then_some(Content::Lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Returns a byte at a time, and an error after the last one.
    struct Slow(io::Cursor<Vec<u8>>, bool);

    impl Read for Slow {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            match self.0.read(&mut buf[..1])? {
                0 if self.1 => Err(io::Error::other("asked for more")),
                n => Ok(n),
            }
        }
    }

    fn told(bytes: &[u8], endless: bool) -> Content {
        let mut window = Window::new(Box::new(Slow(io::Cursor::new(bytes.to_vec()), endless)));
        recognise(&mut window, 1000).unwrap()
    }

    #[test]
    fn by_as_few_bytes_as_it_takes() {
        for (text, content) in [
            (b"PAR1\x15".as_slice(), Content::Parquet),
            (b"PAR1 is", Content::Other),
            (b"PA2", Content::Other),
            (b"{\"a\":1}\n", Content::Lines),
            (b"\xef\xbb\xbf\r\n # remark\n#\n { \"a\": {} }\r\n", Content::Lines),
            (b"{\n\"a\": 1,\n", Content::Objects),
            (b"{}\n", Content::Lines),
            (b" [\n{", Content::Array),
            (b"[]", Content::Array),
            (b"[1", Content::Other),
            (b"[id]", Content::Other),
            (b"{name", Content::Other),
            (b"00", Content::Other),
            (b"\xef\xbb\xbfid", Content::Other),
            (b"# a title\n\ntext", Content::Other),
        ] {
            assert_eq!(told(text, true), content, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn at_the_end_of_the_stream() {
        for (text, content) in [
            (b"".as_slice(), Content::Nothing),
            (b" \n\r\n# remark", Content::Nothing),
            (b"\xef\xbb\xbf", Content::Nothing),
            (b"PAR1", Content::Other),
            (b"P", Content::Other),
            (b"\xef", Content::Other),
            (b"{", Content::Other),
            (b"[ ", Content::Other),
            (b"{\"a\":1}", Content::Lines),
            (b"{\"a\":", Content::Lines),
        ] {
            assert_eq!(told(text, false), content, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn no_more_than_a_bound_is_looked_through() {
        for (head, rest, content) in [
            ("", b' ', Content::Other),
            ("#", b'x', Content::Other),
            ("{\"", b'x', Content::Lines),
            ("[", b' ', Content::Other),
        ] {
            let mut window = Window::new(Box::new(head.as_bytes().chain(io::repeat(rest))));
            assert_eq!(recognise(&mut window, 1 << 20).unwrap(), content, "{head}");
            assert!(window.data().len() <= 4 << 20);
        }
    }
}
