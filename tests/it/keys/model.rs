//! The records of a key index as a list, and a few collections of them.

use crate::support::*;
use fpstore::bulk::IdSorter;
use fpstore::keys::{KeyMatch, KeyQuery, KeySorter, SortedKeys, jaccard};
use fpstore::{Id, IdKind, IdRef, KeyFormat, KeyIndex, Maintenance, Options, Parameters};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyRecord {
    pub(super) id: Id,
    pub(super) keys: Vec<u64>,
    pub(super) sketch: Vec<u8>,
}

/// What an index has to hold.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) format: KeyFormat,
    pub(super) records: BTreeMap<Id, KeyRecord>,
    /// The stored keys of each record.
    keys: BTreeMap<Id, BTreeSet<u64>>,
}

pub(super) struct Wanted {
    pub(super) min_shared: u64,
    pub(super) min_jaccard: f64,
    pub(super) nearest: Option<usize>,
}

impl Wanted {
    pub(super) fn all() -> Self {
        Self { min_shared: 1, min_jaccard: 0.0, nearest: None }
    }

    pub(super) fn query(&self) -> KeyQuery {
        let query = KeyQuery::new().with_min_shared(self.min_shared).with_min_jaccard(self.min_jaccard);
        self.nearest.map_or(query, |nearest| query.with_nearest(nearest))
    }
}

impl Model {
    pub(super) fn new(format: KeyFormat) -> Self {
        Self { format, records: BTreeMap::new(), keys: BTreeMap::new() }
    }

    /// Adds records; of the same id the first one stays.
    pub(super) fn add(&mut self, records: &[KeyRecord]) {
        for record in records {
            if !self.records.contains_key(&record.id) {
                self.keys.insert(record.id.clone(), self.stored(&record.keys));
                self.records.insert(record.id.clone(), record.clone());
            }
        }
    }

    pub(super) fn replace(&mut self, records: &[KeyRecord]) {
        records.iter().for_each(|record| _ = self.records.remove(&record.id));
        self.add(records);
    }

    pub(super) fn remove(&mut self, ids: &[Id]) {
        for id in ids {
            self.records.remove(id);
            self.keys.remove(id);
        }
    }

    /// The stored keys of each record.
    pub(super) fn keys(&self) -> &BTreeMap<Id, BTreeSet<u64>> {
        &self.keys
    }

    fn stored(&self, keys: &[u64]) -> BTreeSet<u64> {
        keys.iter().map(|key| key >> (64 - u32::from(self.format.key_bits()))).collect()
    }

    pub(super) fn query(&self, keys: &[u64], sketch: &[u8], wanted: &Wanted) -> Vec<KeyMatch> {
        let keys = self.stored(keys);
        let mut found = Vec::new();
        for record in self.records.values() {
            let own = &self.keys[&record.id];
            let shared = keys.iter().filter(|key| own.contains(key)).count() as u64;
            let with_sketches = !sketch.is_empty() && self.format.sketch_bits() > 0;
            let similar = with_sketches.then(|| jaccard(self.format, sketch, &record.sketch));
            if shared >= wanted.min_shared.max(1) && similar.is_none_or(|similar| similar >= wanted.min_jaccard) {
                found.push(KeyMatch { id: record.id.clone(), shared, jaccard: similar });
            }
        }
        found.sort_by(|a, b| (b.shared, &a.id).cmp(&(a.shared, &b.id)));
        found.truncate(wanted.nearest.unwrap_or(usize::MAX));
        found
    }

    /// Compares an index with the model: its number of records, and answers to queries from the records and beside.
    pub(super) fn check(&self, index: &KeyIndex, queries: usize, what: &str) {
        assert_eq!(index.statistics().records, self.records.len() as u64, "{what}");
        let all: Vec<&KeyRecord> = self.records.values().collect();
        let mut searcher = index.searcher();
        let mut random = Random(queries as u64);
        for number in 0..queries.min(all.len()) {
            let record = all[number * all.len() / queries.min(all.len())];
            let mut keys = record.keys.clone();
            keys.retain(|_| random.below(4) > 0);
            keys.push(random.next());
            for (min_shared, min_jaccard, nearest) in [(1, 0.0, None), (2, 0.4, None), (3, 0.0, Some(2))] {
                let min_jaccard = if record.sketch.is_empty() { 0.0 } else { min_jaccard };
                let wanted = Wanted { min_shared, min_jaccard, nearest };
                let found = searcher.query(&keys, &record.sketch, &wanted.query()).unwrap();
                assert_eq!(found, self.query(&keys, &record.sketch, &wanted), "{what}: {:?}", record.id);
            }
            // A record finds itself, and in the first place unless others share all of its keys.
            let own = searcher.query(&record.keys, &[], &KeyQuery::new()).unwrap();
            assert_eq!(own, self.query(&record.keys, &[], &Wanted::all()), "{what}: {:?}", record.id);
        }
    }
}

