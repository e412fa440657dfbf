//! Raw little-endian integers of 8 bytes each.

use std::io::{self, Read};

use super::Entry;
use super::window::Window;

const SIZE: usize = size_of::<u64>();

/// The integers of a stream.
#[derive(Debug)]
pub(super) struct Integers {
    window: Window,
    number: u64,
}

impl Integers {
    pub(super) fn new(stream: Box<dyn Read + Send>) -> Self {
        Self { window: Window::new(stream), number: 0 }
    }

    /// Number of the integer that [`Self::next_entry`] gave last, or failed on; the first is 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the next integer is there without waiting for the stream.
    pub(super) fn ready(&self) -> bool {
        self.window.data().len() >= SIZE
    }

    /// Appends the integers that are there without waiting for the stream.
    pub(super) fn take_ready(&mut self, integers: &mut Vec<u64>) {
        let (ready, _) = self.window.data().as_chunks::<SIZE>();
        let length = size_of_val(ready);
        self.number += ready.len() as u64;
        integers.extend(ready.iter().map(|&bytes| u64::from_le_bytes(bytes)));
        self.window.consume(length);
    }

    /// The next integer, or `None` at the end of the stream.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<Entry>> {
        self.number += 1;
        loop {
            if let Some(bytes) = self.window.data().first_chunk::<SIZE>() {
                let fingerprint = u64::from_le_bytes(*bytes);
                self.window.consume(SIZE);
                return Ok(Some(Entry { fingerprint, id: None }));
            }
            if self.window.ended() {
                return match self.window.data().len() {
                    0 => Ok(None),
                    left => Err(io::Error::other(format!(
                        "the input ends with {left} of the {SIZE} bytes of a 64-bit fingerprint"
                    ))),
                };
            }
            self.window.fill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_a_cut() {
        let mut bytes: Vec<u8> = (0..100_000_u64).flat_map(u64::to_le_bytes).collect();
        bytes.extend_from_slice(b"abc");
        let mut integers = Integers::new(Box::new(io::Cursor::new(bytes)));
        let mut all = Vec::new();
        while all.len() < 100_000 {
            let next = integers.next_entry().unwrap().unwrap();
            assert_eq!(next, Entry { fingerprint: all.len() as u64, id: None });
            all.push(next.fingerprint);
            if all.len() > 7 {
                integers.take_ready(&mut all);
                assert_eq!(integers.number(), all.len() as u64);
            }
        }
        assert!(all.into_iter().eq(0..100_000));
        let mut ready = Vec::new();
        integers.take_ready(&mut ready);
        assert!(ready.is_empty() && integers.number() == 100_000);
        let error = integers.next_entry().unwrap_err().to_string();
        assert!(error.contains("3 of the 8 bytes"), "{error}");
        assert_eq!(integers.number(), 100_001);
        let mut none = Integers::new(Box::new(io::empty()));
        assert_eq!(none.next_entry().unwrap(), None);
    }
}
