//! The ids of a memtable's records: a word each, texts in one string.

use super::atomics::{Arena, AtomicArray, AtomicU64, Ordering};
use crate::fingerprint::{Id, IdKind};
use std::sync::{PoisonError, RwLock};
use xxhash_rust::xxh64::xxh64;

/// Bits of a word that say how long a text is; those above say where it begins. A text has at most 4096 bytes.
const LENGTH_BITS: u32 = 13;

/// A word for each record, written once.
#[derive(Debug)]
pub(crate) struct IdColumn {
    kind: IdKind,
    words: AtomicArray<AtomicU64>,
    /// All texts, one after another. Only looked at for ids that somebody asks for, so a lock is cheap enough.
    texts: RwLock<String>,
}

impl IdColumn {
    /// Room for so many; `None` if there is not so much memory.
    pub(super) fn new(kind: IdKind, count: usize, arena: &mut Arena) -> Option<Self> {
        Some(Self { kind, words: arena.array(count)?, texts: RwLock::default() })
    }

    /// Bytes of all texts.
    pub(super) fn text_bytes(&self) -> usize {
        if self.kind == IdKind::Text { self.texts.read().unwrap_or_else(PoisonError::into_inner).len() } else { 0 }
    }

    /// Says what the id of a record is, once, before anybody can know of the record.
    pub(super) fn set(&self, record: u32, id: &Id) {
        let word = match id {
            Id::Number(number) | Id::Count(number) => *number,
            Id::Text(text) => {
                let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
                let start = texts.len() as u64;
                texts.push_str(text);
                start << LENGTH_BITS | text.len() as u64
            }
        };
        if let Some(slot) = self.words.as_slice().get(record as usize) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    /// Whether a record has this id.
    pub(super) fn is(&self, record: u32, id: &Id) -> bool {
        let word = self.words.as_slice().get(record as usize).map_or(0, |slot| slot.load(Ordering::Relaxed));
        match id {
            Id::Number(number) | Id::Count(number) => word == *number,
            Id::Text(text) => self.with_text(word, |found| found == &**text),
        }
    }

    fn with_text<R>(&self, word: u64, visit: impl FnOnce(&str) -> R) -> R {
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(word >> LENGTH_BITS).unwrap_or(usize::MAX);
        let length = usize::try_from(word & ((1 << LENGTH_BITS) - 1)).unwrap_or(0);
        let text = start.checked_add(length).and_then(|end| texts.get(start..end));
        visit(text.unwrap_or_default())
    }

    /// The id of a record.
    pub(super) fn get(&self, record: u32) -> Id {
        let word = self.words.as_slice().get(record as usize).map_or(0, |slot| slot.load(Ordering::Relaxed));
        match self.kind {
            IdKind::Number => Id::Number(word),
            IdKind::None => Id::Count(word),
            IdKind::Text => self.with_text(word, |text| Id::Text(text.into())),
        }
    }
}

/// What an id is found by in a hash table; nothing, of a count.
pub(super) fn slot_key(id: &Id) -> Option<u64> {
    match id {
        Id::Number(number) => Some(*number),
        Id::Text(text) => Some(xxh64(text.as_bytes(), 0)),
        Id::Count(_) => None,
    }
}