/// Nothing happens in the background.
pub(super) fn options() -> Options {
    Options::new().with_maintenance(Maintenance::Manual)
}

pub(super) fn parameters(format: KeyFormat, ids: IdKind) -> Parameters {
    Parameters::of_keys(format).with_ids(ids)
}

pub(super) fn sorted(path: &Path, options: &Options, format: KeyFormat, records: &[KeyRecord]) -> SortedKeys {
    let mut sorter = KeySorter::new(path, options, format);
    records.iter().for_each(|record| sorter.push(record.id.as_ref(), &record.keys, &record.sketch).unwrap());
    sorter.finish().unwrap()
}

pub(super) fn remove(index: &KeyIndex, ids: &[Id]) -> u64 {
    let mut sorter = IdSorter::new(index.path(), &Options::new());
    ids.iter().for_each(|id| sorter.push(id.as_ref()).unwrap());
    index.remove_ids(&sorter.finish().unwrap()).unwrap().removed
}

/// As [`records`]; these also have some of four keys that many records have.
pub(super) fn frequent(count: u64, per_record: usize, format: KeyFormat, ids: IdKind, seed: u64) -> Vec<KeyRecord> {
    let mut random = Random(seed);
    let mut records = records(count, per_record, format, ids, seed);
    for record in &mut records {
        record.keys.extend((0..4).filter(|number| random.below(2 + number * 3) == 0).map(|number| number << 62));
    }
    records
}

/// Whether the ids of a segment have groups.
pub(super) fn has_groups(index: &Path) -> bool {
    let mut found = false;
    fpstore::inspect::explain(index, &Options::new(), &mut |_, field| {
        found |= field.name == "low bits of a gap";
        Ok(())
    })
    .unwrap();
    found
}

/// Records in families: members share most keys and samples, and every family has an unusual size now and then.
pub(super) fn records(count: u64, per_record: usize, format: KeyFormat, ids: IdKind, seed: u64) -> Vec<KeyRecord> {
    let mut random = Random(seed);
    let mut records: Vec<KeyRecord> = Vec::new();
    for number in 0..count {
        let id = match ids {
            IdKind::Text => Id::from(&*format!("{seed}/{number}")),
            _ => Id::from((seed << 40) + number * 3),
        };
        let (mut keys, mut sketch): (Vec<u64>, Vec<u8>) = match records.last() {
            Some(last) if random.below(3) == 0 => (last.keys.clone(), last.sketch.clone()),
            _ => ((0..per_record).map(|_| random.next()).collect(), sketch_of(format, &mut random)),
        };
        for key in &mut keys {
            if random.below(5) == 0 {
                *key = random.next();
            }
        }
        if let Some(byte) = sketch.first_mut() {
            *byte ^= random.below(2) as u8;
        }
        records.push(KeyRecord { id, keys, sketch });
    }
    records
}

fn sketch_of(format: KeyFormat, random: &mut Random) -> Vec<u8> {
    let mut sketch: Vec<u8> = (0..format.sketch_bytes()).map(|_| random.next() as u8).collect();
    let rest = format.sketch_bits() % 8;
    if let (Some(last), 1..) = (sketch.last_mut(), rest) {
        *last &= (1 << rest) - 1;
    }
    sketch
}

/// An id of a record that the index numbers.
pub(super) const NO_ID: IdRef<'static> = IdRef::None;

/// An index of three loads, of which a sixth of the records was removed, and the same as a model.
pub(super) fn several_loads(path: &Path, format: KeyFormat, ids: IdKind) -> (KeyIndex, Model) {
    let index = KeyIndex::create(path, &parameters(format, ids), &options()).unwrap();
    let mut model = Model::new(format);
    for seed in 0..3 {
        let all = records(150, 6, format, ids, seed);
        index.load(sorted(path, &options(), format, &all)).unwrap();
        model.add(&all);
    }
    let gone: Vec<Id> = model.records.keys().step_by(6).cloned().collect();
    remove(&index, &gone);
    model.remove(&gone);
    (index, model)
}

/// An index of 300,000 records with the same 14 keys and the same sketch. Making its forty-five billion pairs would not
/// end.
pub(super) fn many_copies(path: &Path) -> KeyIndex {
    let format = KeyFormat::default().with_sketch(128, 2);
    let mut sorter = KeySorter::new(path, &options(), format);
    let keys: Vec<u64> = (1..=14).map(|key| key << 50).collect();
    for number in 0..300_000u64 {
        sorter.push(IdRef::Number(number), &keys, &[7; 16]).unwrap();
    }
    let parameters = parameters(format, IdKind::Number);
    KeyIndex::create_loaded(path, &parameters, &options(), sorter.finish().unwrap()).unwrap().0
}
