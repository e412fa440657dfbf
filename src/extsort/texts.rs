//! Texts in memory.

use crate::extsort::lengths::length;
use std::hint::black_box;

/// Bytes of the pieces that texts are kept in; pieces, as they need not be moved to make room for more.
pub(crate) const PIECE: u64 = 1 << 20;

/// Number of records whose texts are fetched at once.
pub(crate) const FETCH: usize = 128;

/// Bytes of a text's length.
pub(crate) const LENGTH_BYTES: usize = 4;

/// A record in memory. Sorted by its fields it is sorted by fingerprint, and then as the records came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot<F> {
    pub(crate) fingerprint: F,
    /// Where its text is: number of the piece, and offset there, 32 bits each.
    pub(crate) place: u64,
}

/// Texts in memory, each behind its length.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pieces: Vec<Vec<u8>>,
    /// Room in all pieces together.
    pub(crate) capacity: u64,
}

impl Texts {
    /// Whether the last piece has room for so many bytes.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.pieces.last().is_some_and(|piece| piece.capacity() - piece.len() >= bytes)
    }

    pub(crate) fn add_piece(&mut self, bytes: usize) {
        self.pieces.push(Vec::with_capacity(bytes));
        self.capacity += bytes as u64;
    }

    /// Takes a text, for which there is room, and tells its place.
    #[expect(clippy::cast_possible_truncation, reason = "a text is shorter than a piece")]
    pub(crate) fn push(&mut self, text: &str) -> u64 {
        let number = self.pieces.len().saturating_sub(1) as u64;
        let Some(piece) = self.pieces.last_mut() else { return 0 };
        let offset = piece.len() as u64;
        piece.extend_from_slice(&(text.len() as u32).to_le_bytes());
        piece.extend_from_slice(text.as_bytes());
        number << 32 | offset
    }

    /// Touches the texts of some records, all at once. They lie anywhere, and who takes one after another waits for
    /// the memory every time unless they are in the cache by then.
    pub(crate) fn fetch<F>(&self, slots: &[Slot<F>]) {
        let last = |slot| self.get(slot).last().copied().unwrap_or_default();
        black_box(slots.iter().fold(0, |all, slot| all ^ last(slot)));
    }

    /// Bytes of all texts and their lengths.
    pub(crate) fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }

    /// The text at a place.
    pub(crate) fn get<F>(&self, slot: &Slot<F>) -> &[u8] {
        let piece = self.pieces.get(length(slot.place >> 32)).map(Vec::as_slice).unwrap_or_default();
        let text = piece.get(length(slot.place & u64::from(u32::MAX))..).and_then(<[u8]>::split_first_chunk);
        text.and_then(|(&length, text)| text.get(..u32::from_le_bytes(length) as usize)).unwrap_or_default()
    }
}
