//! Look-ups of a fingerprint, a record or an id, in a few steps for any content.
//!
//! A fingerprint is in a chain of the primary table, a record in the chain of its fingerprint. Most chains are short.
//! When a chain (fingerprints with one prefix, records with one fingerprint) exceeds [`WALK`] members, all of them
//! enter a second index by a hash of the whole value. The newest member shows whether the chain is long: it enters the
//! index before readers can see it, so readers then find all others there too. So spread fingerprints cost nothing, and
//! no look-up follows more links.
//!
//! The records of one id form two lists: all of them, newest first, and a shorter one without the records that a newer
//! record of the same id had removed or repeated when it was written. A reader follows the first list to a record that
//! is visible to it, and the second from there.

use super::atomics::Ordering;
use super::buckets::{Buckets, count_step};
use super::ids;
use crate::fingerprint::{Entry, Fingerprint, Id, IdKind, Record};
use crate::memtable::table::{Link, Memtable, load};
use crate::plan::filter_shape::hash;

/// Longest chain without a second index.
const WALK: usize = if cfg!(fpstore_loom) { 1 } else { 64 };

/// The key of a fingerprint in [`Memtable::by_value`].
#[inline]
fn value_key(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0, |sum, word| hash(sum ^ word))
}

#[inline]
fn record_key(value_key: u64, id: &Id) -> u64 {
    hash(value_key ^ ids::slot_key(id).unwrap_or(0).rotate_left(32))
}

impl Memtable {
    /// The number of a fingerprint. Its records need not be visible yet.
    pub(crate) fn find<F: Fingerprint>(&self, fingerprint: F) -> Option<u32> {
        let (buckets, table) = self.tables.first().zip(self.shape.tables.first())?;
        let mut chain = buckets.chain(table.bucket_key(table.permutation.head(fingerprint))).peekable();
        let is_it = |&entry: &u32| self.fingerprint::<F>(entry) == fingerprint;
        match chain.peek() {
            Some(&newest) if self.by_value.has(newest) => {
                let words = (0..F::WORDS).map(|number| fingerprint.word(number));
                self.by_value.chain(value_key(words)).find(is_it)
            }
            _ => chain.find(is_it),
        }
    }

    /// Whether the newest visible entry of a record is a tombstone; `None` without an entry. Not for counts.
    pub(crate) fn is_removed(&self, entry: u32, id: &Id, visible: u32) -> Option<bool> {
        self.last_of(entry, id, visible).map(|record| self.link(record).is_tombstone)
    }

