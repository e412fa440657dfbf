//! Resolves the writes of a batch to operations: records that are inserted, and records that exist and are removed.
//!
//! A later write of a batch sees the earlier ones. Look-ups read the store as it was before the batch, and are combined
//! with the operations so far.

use crate::db::store_inner::StoreInner;
use crate::db::write_batch::{Write, WriteSummary, only_insert};
use crate::error::Result;
use crate::fingerprint::{Entry, Id, IdKind, Record, Words, by_width, from_words, to_words};
use crate::query::ViewSearcher;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Resolved {
    pub(crate) operations: Vec<Entry<Words>>,
    pub(crate) written: WriteSummary,
    /// `None` if all writes of the batch only add.
    known: Option<Known>,
}

struct Known {
    /// Searches the store before the batch.
    stored: ViewSearcher,
    /// The newest operation of the batch on each record: whether it is a tombstone.
    newest: BTreeMap<Words, BTreeMap<Id, bool>>,
    /// Fingerprints that have no records but those of `newest`.
    emptied: BTreeSet<Words>,
    /// The fingerprints of ids, if the store has an id index.
    by_id: Option<BTreeMap<Id, OfId>>,
    /// In a store without ids, the changes of the counts.
    counted: BTreeMap<Words, i128>,
}

/// The fingerprints of an id after the writes so far; complete once those of the store were looked up.
#[derive(Default)]
struct OfId {
    fingerprints: BTreeSet<Words>,
    is_complete: bool,
}

impl Resolved {
    pub(crate) fn new(inner: &StoreInner, batch: &[Write]) -> Self {
        let known = || Known {
            stored: ViewSearcher::new(&inner.context, inner.read_view()),
            newest: BTreeMap::new(),
            emptied: BTreeSet::new(),
            by_id: inner.context.parameters.id_index().then(BTreeMap::new),
            counted: BTreeMap::new(),
        };
        let operations = Vec::with_capacity(batch.len());
        Self { operations, written: WriteSummary::default(), known: (!only_insert(batch)).then(known) }
    }

    fn note(&mut self, fingerprint: Words, id: Id, is_tombstone: bool) {
        if let Some(known) = &mut self.known {
            known.note(fingerprint, &id, is_tombstone);
        }
        self.operations.push(Entry { record: Record { fingerprint, id }, is_tombstone });
    }

    pub(crate) fn insert(&mut self, fingerprint: Words, id: Id) {
        self.note(fingerprint, id, false);
    }

    /// Removes a record that exists, or `Count` records of the fingerprint.
    pub(crate) fn remove(&mut self, fingerprint: Words, id: Id) {
        self.written.removed += if let Id::Count(count) = id { count } else { 1 };
        self.note(fingerprint, id, true);
    }

    /// Whether a record exists after the writes so far; for counts, whether any does.
    pub(crate) fn has(&mut self, fingerprint: Words, id: &Id) -> Result<bool> {
        let Some(known) = &mut self.known else { return Ok(false) };
        match id {
            Id::Count(_) => Ok(known.count_of(fingerprint)?.is_some()),
            id => known.has(fingerprint, id),
        }
    }

    pub(crate) fn remove_fingerprint(&mut self, fingerprint: Words, kind: IdKind) -> Result<()> {
        let Some(known) = &mut self.known else { return Ok(()) };
        let ids: Vec<Id> = match kind {
            IdKind::None => known.count_of(fingerprint)?.map(Id::Count).into_iter().collect(),
            IdKind::Number | IdKind::Text => known.ids_of(fingerprint)?.into_iter().collect(),
        };
        ids.into_iter().for_each(|id| self.remove(fingerprint, id));
        if let Some(known) = &mut self.known {
            known.newest.remove(&fingerprint);
            known.emptied.insert(fingerprint);
        }
        Ok(())
    }

