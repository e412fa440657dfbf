//! Records with texts in memory.

use crate::extsort::memory::bytes_of;
use crate::fingerprint::Fingerprint;

/// A record of a chunk: fingerprint, and offset and length of its text in the chunk's.
pub(crate) type TextEntry<F> = (F, u32, u32);

#[derive(Debug, Default)]
pub(crate) struct TextChunk<F> {
    pub(crate) entries: Vec<TextEntry<F>>,
    pub(crate) texts: Vec<u8>,
}

impl<F: Fingerprint> TextChunk<F> {
    pub(crate) fn records(&self) -> impl Iterator<Item = (F, &[u8])> {
        self.entries.iter().map(|entry| (entry.0, self.text(entry)))
    }

    pub(crate) fn text(&self, &(_, offset, length): &TextEntry<F>) -> &[u8] {
        self.texts.get(offset as usize..).and_then(|texts| texts.get(..length as usize)).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of records and texts.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<TextEntry<F>>() + self.texts.len()
    }

    #[expect(clippy::cast_possible_truncation, reason = "texts have less than 4 GiB together")]
    pub(crate) fn push(&mut self, fingerprint: F, text: &[u8]) {
        if self.entries.is_empty() {
            self.texts.reserve_exact(text.len());
        }
        self.entries.push((fingerprint, self.texts.len() as u32, text.len() as u32));
        self.texts.extend_from_slice(text);
    }

    /// Whether this record is the last one.
    pub(crate) fn ends_with(&self, fingerprint: F, text: &[u8]) -> bool {
        self.entries.last().is_some_and(|entry| entry.0 == fingerprint && self.text(entry) == text)
    }

    /// Whether the capacity is enough for one more record, with a text of `length` bytes. It is for the first one.
    pub(crate) fn has_space(&self, length: usize) -> bool {
        self.entries.is_empty()
            || self.entries.len() < self.entries.capacity() && self.texts.capacity() - self.texts.len() >= length
    }

    /// Bytes of memory, used or not.
    pub(crate) fn held(&self) -> u64 {
        bytes_of::<TextEntry<F>>(self.entries.capacity()) + self.texts.capacity() as u64
    }
}
