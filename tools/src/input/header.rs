//! The first line `#fpstore width=64 ids=text hasher=NAME end=1` that programs write before fingerprints.
//!
//! Other programs take the line for a comment. The reader takes from it the width, the ids and the hasher of the
//! fingerprints, and skips words that this version does not know, so that a later version can add some. It reads the
//! line ahead of the first record, because the width of a new store may come from it; for a stream that begins with
//! something else it does not wait. A Parquet file has the same line in its metadata, under [`HEADER_KEY`].

use std::{fmt, io};

use fpstore::{AnyFingerprint, IdKind, Parameters};

use super::place::excerpt;
use super::window::Window;

/// Key of the header in the metadata of a Parquet file.
pub const HEADER_KEY: &str = "fpstore";

const MARK: &[u8] = b"#fpstore";
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Longest header. A longer line is a comment.
const LIMIT: usize = 4096;

/// Description of the fingerprints, as the first line has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Width in bits.
    pub width: Option<u32>,
    /// The hasher that made the fingerprints.
    pub hasher: Option<String>,
    /// Kind of the ids.
    pub ids: Option<IdKind>,
    /// Whether the last line must be `#end records=N`.
    pub end: bool,
}

impl Header {
    /// Parses a line; `None` if it is not a header.
    pub(super) fn parse(line: &[u8]) -> Result<Option<Self>, String> {
        let Some(rest) = line.strip_prefix(MARK) else { return Ok(None) };
        if !rest.first().is_none_or(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let mut header = Self::default();
        for word in rest.split(u8::is_ascii_whitespace) {
            if let Some(value) = word.strip_prefix(b"width=") {
                header.width = Some(width(value)?);
            } else if let Some(value) = word.strip_prefix(b"hasher=") {
                let possible = |name: &&str| Parameters::new(0).with_hasher(Some(name)).check().is_ok();
                let name = std::str::from_utf8(value).ok().filter(possible);
                let name = name.ok_or_else(|| format!("the header's hasher {} is not a name", excerpt(value)))?;
                header.hasher = Some(name.to_owned());
            } else if let Some(value) = word.strip_prefix(b"ids=") {
                let kind = std::str::from_utf8(value).ok().and_then(|name| name.parse().ok());
                header.ids =
                    Some(kind.ok_or_else(|| format!("the header's kind of ids {} is not known", excerpt(value)))?);
            } else if word == b"end=1" {
                header.end = true;
            }
        }
        Ok(Some(header))
    }

    /// Whether two headers say the same about the fingerprints.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        (self.width, &self.hasher, self.ids) == (other.width, &other.hasher, other.ids)
    }
}

/// Writes the line that `Header::parse` reads, without a line feed.
impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, hasher, ids, end } = self;
        f.write_str("#fpstore")?;
        width.iter().try_for_each(|width| write!(f, " width={width}"))?;
        ids.iter().try_for_each(|ids| write!(f, " ids={ids}"))?;
        hasher.iter().try_for_each(|hasher| write!(f, " hasher={hasher}"))?;
        f.write_str(if *end { " end=1" } else { "" })
    }
}

fn width(value: &[u8]) -> Result<u32, String> {
    match std::str::from_utf8(value).ok().and_then(|value| value.parse::<u32>().ok()) {
        Some(width) if AnyFingerprint::WIDTHS.contains(&width) => Ok(width),
        Some(width) => Err(format!(
            "the header says {width}-bit fingerprints; a store has {:?}, make them with one of these widths",
            AnyFingerprint::WIDTHS
        )),
        None => Err(format!("the header's width {} is not a number", excerpt(value))),
    }
}

/// Rejects a width other than the store's.
pub(super) fn check_width(found: Option<u32>, width: u32) -> Result<(), String> {
    match found {
        Some(found) if found != width => {
            Err(format!("the input is of {found}-bit fingerprints, the store of {width}-bit ones"))
        }
        _ => Ok(()),
    }
}

/// Reads a header at the start of a stream without consuming it, and without waiting for more bytes than needed. The
/// inner error is a message about a malformed header.
pub(super) fn peek(window: &mut Window) -> io::Result<Result<Option<Header>, String>> {
    Ok(match line(window)? {
        Some(line) => Header::parse(&line),
        None => Ok(None),
    })
}

/// Consumes a byte-order mark, and the header that [`peek`] found.
pub(super) fn skip(window: &mut Window, header: bool) -> io::Result<()> {
    while window.data().len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(window.data()) && !window.ended() {
        window.fill()?;
    }
    if window.data().starts_with(BYTE_ORDER_MARK) {
        window.consume(BYTE_ORDER_MARK.len());
    }
    if header {
        let data = window.data();
        window.consume(memchr::memchr(b'\n', data).unwrap_or(data.len()));
    }
    Ok(())
}

