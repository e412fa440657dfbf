//! The expected content and answers of a live store: a map, and comparison with every record.

use fpstore::{Fingerprint, Id, IdKind, Match, Record};
use std::collections::BTreeMap;

/// The existing records. Without ids, each fingerprint's count is under `Id::Count(0)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model<F: Fingerprint> {
    ids: IdKind,
    records: BTreeMap<(F, Id), u64>,
}

impl<F: Fingerprint> Model<F> {
    pub(crate) fn new(ids: IdKind) -> Self {
        Self { ids, records: BTreeMap::new() }
    }

    pub(crate) fn is_with_ids(&self) -> bool {
        self.ids != IdKind::None
    }

    fn key(&self, fingerprint: F, id: &Id) -> (F, Id) {
        (fingerprint, if self.ids == IdKind::None { Id::Count(0) } else { id.clone() })
    }

    pub(crate) fn insert(&mut self, fingerprint: F, id: &Id) {
        let (key, counted) = (self.key(fingerprint, id), self.ids == IdKind::None);
        let count = self.records.entry(key).or_default();
        *count = if counted { *count + 1 } else { 1 };
    }

    /// Removes a record, or one counted record; returns whether there was one.
    pub(crate) fn remove(&mut self, fingerprint: F, id: &Id) -> bool {
        let key = self.key(fingerprint, id);
        let Some(count) = self.records.get_mut(&key) else { return false };
        *count -= 1;
        if *count == 0 {
            self.records.remove(&key);
        }
        true
    }

    /// Removes all records of a fingerprint; returns their number.
    pub(crate) fn remove_fingerprint(&mut self, fingerprint: F) -> u64 {
        let gone: Vec<_> = self.records.keys().filter(|key| key.0 == fingerprint).cloned().collect();
        gone.iter().filter_map(|key| self.records.remove(key)).sum()
    }

    /// Removes all records of an id except that with the fingerprint `keep`; returns their number.
    pub(crate) fn remove_id(&mut self, id: &Id, keep: Option<F>) -> u64 {
        let gone: Vec<_> = self.records.keys().filter(|key| key.1 == *id && keep != Some(key.0)).cloned().collect();
        gone.iter().filter_map(|key| self.records.remove(key)).sum()
    }

    /// Gives the ids of records these fingerprints and no others; returns the number of removed records.
    pub(crate) fn replace(&mut self, records: &[Record<F>]) -> u64 {
        let stays = |key: &(F, Id)| records.iter().any(|record| (record.fingerprint, &record.id) == (key.0, &key.1));
        let is_named = |key: &(F, Id)| records.iter().any(|record| record.id == key.1);
        let before = self.records.len();
        self.records.retain(|key, _| !is_named(key) || stays(key));
        let removed = before - self.records.len();
        records.iter().for_each(|record| self.insert(record.fingerprint, &record.id));
        removed as u64
    }

    /// The fingerprints of an id.
    pub(crate) fn fingerprints_of(&self, id: &Id) -> Vec<F> {
        self.records.keys().filter(|key| key.1 == *id).map(|key| key.0).collect()
    }

    /// All records in the order of a store.
    pub(crate) fn records(&self) -> Vec<Record<F>> {
        let id = |id: &Id, count: u64| if self.ids == IdKind::None { Id::Count(count) } else { id.clone() };
        self.records.iter().map(|(key, &count)| Record { fingerprint: key.0, id: id(&key.1, count) }).collect()
    }

    /// The number of records.
    pub(crate) fn count(&self) -> u64 {
        self.records.values().sum()
    }

    /// The expected answer to a query.
    pub(crate) fn near(&self, query: F, k: u32) -> Vec<Match<F>> {
        let mut near: Vec<Match<F>> = self
            .records()
            .into_iter()
            .map(|Record { fingerprint, id }| Match { distance: fingerprint.distance(query), fingerprint, id })
            .filter(|found| found.distance <= k)
            .collect();
        near.sort_unstable();
        near
    }
}
