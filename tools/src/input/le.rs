//! Raw little-endian integers, each as wide as a fingerprint.

use std::io;
use std::marker::PhantomData;

use fpstore::Fingerprint;

use super::window::Window;

/// The integers of a stream.
#[derive(Debug)]
pub(super) struct Integers<F> {
    window: Window,
    number: u64,
    width: PhantomData<F>,
}

impl<F: Fingerprint> Integers<F> {
    pub(super) fn new(window: Window) -> Self {
        Self { window, number: 0, width: PhantomData }
    }

    /// Number of the integer that [`Self::next_integer`] returned last, or failed on; the first is 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the next integer is available without waiting for the stream.
    pub(super) fn ready(&self) -> bool {
        self.window.data().len() >= F::BYTES
    }

    /// Appends the integers that are available without waiting for the stream.
    pub(super) fn take_ready(&mut self, integers: &mut Vec<F>) {
        let ready = self.window.data().chunks_exact(F::BYTES);
        let count = ready.len();
        integers.extend(ready.map(|bytes| F::from_le_bytes(bytes).unwrap_or_default()));
        self.number += count as u64;
        self.window.consume(count * F::BYTES);
    }

    /// Returns the next integer, or `None` at the end of the stream.
    pub(super) fn next_integer(&mut self) -> io::Result<Option<F>> {
        self.number += 1;
        loop {
            if let Some(integer) = self.window.data().get(..F::BYTES).and_then(F::from_le_bytes) {
                self.window.consume(F::BYTES);
                return Ok(Some(integer));
            }
            if self.window.ended() {
                return match self.window.data().len() {
                    0 => Ok(None),
                    left => Err(io::Error::other(format!(
                        "the input ends with {left} of the {} bytes of a {}-bit fingerprint",
                        F::BYTES,
                        F::WIDTH
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
    use fpstore::U256;

    fn integers_and_a_cut<F: Fingerprint>() {
        const COUNT: u64 = 100_000;
        let value = |n: u64| F::from_words(|word| n << word);
        let mut bytes = Vec::new();
        (0..COUNT).for_each(|n| value(n).write_le(&mut bytes));
        bytes.extend_from_slice(b"abc");
        let mut integers = Integers::<F>::new(Window::new(Box::new(io::Cursor::new(bytes))));
        let mut all = Vec::new();
        while all.len() as u64 != COUNT {
            all.push(integers.next_integer().unwrap().unwrap());
            if all.len() > 7 {
                integers.take_ready(&mut all);
                assert_eq!(integers.number(), all.len() as u64);
            }
        }
        assert!(all.into_iter().eq((0..COUNT).map(value)));
        let mut ready = Vec::new();
        integers.take_ready(&mut ready);
        assert!(ready.is_empty() && integers.number() == COUNT);
        let error = integers.next_integer().unwrap_err().to_string();
        let part = format!("3 of the {} bytes of a {}-bit", F::BYTES, F::WIDTH);
        assert!(error.contains(&part), "{error}");
        assert_eq!(integers.number(), COUNT + 1);
        let mut none = Integers::<F>::new(Window::new(Box::new(io::empty())));
        assert_eq!(none.next_integer().unwrap(), None);
    }

    #[test]
    fn every_width() {
        integers_and_a_cut::<u64>();
        integers_and_a_cut::<u128>();
        integers_and_a_cut::<U256>();
    }
}
