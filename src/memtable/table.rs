//! The append-only columns and hash tables of a memtable.

use super::atomics::{Arena, AtomicArray, AtomicU32, AtomicU64, Ordering};
use super::buckets::{Buckets, ByIds};
use super::ids::IdColumn;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{Entry, Fingerprint, Id, IdKind, Words, by_width, from_words};
use crate::memtable::MemtableShape;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Memtable {
    pub(super) shape: Arc<MemtableShape>,
    capacity: u32,
    pub(super) tables: Vec<Buckets>,
    /// The words of the fingerprints, in the order of their first records.
    pub(super) words: AtomicArray<AtomicU64>,
    /// For each fingerprint the newest record, counted from 1.
    pub(super) latest: AtomicArray<AtomicU32>,
    pub(super) ids: IdColumn,
    /// For each record a [`Link`].
    links: AtomicArray<AtomicU64>,
    /// Fingerprints of long chains, by value.
    pub(super) by_value: Buckets,
    /// Records of fingerprints with many records, by fingerprint and id.
    pub(super) by_record: Option<Buckets>,
    /// Records by id, if the store has an id index.
    pub(super) by_id: Option<ByIds>,
    fingerprints: AtomicU32,
    pub(super) pushed: AtomicU32,
    visible: AtomicU32,
    tombstones: AtomicU32,
}

/// The fingerprint and chain of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The previous record of the same fingerprint, counted from 1, or 0.
    pub(super) before: u32,
    pub(super) entry: u32,
    pub(super) is_tombstone: bool,
}

