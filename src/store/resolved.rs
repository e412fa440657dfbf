//! What the writes of a batch come down to.
//!
//! A later write of a batch sees what an earlier one has done. So what the store says is asked for once for each fingerprint
//! that some write has to know, and brought up to date with every write from then on.

use super::core::Core;
use super::query::Asking;
use super::write_batch::{Write, WriteBatch, Written};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, IdKind, Mention, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Records that are there from now on, and records that were and are not.
pub(super) struct Resolved<F: Fingerprint> {
    pub(super) operations: Vec<Mention<F>>,
    pub(super) written: Written,
    /// Nothing, if all writes only add.
    known: Option<Known<F>>,
}

/// What later writes have to know.
struct Known<F: Fingerprint> {
    /// Knows the store as it is before the batch.
    asking: Asking<F>,
    /// The ids that fingerprints have after the writes so far, of those that were asked for.
    ids: BTreeMap<F, BTreeSet<Id>>,
    /// The last words on the records of all others.
    said: BTreeMap<F, BTreeMap<Id, bool>>,
    /// The fingerprints that ids were given, where the store has an index of them.
    given: Option<BTreeMap<Id, BTreeSet<F>>>,
    /// Where there are no ids, how many records more fingerprints have.
    counted: BTreeMap<F, i128>,
}

impl<F: Fingerprint> Resolved<F> {
    pub(super) fn new(core: &Core<F>, batch: &WriteBatch<F>) -> Self {
        let asks = batch.writes.iter().any(|write| !matches!(write, Write::Insert(..)));
        let known = || Known {
            asking: Asking::new(&core.common, core.state()),
            ids: BTreeMap::new(),
            said: BTreeMap::new(),
            given: core.common.parameters.id_index().then(BTreeMap::new),
            counted: BTreeMap::new(),
        };
        let operations = Vec::with_capacity(batch.len());
        Self { operations, written: Written::default(), known: asks.then(known) }
    }

    fn say(&mut self, fingerprint: F, id: Id, removed: bool) {
        if let Some(known) = &mut self.known {
            known.say(fingerprint, &id, removed);
        }
        self.operations.push(Mention { record: Record { fingerprint, id }, removed });
    }

    /// Adds a record.
    pub(super) fn insert(&mut self, fingerprint: F, id: Id) {
        self.say(fingerprint, id, false);
    }

    /// Removes a record that is there, or of those that are counted so many.
    pub(super) fn remove(&mut self, fingerprint: F, id: Id) {
        self.written.removed += if let Id::Count(count) = id { count } else { 1 };
        self.say(fingerprint, id, true);
    }

    /// Whether a record is there after the writes so far; of counts, whether any is.
    pub(super) fn has(&mut self, fingerprint: F, id: &Id) -> Result<bool> {
        let Some(known) = &mut self.known else { return Ok(false) };
        match id {
            Id::Count(_) => Ok(known.count_of(fingerprint)?.is_some()),
            id => Ok(known.ids_of(fingerprint)?.contains(id)),
        }
    }

    /// Removes all records of a fingerprint.
    pub(super) fn remove_fingerprint(&mut self, fingerprint: F, kind: IdKind) -> Result<()> {
        let Some(known) = &mut self.known else { return Ok(()) };
        let ids: Vec<Id> = match kind {
            IdKind::None => known.count_of(fingerprint)?.map(Id::Count).into_iter().collect(),
            IdKind::Number | IdKind::Text => known.ids_of(fingerprint)?.iter().cloned().collect(),
        };
        ids.into_iter().for_each(|id| self.remove(fingerprint, id));
        Ok(())
    }

    /// Removes the records of an id, but that with the fingerprint to keep.
    pub(super) fn remove_id(&mut self, id: &Id, keep: Option<F>) -> Result<()> {
        let Some(known) = &mut self.known else { return Ok(()) };
        let mut fingerprints: BTreeSet<F> = known.asking.fingerprints_of(id)?.into_iter().collect();
        fingerprints.extend(known.given.as_ref().and_then(|given| given.get(id)).into_iter().flatten());
        for fingerprint in fingerprints.into_iter().filter(|&fingerprint| keep != Some(fingerprint)) {
            if self.has(fingerprint, id)? {
                self.remove(fingerprint, id.clone());
            }
        }
        Ok(())
    }
}

impl<F: Fingerprint> Known<F> {
    fn say(&mut self, fingerprint: F, id: &Id, removed: bool) {
        if let Id::Count(count) = id {
            let change = if removed { -i128::from(*count) } else { i128::from(*count) };
            *self.counted.entry(fingerprint).or_default() += change;
            return;
        }
        match self.ids.get_mut(&fingerprint) {
            Some(ids) if removed => _ = ids.remove(id),
            Some(ids) => _ = ids.insert(id.clone()),
            None => _ = self.said.entry(fingerprint).or_default().insert(id.clone(), removed),
        }
        if let Some(given) = self.given.as_mut().filter(|_| !removed) {
            given.entry(id.clone()).or_default().insert(fingerprint);
        }
    }

    /// The ids of a fingerprint after the writes so far.
    fn ids_of(&mut self, fingerprint: F) -> Result<&BTreeSet<Id>> {
        if !self.ids.contains_key(&fingerprint) {
            let mut ids: BTreeSet<Id> = self.asking.ids_of(fingerprint)?.into_iter().collect();
            for (id, removed) in self.said.remove(&fingerprint).into_iter().flatten() {
                _ = if removed { ids.remove(&id) } else { ids.insert(id) };
            }
            self.ids.insert(fingerprint, ids);
        }
        Ok(self.ids.entry(fingerprint).or_default())
    }

    /// How many records a fingerprint has after the writes so far, if any.
    fn count_of(&mut self, fingerprint: F) -> Result<Option<u64>> {
        let stored = self.asking.ids_of(fingerprint)?.first().and_then(Id::number).unwrap_or(0);
        let now = i128::from(stored) + self.counted.get(&fingerprint).copied().unwrap_or(0);
        Ok(u64::try_from(now).ok().filter(|&now| now > 0))
    }
}
