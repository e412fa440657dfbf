//! A memtable: hash tables of key prefixes over records that only come.

use super::atomics::{Arena, AtomicArray, AtomicU32, AtomicU64, Ordering};
use super::buckets::Buckets;
use super::by_ids::ByIds;
use super::ids::IdColumn;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{Entry, Fingerprint, Id, IdKind, Words, by_width, from_words};
use crate::memtable::MemtableShape;
use std::sync::Arc;

/// A memtable of one store.
#[derive(Debug)]
pub(crate) struct Memtable {
    pub(crate) shape: Arc<MemtableShape>,
    capacity: u32,
    pub(crate) tables: Vec<Buckets>,
    /// Fingerprints as their words, in the order in which they came.
    pub(crate) words: AtomicArray<AtomicU64>,
    /// Of each fingerprint the newest record, counted from 1.
    pub(crate) latest: AtomicArray<AtomicU32>,
    /// Of each record its id, or its count.
    pub(crate) ids: IdColumn,
    /// Of each record a [`Link`].
    links: AtomicArray<AtomicU64>,
    /// Fingerprints of long chains by their whole value.
    pub(crate) by_value: Buckets,
    /// Records of fingerprints with many of them by fingerprint and id, where there are ids.
    pub(crate) by_record: Option<Buckets>,
    /// Records by their ids, where the store has an id index.
    pub(crate) by_id: Option<ByIds>,
    fingerprints: AtomicU32,
    /// Records that were pushed.
    pub(crate) pushed: AtomicU32,
    /// Records that readers may see.
    visible: AtomicU32,
    /// How many of the pushed ones are tombstones.
    tombstones: AtomicU32,
}

/// What a record belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// The record that was written before it with the same fingerprint, counted from 1; 0 if there is none.
    pub(crate) before: u32,
    /// The number of its fingerprint.
    pub(crate) entry: u32,
    /// Whether it was removed by it.
    pub(crate) removed: bool,
}

impl Link {
    fn pack(self) -> u64 {
        u64::from(self.before) << 32 | u64::from(self.entry) << 1 | u64::from(self.removed)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    fn unpack(word: u64) -> Self {
        Self { before: (word >> 32) as u32, entry: word as u32 >> 1, removed: word & 1 == 1 }
    }
}

impl Memtable {
    /// An empty memtable with room for the records of the shape, or for `least` if those are more.
    ///
    /// # Errors
    /// `Io` if there is not so much memory.
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

    /// Number of records that it has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Whether three quarters of it are in use.
    pub(crate) fn is_nearly_full(&self) -> bool {
        let is_nearly = |used: usize, most: usize| used > most / 4 * 3;
        is_nearly(self.pushed.load(Ordering::Relaxed) as usize, self.capacity as usize)
            || self.shape.text_bytes > 0 && is_nearly(self.ids.text_bytes(), self.shape.text_bytes)
    }

    /// Whether these operations, and the texts of their ids, still fit.
    pub(crate) fn has_room(&self, operations: &[Entry<Words>]) -> bool {
        let pushed = self.pushed.load(Ordering::Relaxed) as usize;
        let text_bytes = operations.iter().filter_map(|operation| operation.record.id.text()).map(str::len).sum();
        pushed.saturating_add(operations.len()) <= self.capacity as usize
            && (pushed == 0 || self.ids.text_bytes().saturating_add(text_bytes) <= self.shape.text_bytes)
    }

    /// Number of records that readers may see.
    #[inline]
    pub(crate) fn visible(&self) -> u32 {
        self.visible.load(Ordering::Acquire)
    }

    /// Whether anything was pushed.
    pub(crate) fn is_empty(&self) -> bool {
        self.pushed.load(Ordering::Relaxed) == 0
    }

    /// Whether any record may have been removed by it.
    #[inline]
    pub(crate) fn has_tombstones(&self) -> bool {
        self.tombstones.load(Ordering::Relaxed) > 0
    }

    /// Number of distinct fingerprints.
    #[inline]
    pub(crate) fn fingerprints(&self) -> u32 {
        self.fingerprints.load(Ordering::Acquire)
    }

    /// Bytes of memory that are in use, about.
    pub(crate) fn used_bytes(&self) -> u64 {
        u64::from(self.pushed.load(Ordering::Relaxed)) * self.shape.record_bytes as u64 + self.ids.text_bytes() as u64
    }

    /// Appends what was written about a record: that it is there, or that it is not any more. Of counts, how many more
    /// records its fingerprint has, or less. To be called by one thread at a time; readers see it when it is published.
    ///
    /// # Errors
    /// `InvalidInput` if there is no room; [`Memtable::has_room`] tells before.
    pub(crate) fn push<F: Fingerprint>(&self, fingerprint: F, id: &Id, removed: bool) -> Result<()> {
        let record = self.pushed.load(Ordering::Relaxed);
        if record >= self.capacity {
            return Err(Error::invalid("more records than a memtable has room for"));
        }
        let found = self.find(fingerprint);
        let entry = found.unwrap_or_else(|| self.fingerprints.load(Ordering::Relaxed));
        self.ids.set(record, id);
        let before = if found.is_some() { load(&self.latest, entry) } else { 0 };
        let link = Link { before, entry, removed };
        if let Some(slot) = self.links.as_slice().get(record as usize) {
            slot.store(link.pack(), Ordering::Relaxed);
        }
        if found.is_some() {
            self.index_record(entry, record);
        }
        self.index_id(id, record, link);
        self.tombstones.fetch_add(u32::from(removed), Ordering::Relaxed);
        // Whoever finds the record by its fingerprint finds everything that was stored above.
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

    /// Pushes a batch, and lets readers see all of it at once.
    ///
    /// # Errors
    /// Those of [`Memtable::push`].
    pub(crate) fn write(&self, operations: &[Entry<Words>]) -> Result<()> {
        by_width!(64 * self.shape.words, F => {
            for Entry { record, is_tombstone } in operations {
                self.push::<F>(from_words(record.fingerprint), &record.id, *is_tombstone)?;
            }
        });
        self.publish();
        Ok(())
    }

    /// Lets readers see everything that was pushed.
    pub(crate) fn publish(&self) {
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

    /// Whether any record between two moments has a fingerprint within distance `k`, and was not a removal.
    pub(crate) fn any_near_between<F: Fingerprint>(&self, from: u32, to: u32, fingerprint: F, k: u32) -> bool {
        let near = |link: Link| !link.removed && self.fingerprint::<F>(link.entry).distance(fingerprint) <= k;
        (from..to).any(|record| near(self.link(record)))
    }

    #[inline]
    pub(crate) fn link(&self, record: u32) -> Link {
        let word = self.links.as_slice().get(record as usize).map_or(0, |link| link.load(Ordering::Relaxed));
        Link::unpack(word)
    }

    /// The newest record of a fingerprint at a moment, counted from 1; 0 if there was none yet.
    #[inline]
    fn newest(&self, entry: u32, visible: u32) -> u32 {
        let mut record = load(&self.latest, entry);
        while record > visible {
            record = self.link(record - 1).before;
        }
        record
    }

    /// Whether a fingerprint was there at a moment.
    #[inline]
    pub(crate) fn is_visible(&self, entry: u32, visible: u32) -> bool {
        self.newest(entry, visible) > 0
    }
}

#[inline]
pub(crate) fn load(array: &AtomicArray<AtomicU32>, at: u32) -> u32 {
    array.as_slice().get(at as usize).map_or(0, |number| number.load(Ordering::Acquire))
}