impl Link {
    fn pack(self) -> u64 {
        u64::from(self.before) << 32 | u64::from(self.entry) << 1 | u64::from(self.is_tombstone)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    fn unpack(word: u64) -> Self {
        Self { before: (word >> 32) as u32, entry: word as u32 >> 1, is_tombstone: word & 1 == 1 }
    }
}

impl Memtable {
    /// An empty memtable for the records of the shape, but at least for `least`. Fails with `Io` without enough memory.
    pub(crate) fn new(shape: &Arc<MemtableShape>, least: usize) -> Result<Self> {
        let capacity = shape.capacity.max(least).min(super::shape::MOST_RECORDS);
        let make = || {
            // Heads of chains are up to twice as many as records.
            let arena = &mut Arena::new(capacity.checked_mul(shape.record_bytes)?.checked_mul(2)?);
            Some(Self {
                shape: Arc::clone(shape),
                capacity: u32::try_from(capacity).ok()?,
                tables: shape.tables.iter().map(|_| Buckets::new(capacity, arena)).collect::<Option<_>>()?,
                words: arena.array(capacity.checked_mul(shape.words)?)?,
                latest: arena.array(capacity)?,
                ids: IdColumn::new(shape.ids, capacity, arena)?,
                links: arena.array(capacity)?,
                by_value: Buckets::new(capacity, arena)?,
                by_record: if shape.ids == IdKind::None { None } else { Some(Buckets::new(capacity, arena)?) },
                by_id: if shape.id_index { Some(ByIds::new(capacity, arena)?) } else { None },
                fingerprints: AtomicU32::new(0),
                pushed: AtomicU32::new(0),
                visible: AtomicU32::new(0),
                tombstones: AtomicU32::new(0),
            })
        };
        make().ok_or_else(|| {
            Error::new(ErrorKind::Io, format!("there is no memory for a memtable of {capacity} records"))
                .with_remedy("open the store with a smaller memtable")
        })
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Whether three quarters are in use.
    pub(crate) fn is_nearly_full(&self) -> bool {
        let is_nearly = |used: usize, most: usize| used > most / 4 * 3;
        is_nearly(self.pushed.load(Ordering::Relaxed) as usize, self.capacity as usize)
            || self.shape.text_bytes > 0 && is_nearly(self.ids.text_bytes(), self.shape.text_bytes)
    }

    /// Whether these operations fit, with the texts of their ids.
    pub(crate) fn has_space(&self, operations: &[Entry<Words>]) -> bool {
        let pushed = self.pushed.load(Ordering::Relaxed) as usize;
        let text_bytes = operations.iter().filter_map(|operation| operation.record.id.text()).map(str::len).sum();
        pushed.saturating_add(operations.len()) <= self.capacity as usize
            && (pushed == 0 || self.ids.text_bytes().saturating_add(text_bytes) <= self.shape.text_bytes)
    }

    #[inline]
    pub(crate) fn visible(&self) -> u32 {
        self.visible.load(Ordering::Acquire)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pushed.load(Ordering::Relaxed) == 0
    }

    #[inline]
    pub(crate) fn has_tombstones(&self) -> bool {
        self.tombstones.load(Ordering::Relaxed) > 0
    }

    #[inline]
    pub(crate) fn fingerprints(&self) -> u32 {
        self.fingerprints.load(Ordering::Acquire)
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        u64::from(self.pushed.load(Ordering::Relaxed)) * self.shape.record_bytes as u64 + self.ids.text_bytes() as u64
    }

    /// Appends an entry; with a count, this many records more or less. One thread at a time. Fails if the memtable is
    /// full ([`Memtable::has_space`]).
    pub(super) fn push<F: Fingerprint>(&self, fingerprint: F, id: &Id, is_tombstone: bool) -> Result<()> {
        let record = self.pushed.load(Ordering::Relaxed);
        if record >= self.capacity {
            return Err(Error::invalid("more records than fit a memtable"));
        }
        let found = self.find(fingerprint);
        let entry = found.unwrap_or_else(|| self.fingerprints.load(Ordering::Relaxed));
        self.ids.set(record, id);
        let before = if found.is_some() { load(&self.latest, entry) } else { 0 };
        let link = Link { before, entry, is_tombstone };
        if let Some(slot) = self.links.as_slice().get(record as usize) {
            slot.store(link.pack(), Ordering::Relaxed);
        }
        if found.is_some() {
            self.index_record(entry, record);
        }
        self.index_id(id, record, link);
        self.tombstones.fetch_add(u32::from(is_tombstone), Ordering::Relaxed);
        // A reader that finds the record by its fingerprint sees all stores above.
        if let Some(latest) = self.latest.as_slice().get(entry as usize) {
            latest.store(record + 1, Ordering::Release);
        }
        if found.is_none() {
            let words = self.words.as_slice().iter().skip(entry as usize * self.shape.words).take(self.shape.words);
            words.enumerate().for_each(|(number, word)| word.store(fingerprint.word(number), Ordering::Relaxed));
            self.index_value(fingerprint, entry);
            for (buckets, table) in self.tables.iter().zip(&self.shape.tables) {
                buckets.enter(table.bucket_key(table.permutation.head(fingerprint)), entry);
            }
            self.fingerprints.store(entry + 1, Ordering::Release);
        }
        self.pushed.store(record + 1, Ordering::Release);
        Ok(())
    }

    pub(crate) fn write(&self, operations: &[Entry<Words>]) -> Result<()> {
        by_width!(64 * self.shape.words, F => {
            for Entry { record, is_tombstone } in operations {
                self.push::<F>(from_words(record.fingerprint), &record.id, *is_tombstone)?;
            }
        });
        self.publish();
        Ok(())
    }

    /// Makes all records visible to readers.
    pub(super) fn publish(&self) {
        self.visible.store(self.pushed.load(Ordering::Relaxed), Ordering::Release);
    }

    /// The fingerprint with this number. `F` is of the memtable's width.
    #[inline]
    pub(crate) fn fingerprint<F: Fingerprint>(&self, entry: u32) -> F {
        debug_assert_eq!(F::WORDS, self.shape.words);
        let words = self.words.as_slice();
        let first = entry as usize * F::WORDS;
        F::from_words(|number| words.get(first + number).map_or(0, |word| word.load(Ordering::Relaxed)))
    }

    /// The words of the fingerprint with this number, the most significant one first.
    #[inline]
    pub(super) fn words_of(&self, entry: u32) -> impl Iterator<Item = u64> + '_ {
        let first = entry as usize * self.shape.words;
        let own = self.words.as_slice().get(first..first + self.shape.words).unwrap_or_default();
        own.iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// Whether any of the records `from..to` is no tombstone and within distance `k`.
    pub(crate) fn any_near_between<F: Fingerprint>(&self, from: u32, to: u32, fingerprint: F, k: u32) -> bool {
        let near = |link: Link| !link.is_tombstone && self.fingerprint::<F>(link.entry).distance(fingerprint) <= k;
        (from..to).any(|record| near(self.link(record)))
    }

    #[inline]
    pub(super) fn link(&self, record: u32) -> Link {
        let word = self.links.as_slice().get(record as usize).map_or(0, |link| link.load(Ordering::Relaxed));
        Link::unpack(word)
    }

    /// The newest visible record of a fingerprint, counted from 1, or 0.
    #[inline]
    fn newest(&self, entry: u32, visible: u32) -> u32 {
        let mut record = load(&self.latest, entry);
        while record > visible {
            record = self.link(record - 1).before;
        }
        record
    }

    #[inline]
    pub(super) fn is_visible(&self, entry: u32, visible: u32) -> bool {
        self.newest(entry, visible) > 0
    }
}

#[inline]
pub(super) fn load(array: &AtomicArray<AtomicU32>, at: u32) -> u32 {
    array.as_slice().get(at as usize).map_or(0, |number| number.load(Ordering::Acquire))
}
