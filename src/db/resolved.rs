//! What the writes of a batch come down to.
//!
//! A later write of a batch sees what an earlier one has done. The store is asked for single records and for the fingerprints of
//! single ids, as some write has to know them, and what it says is brought up to date with every write from then on.

use crate::db::store_inner::StoreInner;
use crate::db::write_batch::{Write, WriteSummary};
use crate::error::Result;
use crate::fingerprint::{Entry, Id, IdKind, Record, Words, by_width, from_words, to_words};
use crate::query::ViewSearcher;
use std::collections::{BTreeMap, BTreeSet};

/// Records that are there from now on, and records that were and are not.
pub(crate) struct Resolved {
    pub(crate) operations: Vec<Entry<Words>>,
    pub(crate) written: WriteSummary,
    /// Nothing, if all writes only add.
    known: Option<Known>,
}

/// What later writes have to know.
struct Known {
    stored: Stored,
    /// The last words of the writes so far on records.
    said: BTreeMap<Words, BTreeMap<Id, bool>>,
    /// Fingerprints that have no records but those which `said` knows.
    emptied: BTreeSet<Words>,
    /// The fingerprints of ids, where the store has an index of them.
    given: Option<BTreeMap<Id, Given>>,
    /// Where there are no ids, how many records more fingerprints have.
    counted: BTreeMap<Words, i128>,
}

/// The store as it is before the batch, asked with fingerprints of its width.
struct Stored {
    searcher: ViewSearcher,
    width: u32,
}

impl Stored {
    fn has(&mut self, fingerprint: Words, id: &Id) -> Result<bool> {
        by_width!(self.width, F => self.searcher.has::<F>(from_words(fingerprint), id))
    }

    fn ids_of(&mut self, fingerprint: Words) -> Result<Vec<Id>> {
        by_width!(self.width, F => self.searcher.ids_of::<F>(from_words(fingerprint)))
    }

    fn fingerprints_of(&mut self, id: &Id) -> Result<Vec<Words>> {
        by_width!(self.width, F => {
            Ok(self.searcher.fingerprints_of::<F>(id)?.into_iter().map(to_words).collect())
        })
    }
}

/// The fingerprints that an id has after the writes so far: all, once the store was asked for its own.
#[derive(Default)]
struct Given {
    fingerprints: BTreeSet<Words>,
    is_complete: bool,
}

impl Resolved {
    pub(crate) fn new(inner: &StoreInner, batch: &[Write]) -> Self {
        let asks = batch.iter().any(|write| !matches!(write, Write::Insert(..)));
        let known = || Known {
            stored: Stored {
                searcher: ViewSearcher::new(&inner.context, inner.state()),
                width: inner.context.parameters.width(),
            },
            said: BTreeMap::new(),
            emptied: BTreeSet::new(),
            given: inner.context.parameters.id_index().then(BTreeMap::new),
            counted: BTreeMap::new(),
        };
        let operations = Vec::with_capacity(batch.len());
        Self { operations, written: WriteSummary::default(), known: asks.then(known) }
    }

    fn say(&mut self, fingerprint: Words, id: Id, removed: bool) {
        if let Some(known) = &mut self.known {
            known.say(fingerprint, &id, removed);
        }
        self.operations.push(Entry { record: Record { fingerprint, id }, is_tombstone: removed });
    }

    /// Adds a record.
    pub(crate) fn insert(&mut self, fingerprint: Words, id: Id) {
        self.say(fingerprint, id, false);
    }

    /// Removes a record that is there, or of those that are counted so many.
    pub(crate) fn remove(&mut self, fingerprint: Words, id: Id) {
        self.written.removed += if let Id::Count(count) = id { count } else { 1 };
        self.say(fingerprint, id, true);
    }

    /// Whether a record is there after the writes so far; of counts, whether any is.
    pub(crate) fn has(&mut self, fingerprint: Words, id: &Id) -> Result<bool> {
        let Some(known) = &mut self.known else { return Ok(false) };
        match id {
            Id::Count(_) => Ok(known.count_of(fingerprint)?.is_some()),
            id => known.has(fingerprint, id),
        }
    }

