//! Splits a stream into lines, one at a time, none longer than a limit.
//!
//! A line comes without its line feed, without a carriage return before it, and without a byte-order mark at the start
//! of the stream. The last line needs no line feed.

use std::io;
use std::ops::Range;

use super::window::{Window, reading};

/// Longest line in bytes.
pub const LINE_LIMIT: usize = 1 << 20;

/// The lines of a stream.
#[derive(Debug)]
pub(crate) struct Lines {
    window: Window,
    limit: usize,
    number: u64,
    line: Range<usize>,
    /// Bytes of all lines so far, including their line ends.
    used: u64,
    /// Whether the line is longer than the limit; none of it has been consumed.
    too_long: bool,
}

impl Lines {
    /// Returns a reader of lines of at most `limit` bytes.
    pub(crate) fn new(window: Window, limit: usize) -> Self {
        Self { window, limit, number: 0, line: 0..0, used: 0, too_long: false }
    }

    /// Number of the line that [`Self::advance`] came to last, or failed on; the first is 1.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of the stream up to and including the line end of the line that [`Self::advance`] came to, if no line was
    /// too long.
    #[inline]
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Whether the next line is available without waiting for the stream.
    pub(super) fn ready(&self) -> bool {
        let data = self.window.data();
        memchr::memchr(b'\n', data).is_some() || (self.window.ended() && !data.is_empty())
    }

    /// Whether [`Self::advance`] failed because the line is too long. The next call skips the line.
    pub(crate) fn is_too_long(&self) -> bool {
        self.too_long
    }

    /// Skips the rest of a line.
    #[cold]
    fn pass_over(&mut self) -> io::Result<()> {
        loop {
            let data = self.window.data();
            let end = memchr::memchr(b'\n', data);
            self.window.consume(end.map_or(data.len(), |end| end + 1));
            if end.is_some() || self.window.ended() {
                self.too_long = false;
                return Ok(());
            }
            self.window.fill()?;
        }
    }

    /// Advances to the next line; `false` at the end of the stream.
    #[inline]
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        if self.too_long {
            self.pass_over()?;
        }
        self.number += 1;
        let mut searched = 0;
        let (length, used) = loop {
            let data = self.window.data();
            if let Some(i) = memchr::memchr(b'\n', data.get(searched..).unwrap_or_default()) {
                break (searched + i, searched + i + 1);
            }
            searched = data.len();
            if self.window.ended() {
                if data.is_empty() {
                    return Ok(false);
                }
                break (searched, searched);
            }
            if searched > self.limit {
                break (searched, searched);
            }
            self.window.fill()?;
        };
        if length > self.limit {
            self.too_long = true;
            return Err(io::Error::other(format!("the line is longer than {} MiB", self.limit >> 20)));
        }
        let start = self.window.take(used).start;
        self.used += used as u64;
        let line = self.window.taken(start..start + length);
        let mark = if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let end = usize::from(line.len() > mark && line.ends_with(b"\r"));
        self.line = start + mark..start + length - end;
        Ok(true)
    }

    /// Advances to the next line that holds a record; `false` at the end of the stream.
    #[inline]
    pub(crate) fn next_record(&mut self) -> Result<bool, String> {
        while self.advance().map_err(|error| reading(&error))? {
            if !self.is_skipped() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Advances to the next line that is not empty; `false` at the end of the stream. A line that begins with `#` is no
    /// comment here, because an id may begin with it.
    #[inline]
    pub(super) fn next_filled(&mut self) -> Result<bool, String> {
        while self.advance().map_err(|error| reading(&error))? {
            if !self.line().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the line that [`Self::advance`] came to is blank or a comment.
    #[inline]
    pub(super) fn is_skipped(&self) -> bool {
        is_skipped(self.line())
    }

    /// The line that [`Self::advance`] came to.
    #[inline]
    pub(crate) fn line(&self) -> &[u8] {
        self.window.taken(self.line.clone())
    }
}

/// Whether a line is blank or a comment.
#[inline]
fn is_skipped(line: &[u8]) -> bool {
    match line.first() {
        None | Some(b'#') => true,
        Some(b' ' | b'\t') => line.iter().all(|byte| matches!(byte, b' ' | b'\t')),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::LINE_LIMIT;
    use super::*;
    use std::io::Read;

    fn lines(stream: impl Read + Send + 'static) -> Lines {
        Lines::new(Window::new(Box::new(stream)), LINE_LIMIT)
    }

    fn all(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = lines(io::Cursor::new(bytes.to_vec()));
        let mut found = Vec::new();
        while lines.advance().unwrap() {
            found.push(lines.line().to_vec());
        }
        found
    }

    #[test]
    fn ends_and_marks() {
        assert!(all(b"").is_empty());
        assert_eq!(all(b"a"), [b"a"]);
        assert_eq!(all(b"a\n"), [b"a"]);
        assert_eq!(all(b"\xef\xbb\xbf\r\n\xef\xbb\xbf"), [b"".as_slice(), b"\xef\xbb\xbf"]);
        assert_eq!(all(b"\xef\xbb\xbfa\r\n\r\n\n\rb"), [b"a".as_slice(), b"", b"", b"\rb"]);
    }

    #[test]
    fn lines_that_cross_the_window() {
        let line = [b'x'; 1000];
        let text: Vec<u8> = (0..2000).flat_map(|_| line.iter().copied().chain([b'\n'])).collect();
        let found = all(&text);
        assert_eq!(found.len(), 2000);
        assert!(found.iter().all(|found| found == &line));
    }

    #[test]
    fn a_line_without_an_end_takes_bounded_memory() {
        let head = io::Cursor::new(b"a\n".to_vec());
        let mut lines = lines(head.chain(io::repeat(b'x')));
        assert!(lines.advance().unwrap());
        let error = lines.advance().unwrap_err();
        assert!(error.to_string().contains("longer than 1 MiB"), "{error}");
        assert_eq!(lines.number(), 2);
        let long = io::Cursor::new(b"a\n".to_vec()).chain(io::repeat(b'x').take(5 << 20));
        let mut lines = self::lines(long.chain(io::Cursor::new(b"\nb\n".to_vec())));
        assert!(lines.advance().unwrap());
        assert!(lines.advance().is_err() && lines.is_too_long());
        assert!(lines.advance().unwrap() && !lines.is_too_long());
        assert_eq!((lines.line(), lines.number()), (b"b".as_slice(), 3));
        assert!(!lines.advance().unwrap());
        let exact = vec![b'x'; LINE_LIMIT];
        assert_eq!(all(&exact), std::slice::from_ref(&exact));
    }

    #[test]
    fn ready_knows_what_is_there() {
        let mut lines = lines(io::Cursor::new(b"a\nb\nc".to_vec()));
        assert!(!lines.ready());
        lines.advance().unwrap();
        assert!(lines.ready());
        lines.advance().unwrap();
        // "c" may go on: the end of the stream is not known yet.
        assert!(!lines.ready());
    }
}