    /// Removes the records of an id, except that with fingerprint `keep`. Returns whether that exists.
    pub(crate) fn remove_id(&mut self, id: &Id, keep: Option<Words>) -> Result<bool> {
        let Some(known) = &mut self.known else { return Ok(false) };
        let mut fingerprints = known.fingerprints_of(id)?;
        let kept = keep.is_some_and(|keep| fingerprints.remove(&keep));
        fingerprints.into_iter().for_each(|fingerprint| self.remove(fingerprint, id.clone()));
        Ok(kept)
    }
}

impl Known {
    fn note(&mut self, fingerprint: Words, id: &Id, is_tombstone: bool) {
        if let Id::Count(count) = id {
            let change = if is_tombstone { -i128::from(*count) } else { i128::from(*count) };
            *self.counted.entry(fingerprint).or_default() += change;
            return;
        }
        self.newest.entry(fingerprint).or_default().insert(id.clone(), is_tombstone);
        if let Some(by_id) = &mut self.by_id {
            let fingerprints = &mut by_id.entry(id.clone()).or_default().fingerprints;
            _ = if is_tombstone { fingerprints.remove(&fingerprint) } else { fingerprints.insert(fingerprint) };
        }
    }

    fn width(&self) -> u32 {
        self.stored.context.parameters.width()
    }

    fn stored_ids_of(&mut self, fingerprint: Words) -> Result<Vec<Id>> {
        by_width!(self.width(), F => self.stored.ids_of::<F>(from_words(fingerprint)))
    }

    /// Whether the writes so far leave a record; `None` if they do not mention it.
    fn written(&self, fingerprint: Words, id: &Id) -> Option<bool> {
        match self.newest.get(&fingerprint).and_then(|newest| newest.get(id)) {
            Some(is_tombstone) => Some(!is_tombstone),
            None => self.emptied.contains(&fingerprint).then_some(false),
        }
    }

    fn has(&mut self, fingerprint: Words, id: &Id) -> Result<bool> {
        match self.written(fingerprint, id) {
            Some(has) => Ok(has),
            None => by_width!(self.width(), F => self.stored.has::<F>(from_words(fingerprint), id)),
        }
    }

    fn ids_of(&mut self, fingerprint: Words) -> Result<BTreeSet<Id>> {
        let stored = if self.emptied.contains(&fingerprint) { Vec::new() } else { self.stored_ids_of(fingerprint)? };
        let mut ids: BTreeSet<Id> = stored.into_iter().collect();
        for (id, is_tombstone) in self.newest.get(&fingerprint).into_iter().flatten() {
            _ = if *is_tombstone { ids.remove(id) } else { ids.insert(id.clone()) };
        }
        Ok(ids)
    }

    fn fingerprints_of(&mut self, id: &Id) -> Result<BTreeSet<Words>> {
        let is_complete = |by_id: &BTreeMap<Id, OfId>| by_id.get(id).is_some_and(|by_id| by_id.is_complete);
        if !self.by_id.as_ref().is_some_and(is_complete) {
            let mut left: Vec<Words> = by_width!(self.width(), F => {
                self.stored.fingerprints_of::<F>(id)?.into_iter().map(to_words).collect()
            });
            left.retain(|&fingerprint| self.written(fingerprint, id) != Some(false));
            let by_id = self.by_id.get_or_insert_default().entry(id.clone()).or_default();
            by_id.fingerprints.extend(left);
            by_id.is_complete = true;
        }
        Ok(self.by_id.get_or_insert_default().entry(id.clone()).or_default().fingerprints.clone())
    }

    fn count_of(&mut self, fingerprint: Words) -> Result<Option<u64>> {
        let stored = self.stored_ids_of(fingerprint)?.first().and_then(Id::number).unwrap_or(0);
        let now = i128::from(stored) + self.counted.get(&fingerprint).copied().unwrap_or(0);
        Ok(u64::try_from(now).ok().filter(|&now| now > 0))
    }
}
