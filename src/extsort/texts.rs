//! Texts in memory.

use crate::extsort::memory::length;
use crate::extsort::merge_texts::LENGTH_BYTES;
use std::hint::black_box;

/// Bytes of a piece of memory for texts. Pieces never grow, so texts are not moved.
pub(crate) const PIECE: u64 = 1 << 20;

pub(crate) const FETCH: usize = 128;

/// A record in memory. Sorted by its fields it is sorted by fingerprint, and then as the records came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot<F> {
    pub(crate) fingerprint: F,
    /// The place of its text: number of the piece, and offset there, 32 bits each.
    pub(crate) place: u64,
}

/// Texts in memory, each after its length.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pieces: Vec<Vec<u8>>,
    pub(crate) capacity: u64,
    pub(crate) count: u64,
}

impl Texts {
    /// Whether the last piece has space for a text of this length.
    pub(crate) fn has_space(&self, length: usize) -> bool {
        self.pieces.last().is_some_and(|piece| piece.capacity() - piece.len() >= LENGTH_BYTES + length)
    }

    pub(crate) fn add_piece(&mut self, bytes: usize) {
        self.pieces.push(Vec::with_capacity(bytes));
        self.capacity += bytes as u64;
    }

    /// Appends a text, for which there is space, and returns its place.
    #[expect(clippy::cast_possible_truncation, reason = "a text is shorter than a piece")]
    pub(crate) fn push(&mut self, text: &[u8]) -> u64 {
        let number = self.pieces.len().saturating_sub(1) as u64;
        let Some(piece) = self.pieces.last_mut() else { return 0 };
        let offset = piece.len() as u64;
        piece.extend_from_slice(&(text.len() as u32).to_le_bytes());
        piece.extend_from_slice(text);
        self.count += 1;
        number << 32 | offset
    }

    /// Touches the texts of some records, all at once. They lie anywhere in memory, and one after another each would
    /// miss the cache.
    pub(crate) fn fetch<F>(&self, slots: &[Slot<F>]) {
        let last = |slot| self.get(slot).last().copied().unwrap_or_default();
        black_box(slots.iter().fold(0, |all, slot| all ^ last(slot)));
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum::<u64>() - self.count * LENGTH_BYTES as u64
    }

    pub(crate) fn get<F>(&self, slot: &Slot<F>) -> &[u8] {
        let piece = self.pieces.get(length(slot.place >> 32)).map(Vec::as_slice).unwrap_or_default();
        let text = piece.get(length(slot.place & u64::from(u32::MAX))..).and_then(<[u8]>::split_first_chunk);
        text.and_then(|(&length, text)| text.get(..u32::from_le_bytes(length) as usize)).unwrap_or_default()
    }
}
