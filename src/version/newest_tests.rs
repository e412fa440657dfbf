//! Merges of many sources, compared with a model.

use crate::error::{Error, Result};
use crate::fingerprint::{Entry, Id, Record};
use crate::version::newest::NewestEntries;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Source = Vec<Entry<u64>>;

/// Sorted entries of few records, so that sources share many.
fn source(counts: bool) -> impl Strategy<Value = Source> {
    let entry = (0u64..12, 0u64..3, 1u64..4, any::<bool>());
    prop::collection::vec(entry, 0..12).prop_map(move |entries| {
        let mut source = BTreeMap::new();
        for (fingerprint, id, count, removed) in entries {
            // A fingerprint may be counted up and down in one source.
            let (key, id) = if counts { (u64::from(removed), Id::Count(count)) } else { (id, Id::Number(id)) };
            source.insert((fingerprint, key), Entry { record: Record { fingerprint, id }, is_tombstone: removed });
        }
        let mut source: Source = source.into_values().collect();
        source.sort_by(|a, b| a.record.cmp(&b.record));
        source
    })
}

fn merge(sources: &[Source]) -> NewestEntries<u64> {
    let mut merge = NewestEntries::default();
    sources.iter().for_each(|source| merge.add_entries(source.clone()));
    merge
}

/// The newest entries, with whether they are stored: sources with odd numbers are.
fn newest(sources: &[Source], fail: Option<(usize, usize)>) -> Vec<Result<(Entry<u64>, bool)>> {
    let mut merge = NewestEntries::default();
    for (number, source) in sources.iter().enumerate() {
        let mut entries: Vec<Result<Entry<u64>>> = source.iter().cloned().map(Ok).collect();
        if let Some((failing, at)) = fail.filter(|&(failing, _)| failing == number) {
            entries.insert(at.min(entries.len()), Err(Error::damaged(format!("source {failing}"))));
        }
        merge.add(entries.into_iter(), number % 2 == 1);
    }
    merge.map(|newest| newest.map(|newest| (newest.entry, newest.stored))).collect()
}

/// The expected newest entries of numbered records.
fn numbered(sources: &[Source]) -> Vec<(Entry<u64>, bool)> {
    let mut model: BTreeMap<Record<u64>, (bool, bool)> = BTreeMap::new();
    for (number, entry) in sources.iter().enumerate().flat_map(|(n, source)| source.iter().map(move |m| (n, m))) {
        model.entry(entry.record.clone()).or_insert((entry.is_tombstone, false)).1 |= number % 2 == 1;
    }
    model.into_iter().map(|(record, (removed, stored))| (Entry { record, is_tombstone: removed }, stored)).collect()
}

/// The expected newest entries of counted fingerprints.
fn counted(sources: &[Source]) -> Vec<(Entry<u64>, bool)> {
    let mut model: BTreeMap<u64, (i64, bool)> = BTreeMap::new();
    for (number, entry) in sources.iter().enumerate().flat_map(|(n, source)| source.iter().map(move |m| (n, m))) {
        let count = i64::try_from(entry.record.id.number().unwrap()).unwrap();
        let (sum, stored) = model.entry(entry.record.fingerprint).or_default();
        *sum += if entry.is_tombstone { -count } else { count };
        *stored |= number % 2 == 1;
    }
    let entries = model.into_iter().filter(|&(_, (sum, stored))| sum != 0 || stored);
    let entry = |(fingerprint, (sum, stored)): (u64, (i64, bool))| {
        let record = Record { fingerprint, id: Id::Count(sum.unsigned_abs()) };
        (Entry { record, is_tombstone: sum <= 0 }, stored)
    };
    entries.map(entry).collect()
}

proptest! {
    #[test]
    fn the_newest_entries_are_those_of_a_model(
        sources in prop::collection::vec(source(false), 0..40), counts in prop::collection::vec(source(true), 0..40),
    ) {
        let whole = |entries: Vec<Result<_>>| entries.into_iter().map(Result::unwrap).collect::<Vec<_>>();
        prop_assert_eq!(whole(newest(&sources, None)), numbered(&sources));
        prop_assert_eq!(whole(newest(&counts, None)), counted(&counts));
    }

    /// The entries before an error are complete; after it there are none.
    #[test]
    fn an_error_ends_the_merge(
        sources in prop::collection::vec(source(false), 1..20), failing in any::<prop::sample::Index>(), at in 0usize..12,
    ) {
        let failing = failing.index(sources.len());
        let mut found = newest(&sources, Some((failing, at)));
        let error = found.pop().unwrap().unwrap_err();
        prop_assert_eq!(error.message(), format!("source {}", failing));
        let mut cut = sources.clone();
        cut[failing].truncate(at);
        let last = cut[failing].last().map(|entry| entry.record.clone());
        let mut expected = numbered(&cut);
        expected.retain(|(entry, _)| Some(&entry.record) <= last.as_ref());
        let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn the_records_of_one_segment_are_as_they_are() {
    let entry = |fingerprint: u64| Entry { record: Record::new(fingerprint, 1), is_tombstone: false };
    let mut alone = NewestEntries::default();
    alone.add((0..4).map(entry).map(Ok).chain([Err(Error::damaged("")), Ok(entry(9))]), true);
    let found: Vec<_> = alone.by_ref().collect();
    let whole = found.iter().flatten().map(|newest| (newest.entry.clone(), newest.stored));
    assert!(whole.eq((0..4).map(|fingerprint| (entry(fingerprint), true))));
    assert!(found.len() == 5 && found[4].is_err() && alone.next().is_none());
}

#[test]
fn sources_may_come_while_others_are_read() {
    let one = |fingerprint| vec![Entry { record: Record::new(fingerprint, 1), is_tombstone: false }];
    let mut merge = merge(&[one(1), one(3)]);
    assert_eq!(merge.next().unwrap().unwrap().entry.record.fingerprint, 1);
    merge.add_entries(one(2));
    let rest: Vec<u64> = merge.map(|newest| newest.unwrap().entry.record.fingerprint).collect();
    assert_eq!(rest, [2, 3]);
}