/// Returns the first line if it begins like a header and is not too long.
fn line(window: &mut Window) -> io::Result<Option<Vec<u8>>> {
    loop {
        let data = window.data();
        let text = data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data);
        let begun = text.get(..MARK.len()).unwrap_or(text);
        if !MARK.starts_with(begun) && !BYTE_ORDER_MARK.starts_with(data) {
            return Ok(None);
        }
        match memchr::memchr(b'\n', text) {
            None if !window.ended() && text.len() <= LIMIT => window.fill()?,
            None if text.len() > LIMIT => return Ok(None),
            end => {
                let line = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
                return Ok((line.len() <= LIMIT).then(|| line.strip_suffix(b"\r").unwrap_or(line).to_vec()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Returns one byte at a time, and panics if it is asked for more than there are.
    struct Pipe(Vec<u8>);

    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "waits for more");
            buffer[0] = self.0.remove(0);
            Ok(1)
        }
    }

    fn peeked(stream: impl Read + Send + 'static) -> Result<Option<Header>, String> {
        peek(&mut Window::new(Box::new(stream))).unwrap()
    }

    #[test]
    fn what_headers_say() {
        let header = |width, hasher: Option<&str>| {
            Ok(Some(Header { width, hasher: hasher.map(str::to_owned), ..Header::default() }))
        };
        for (line, expected) in [
            ("#fpstore", header(None, None)),
            ("#fpstore width=64", header(Some(64), None)),
            ("#fpstore hasher=native width=128\r", header(Some(128), Some("native"))),
            ("\u{feff}#fpstore\tnew=thing  width=256", header(Some(256), None)),
            ("#fpstores width=1", Ok(None)),
            ("# width=128", Ok(None)),
            ("", Ok(None)),
            ("\u{feff}", Ok(None)),
            ("\u{feff}\u{feff}#fpstore", Ok(None)),
        ] {
            for end in ["", "\n", "\nwidth=1"] {
                assert_eq!(peeked(io::Cursor::new(format!("{line}{end}"))), expected, "{line}");
            }
        }
        for line in ["#fpstore", "#fpstore width=64", "#fpstore width=128 ids=text hasher=a/b end=1"] {
            assert_eq!(peeked(line.as_bytes()).unwrap().unwrap().to_string(), line);
        }
        let texts = peeked(io::Cursor::new("#fpstore ids=text\n")).unwrap().unwrap();
        assert_eq!((texts.ids, texts.end), (Some(IdKind::Text), false));
        assert!(peeked(io::Cursor::new("#fpstore hasher=x end=1\r\n")).unwrap().unwrap().end);
        let bad = |line: &'static str| peeked(line.as_bytes()).unwrap_err();
        assert!(bad("#fpstore hasher=x width=").contains("not a number"));
        assert!(bad("#fpstore width=-64").contains("not a number"));
        assert!(bad("#fpstore width=96").contains("96-bit"));
        assert!(bad("#fpstore hasher=").contains("not a name"));
        assert!(bad("#fpstore ids=words").contains("kind of ids"));
    }

    #[test]
    fn no_more_is_read_than_it_takes() {
        for text in ["0", "#fpstore width=64\n", "#fpx", "\u{feff}0", "\u{feff}#fpstore\n", "\n"] {
            assert!(peeked(Pipe(text.into())).is_ok());
        }
        let long = [b"#fpstore ".to_vec(), vec![b'x'; 2 * LIMIT]].concat();
        assert_eq!(peeked(Pipe(long.clone())), Ok(None));
        assert_eq!(peeked(io::Cursor::new([long, b"\n".to_vec()].concat())), Ok(None));
    }

    #[test]
    fn skipped_for_formats_that_know_no_remarks() {
        for (text, rest) in
            [("\u{feff}#fpstore width=64\r\na", "\na"), ("#fpstore", ""), ("\u{feff}a", "a"), ("a", "a"), ("", "")]
        {
            let mut window = Window::new(Box::new(io::Cursor::new(text)));
            let header = peek(&mut window).unwrap().unwrap();
            skip(&mut window, header.is_some()).unwrap();
            while !window.ended() {
                window.fill().unwrap();
            }
            assert_eq!(window.data(), rest.as_bytes());
        }
    }

    #[test]
    fn widths_that_differ() {
        assert_eq!(check_width(None, 64), Ok(()));
        assert_eq!(check_width(Some(64), 64), Ok(()));
        assert!(check_width(Some(128), 64).unwrap_err().contains("128-bit"));
    }
}