    /// Removes all records of a fingerprint.
    pub(crate) fn remove_fingerprint(&mut self, fingerprint: Words, kind: IdKind) -> Result<()> {
        let Some(known) = &mut self.known else { return Ok(()) };
        let ids: Vec<Id> = match kind {
            IdKind::None => known.count_of(fingerprint)?.map(Id::Count).into_iter().collect(),
            IdKind::Number | IdKind::Text => known.ids_of(fingerprint)?.into_iter().collect(),
        };
        ids.into_iter().for_each(|id| self.remove(fingerprint, id));
        if let Some(known) = &mut self.known {
            known.said.remove(&fingerprint);
            known.emptied.insert(fingerprint);
        }
        Ok(())
    }

    /// Removes the records of an id, but that with the fingerprint to keep; whether that is there.
    pub(crate) fn remove_id(&mut self, id: &Id, keep: Option<Words>) -> Result<bool> {
        let Some(known) = &mut self.known else { return Ok(false) };
        let mut fingerprints = known.fingerprints_of(id)?;
        let kept = keep.is_some_and(|keep| fingerprints.remove(&keep));
        fingerprints.into_iter().for_each(|fingerprint| self.remove(fingerprint, id.clone()));
        Ok(kept)
    }
}

impl Known {
    fn say(&mut self, fingerprint: Words, id: &Id, removed: bool) {
        if let Id::Count(count) = id {
            let change = if removed { -i128::from(*count) } else { i128::from(*count) };
            *self.counted.entry(fingerprint).or_default() += change;
            return;
        }
        self.said.entry(fingerprint).or_default().insert(id.clone(), removed);
        if let Some(given) = &mut self.given {
            let fingerprints = &mut given.entry(id.clone()).or_default().fingerprints;
            _ = if removed { fingerprints.remove(&fingerprint) } else { fingerprints.insert(fingerprint) };
        }
    }

    /// Whether a record is there after the writes so far.
    fn has(&mut self, fingerprint: Words, id: &Id) -> Result<bool> {
        match self.said.get(&fingerprint).and_then(|said| said.get(id)) {
            Some(removed) => Ok(!removed),
            None if self.emptied.contains(&fingerprint) => Ok(false),
            None => self.stored.has(fingerprint, id),
        }
    }

    /// The ids of a fingerprint after the writes so far.
    fn ids_of(&mut self, fingerprint: Words) -> Result<BTreeSet<Id>> {
        let stored = if self.emptied.contains(&fingerprint) { Vec::new() } else { self.stored.ids_of(fingerprint)? };
        let mut ids: BTreeSet<Id> = stored.into_iter().collect();
        for (id, removed) in self.said.get(&fingerprint).into_iter().flatten() {
            _ = if *removed { ids.remove(id) } else { ids.insert(id.clone()) };
        }
        Ok(ids)
    }

    /// The fingerprints of an id after the writes so far.
    fn fingerprints_of(&mut self, id: &Id) -> Result<BTreeSet<Words>> {
        let is_complete = |given: &BTreeMap<Id, Given>| given.get(id).is_some_and(|given| given.is_complete);
        if !self.given.as_ref().is_some_and(is_complete) {
            let mut stored = self.stored.fingerprints_of(id)?;
            // Some of them may have been removed by the batch.
            let mut failed = Ok(());
            stored.retain(|&fingerprint| match self.has(fingerprint, id) {
                Ok(has) => has,
                Err(error) => {
                    failed = Err(error);
                    false
                }
            });
            failed?;
            let given = self.given.get_or_insert_default().entry(id.clone()).or_default();
            given.fingerprints.extend(stored);
            given.is_complete = true;
        }
        Ok(self
            .given
            .as_ref()
            .and_then(|given| given.get(id))
            .map_or_else(BTreeSet::new, |given| given.fingerprints.clone()))
    }

    /// How many records a fingerprint has after the writes so far, if any.
    fn count_of(&mut self, fingerprint: Words) -> Result<Option<u64>> {
        let stored = self.stored.ids_of(fingerprint)?.first().and_then(Id::number).unwrap_or(0);
        let now = i128::from(stored) + self.counted.get(&fingerprint).copied().unwrap_or(0);
        Ok(u64::try_from(now).ok().filter(|&now| now > 0))
    }
}
