//! The ids of a memtable's records: a word each, the texts in one string.

use super::atomics::{Arena, AtomicArray, AtomicU64, Ordering};
use crate::executor::RwLock;
use crate::fingerprint::{Id, IdKind};
use xxhash_rust::xxh64::xxh64;

/// The low bits of a word with the length of a text, at most 4096 bytes. The others have its offset.
const LENGTH_BITS: u32 = 13;

/// A word for each record, written once.
#[derive(Debug)]
pub(crate) struct IdColumn {
    kind: IdKind,
    words: AtomicArray<AtomicU64>,
    /// Only read for ids that a caller needs, so a lock is cheap enough.
    texts: RwLock<String>,
}

impl IdColumn {
    /// A column of `count` ids; `None` without enough memory.
    pub(super) fn new(kind: IdKind, count: usize, arena: &mut Arena) -> Option<Self> {
        Some(Self { kind, words: arena.array(count)?, texts: RwLock::default() })
    }

    pub(super) fn text_bytes(&self) -> usize {
        if self.kind == IdKind::Text { self.texts.read().len() } else { 0 }
    }

    /// Sets the id of a record, once, before readers can see the record.
    pub(super) fn set(&self, record: u32, id: &Id) {
        let word = match id {
            Id::Number(number) | Id::Count(number) => *number,
            Id::Text(text) => {
                let mut texts = self.texts.write();
                let start = texts.len() as u64;
                texts.push_str(text);
                start << LENGTH_BITS | text.len() as u64
            }
        };
        if let Some(slot) = self.words.as_slice().get(record as usize) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    pub(super) fn is(&self, record: u32, id: &Id) -> bool {
        let word = self.word(record);
        match id {
            Id::Number(number) | Id::Count(number) => word == *number,
            Id::Text(text) => self.with_text(word, |found| found == &**text),
        }
    }

    fn word(&self, record: u32) -> u64 {
        self.words.as_slice().get(record as usize).map_or(0, |slot| slot.load(Ordering::Relaxed))
    }

    fn with_text<R>(&self, word: u64, visit: impl FnOnce(&str) -> R) -> R {
        let texts = self.texts.read();
        let start = usize::try_from(word >> LENGTH_BITS).unwrap_or(usize::MAX);
        let length = usize::try_from(word & ((1 << LENGTH_BITS) - 1)).unwrap_or(0);
        let text = start.checked_add(length).and_then(|end| texts.get(start..end));
        visit(text.unwrap_or_default())
    }

    pub(super) fn get(&self, record: u32) -> Id {
        let word = self.word(record);
        match self.kind {
            IdKind::Number => Id::Number(word),
            IdKind::None => Id::Count(word),
            IdKind::Text => self.with_text(word, |text| Id::Text(text.into())),
        }
    }
}

/// The hash key of an id; `None` for a count.
pub(super) fn slot_key(id: &Id) -> Option<u64> {
    match id {
        Id::Number(number) => Some(*number),
        Id::Text(text) => Some(xxh64(text.as_bytes(), 0)),
        Id::Count(_) => None,
    }
}
