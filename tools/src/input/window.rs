//! A buffer that slides over a stream: the bytes read and not yet consumed, as one slice.
//!
//! It grows only when a caller asks for more bytes than it holds, so the caller decides how much memory an input may
//! take. Memory taken for a very long line is released.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

const INITIAL: usize = 256 << 10;

/// From this length on a buffer is released after the long line.
const LONG: usize = 16 * INITIAL;

/// The part of a stream that is not consumed.
pub(crate) struct Window {
    stream: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
}

impl Window {
    pub(crate) fn new(stream: Box<dyn Read + Send>) -> Self {
        Self { stream, buffer: vec![0; INITIAL], start: 0, end: 0, ended: false }
    }

    /// Returns the rest of the stream, with the bytes not yet consumed.
    pub(crate) fn into_read(self) -> impl Read + Send {
        io::Cursor::new(self.data().to_vec()).chain(self.stream)
    }

    /// The bytes read and not yet consumed.
    #[inline]
    pub(super) fn data(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Consumes the first `length` bytes.
    #[inline]
    pub(super) fn consume(&mut self, length: usize) {
        self.start = (self.start + length).min(self.end);
    }

    /// Consumes the first `length` bytes and returns their range, for [`Self::taken`].
    #[inline]
    pub(super) fn take(&mut self, length: usize) -> Range<usize> {
        let start = self.start;
        self.consume(length);
        start..self.start
    }

    /// Bytes of a range from [`Self::take`]. They stay until the window is filled again.
    #[inline]
    pub(super) fn taken(&self, range: Range<usize>) -> &[u8] {
        self.buffer.get(range).unwrap_or_default()
    }

    /// Whether the stream has returned its last byte, which may still be in [`Self::data`].
    #[inline]
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Reads once from the stream and appends to [`Self::data`]: at least one byte, unless the stream ends. The buffer
    /// grows by doubling.
    pub(super) fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() >= LONG && self.end < INITIAL {
            self.buffer.truncate(INITIAL);
            self.buffer.shrink_to_fit();
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.stream.read(self.buffer.get_mut(self.end..).unwrap_or_default()) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("unused", &self.data().len()).field("ended", &self.ended).finish()
    }
}

/// Describes a failed read for the user.
pub(crate) fn reading(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("the compressed data ends too early; was the file cut? ({error})"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slides_and_grows() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3 * INITIAL).collect();
        let mut window = Window::new(Box::new(io::Cursor::new(bytes.clone())));
        window.fill().unwrap();
        let taken = window.take(10);
        assert_eq!(window.taken(taken), &bytes[..10]);
        while !window.ended() {
            window.fill().unwrap();
        }
        assert_eq!(window.data(), &bytes[10..]);
        window.consume(usize::MAX >> 1);
        assert!(window.data().is_empty());
    }

    #[test]
    fn memory_of_a_long_line_goes_back() {
        let mut window = Window::new(Box::new(io::repeat(b'x')));
        while window.data().len() < LONG {
            window.fill().unwrap();
        }
        window.consume(window.data().len() - 10);
        window.fill().unwrap();
        assert_eq!((window.buffer.len(), window.buffer.capacity() < LONG), (INITIAL, true));
        assert_eq!(window.data(), [b'x'; INITIAL]);
    }
}