    /// The ids of a fingerprint whose newest visible entry is no tombstone, in no order. Not for counts.
    pub(crate) fn live_ids_of(&self, entry: u32, visible: u32) -> impl Iterator<Item = Id> + '_ {
        let records = self.records_of(entry).filter(move |&record| record < visible && !self.link(record).is_tombstone);
        records.filter_map(move |record| {
            let id = self.ids.get(record);
            (self.last_of(entry, &id, visible) == Some(record)).then_some(id)
        })
    }

    fn last_of(&self, entry: u32, id: &Id, visible: u32) -> Option<u32> {
        let is_it = |record: &u32| *record < visible && self.ids.is(*record, id);
        let mut chain = self.records_of(entry).peekable();
        let newest = *chain.peek()?;
        match self.by_record.as_ref().filter(|by_record| by_record.has(newest)) {
            Some(by_record) => {
                let is_it = |record: &u32| self.link(*record).entry == entry && is_it(record);
                by_record.chain(record_key(value_key(self.words_of(entry)), id)).find(is_it)
            }
            None => chain.find(is_it),
        }
    }

    /// All fingerprints with an id among the visible entries, and perhaps some that have lost it. Needs an id index.
    pub(crate) fn entries_of_id<'a>(&'a self, id: &'a Id, visible: u32) -> impl Iterator<Item = u32> + 'a {
        let index = self.by_id.as_ref().zip(ids::slot_key(id));
        let first = index.and_then(|(by_id, key)| by_id.all.chain(key).next());
        let step = move |&record: &u32| {
            let by_id = self.by_id.as_ref()?;
            if record < visible { by_id.live(record) } else { by_id.all.older(record) }
        };
        let is_it =
            move |record: &u32| *record < visible && !self.link(*record).is_tombstone && self.ids.is(*record, id);
        std::iter::successors(first, step).filter(is_it).map(|record| self.link(record).entry)
    }

    /// Fills `out` with the newest visible entry of every id of a fingerprint, ascending by id, and whether it is a
    /// tombstone.
    pub(crate) fn entries_of(&self, entry: u32, visible: u32, out: &mut Vec<(Id, bool)>) {
        out.clear();
        let chain = self.records_of(entry).skip_while(|&record| record >= visible);
        if self.shape.ids == IdKind::None {
            let (mut more, mut less) = (0u64, 0u64);
            for record in chain {
                let Id::Count(count) = self.ids.get(record) else { continue };
                let sum = if self.link(record).is_tombstone { &mut less } else { &mut more };
                *sum = sum.saturating_add(count);
            }
            if more != less {
                out.push((Id::Count(more.abs_diff(less)), less > more));
            }
            return;
        }
        out.extend(chain.map(|record| (self.ids.get(record), self.link(record).is_tombstone)));
        // Stable: of equal ids the newest is first, and stays.
        out.sort_by(|a, b| a.0.cmp(&b.0));
        out.dedup_by(|next, kept| next.0 == kept.0);
    }

    /// The newest visible entry of every record, by fingerprint, then id.
    pub(crate) fn entries<F: Fingerprint>(&self, visible: u32) -> Vec<Entry<F>> {
        let mut slots: Vec<(F, u32)> = (0..self.fingerprints()).map(|slot| (self.fingerprint(slot), slot)).collect();
        slots.retain(|&(_, slot)| self.is_visible(slot, visible));
        slots.sort_unstable();
        let (mut entries, mut own) = (Vec::new(), Vec::new());
        for (fingerprint, slot) in slots {
            self.entries_of(slot, visible, &mut own);
            let entry = |(id, is_tombstone)| Entry { record: Record { fingerprint, id }, is_tombstone };
            entries.extend(own.drain(..).map(entry));
        }
        entries
    }

    /// All records of a fingerprint, newest first.
    pub(super) fn records_of(&self, entry: u32) -> impl Iterator<Item = u32> + '_ {
        let newest = load(&self.latest, entry).checked_sub(1);
        std::iter::successors(newest, |&record| {
            count_step();
            self.link(record).before.checked_sub(1)
        })
    }

    /// Enters a fingerprint in its second index, before it enters the tables.
    pub(super) fn index_value<F: Fingerprint>(&self, fingerprint: F, entry: u32) {
        let Some((buckets, table)) = self.tables.first().zip(self.shape.tables.first()) else { return };
        let place = buckets.place(table.bucket_key(table.permutation.head(fingerprint)));
        let key = |entry: u32| value_key(self.words_of(entry));
        index_long(&self.by_value, buckets.chain_at(place), entry, key);
    }

    /// Enters a record in its second index, before it enters the chain of its fingerprint.
    pub(super) fn index_record(&self, entry: u32, record: u32) {
        let Some(by_record) = &self.by_record else { return };
        let key = |record: u32| record_key(value_key(self.words_of(entry)), &self.ids.get(record));
        index_long(by_record, self.records_of(entry), record, key);
    }

    pub(super) fn index_id(&self, id: &Id, record: u32, link: Link) {
        let Some((by_id, key)) = self.by_id.as_ref().zip(ids::slot_key(id)) else { return };
        let newest = by_id.all.newest(by_id.all.place(key));
        // The shorter list has no tombstones.
        let live =
            newest.and_then(|newest| if self.link(newest).is_tombstone { by_id.live(newest) } else { Some(newest) });
        let is_same = |other: &u32| self.link(*other).entry == link.entry && self.ids.is(*other, id);
        let live = if live.as_ref().is_some_and(is_same) { live.and_then(|live| by_id.live(live)) } else { live };
        if let Some(slot) = by_id.live.as_slice().get(record as usize) {
            slot.store(live.map_or(0, |live| live + 1), Ordering::Relaxed);
        }
        by_id.all.enter(key, record);
    }
}

/// Enters a new member of a long chain in the second index, with all others when the chain becomes long. For members of
/// short chains, the index has the number of members before them.
fn index_long(index: &Buckets, chain: impl Iterator<Item = u32>, new: u32, key: impl Fn(u32) -> u64) {
    let mut chain = chain.peekable();
    let Some(&newest) = chain.peek() else { return };
    if index.has(newest) {
        return index.enter(key(new), new);
    }
    let before = index.count(newest) + 1;
    if (before as usize) < WALK {
        return index.set_count(new, before);
    }
    // Oldest first, so that the newest is first in the index too.
    let others: Vec<u32> = chain.collect();
    others.into_iter().rev().for_each(|other| index.enter_seen(key(other), other));
    index.enter(key(new), new);
}
