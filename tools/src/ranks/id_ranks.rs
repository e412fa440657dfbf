//! Ranks of ids.
//!
//! An id that is a number is its own key. A text has an unpredictable hash of 128 bits (two of SipHash): one of 2^40
//! records has the hash of another of 2^40 ids once in 2^48 runs, and ids chosen by an attacker change nothing in that.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use fpstore::{Id, IdKind, IdRef};

use super::ranker::{First, NO_VALUE, Ranked, Ranker, Space};
use super::sorted::{find, sort};
use super::value::Value;

/// Makes the keys of texts.
#[derive(Clone, Debug, Default)]
struct Hasher([RandomState; 2]);

impl Hasher {
    fn key(&self, text: &str) -> [u64; 2] {
        self.0.each_ref().map(|state| state.hash_one(text))
    }
}

/// Takes ids with values, and makes ranks of them.
#[derive(Debug)]
pub struct IdRanker {
    hasher: Hasher,
    entries: Entries<Ranker<u64>, Ranker<[u64; 2]>>,
}

/// By the kind of the ids.
#[derive(Debug)]
enum Entries<N, T> {
    Numbers(N),
    Texts(T),
}

impl IdRanker {
    /// Returns a ranker without ids, for a store with ids of this kind.
    #[must_use]
    pub fn new(kind: IdKind, first: First, space: Space) -> Self {
        let entries = match kind {
            IdKind::Text => Entries::Texts(Ranker::new(first, space)),
            _ => Entries::Numbers(Ranker::new(first, space)),
        };
        Self { hasher: Hasher::default(), entries }
    }

    /// Adds an id of that kind; of several values of an id, the one that comes first counts. Beyond the memory it is
    /// only counted.
    ///
    /// # Errors
    ///
    /// Those of [`Ranker::push`].
    pub fn push(&mut self, id: IdRef<'_>, value: Value<'_>) -> anyhow::Result<()> {
        match (&mut self.entries, id) {
            (Entries::Numbers(ranker), IdRef::Number(id)) => ranker.push(id, value),
            (Entries::Texts(ranker), IdRef::Text(id)) => ranker.push(self.hasher.key(id), value),
            _ => Ok(()),
        }
    }

    /// Returns the bytes that all ids take, if these are more than there is memory. Those that occur several times are
    /// counted as often.
    #[must_use]
    pub fn beyond_memory(&self) -> Option<u64> {
        match &self.entries {
            Entries::Numbers(ranker) => ranker.beyond_memory(),
            Entries::Texts(ranker) => ranker.beyond_memory(),
        }
    }

    /// Returns the ranks.
    ///
    /// # Errors
    ///
    /// Those of [`Ranker::finish`].
    pub fn finish(self) -> anyhow::Result<IdRanks> {
        let (length, entries) = match self.entries {
            Entries::Numbers(ranker) => {
                let mut entries = ranker.finish()?;
                sort(&mut entries);
                (entries.len(), Entries::Numbers(entries))
            }
            Entries::Texts(ranker) => {
                let mut entries = ranker.finish()?;
                sort(&mut entries);
                (entries.len(), Entries::Texts(entries))
            }
        };
        let found = (0..length.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Ok(IdRanks { hasher: self.hasher, entries, length, found })
    }
}

/// The ranks of ids, and which of the ids were asked for.
#[derive(Debug)]
pub struct IdRanks {
    hasher: Hasher,
    entries: Entries<Ranked<u64>, Ranked<[u64; 2]>>,
    length: usize,
    /// A bit for each id.
    found: Vec<AtomicU64>,
}

impl IdRanks {
    /// Number of distinct ids.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.length as u64
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let entries = match &self.entries {
            Entries::Numbers(entries) => size_of_val(entries.as_slice()),
            Entries::Texts(entries) => size_of_val(entries.as_slice()),
        };
        (entries + size_of_val(self.found.as_slice())) as u64
    }

    /// Returns the rank of an id; `None` if it has no value or is not there. All threads may ask.
    pub fn rank(&self, id: &Id) -> Option<u64> {
        let (index, rank) = match (&self.entries, id) {
            (Entries::Numbers(entries), Id::Number(id)) => entry(entries, find(entries, *id)?),
            (Entries::Texts(entries), Id::Text(id)) => entry(entries, find(entries, self.hasher.key(id))?),
            _ => None,
        }?;
        let (word, bit) = (self.found.get(index / 64)?, 1 << (index % 64));
        // All threads read the word, so it is written only once for each id.
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
        Some(rank).filter(|rank| *rank != NO_VALUE)
    }

    /// Number of the ids that were never asked for.
    #[must_use]
    pub fn unknown(&self) -> u64 {
        let found: u64 = self.found.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum();
        self.count() - found
    }
}

fn entry<K>(entries: &[(K, u64)], index: usize) -> Option<(usize, u64)> {
    entries.get(index).map(|(_, rank)| (index, *rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(kind: IdKind, first: First, values: &[(u64, Option<i128>)]) -> IdRanks {
        let space = Space { memory: 1 << 20, sorting: 1 << 20, temp_dir: std::env::temp_dir() };
        let mut ranker = IdRanker::new(kind, first, space);
        for (id, value) in values {
            let (value, text) = (value.map_or(Value::None, Value::Integer), format!("doc {id}"));
            let id = if kind == IdKind::Text { IdRef::Text(&text) } else { IdRef::Number(*id) };
            ranker.push(id, value).unwrap();
        }
        ranker.finish().unwrap()
    }

    #[test]
    fn the_better_value_counts() {
        let values = [(5, Some(3)), (1, None), (5, Some(9)), (2, Some(4)), (7, None), (7, Some(5))];
        for kind in [IdKind::Number, IdKind::Text] {
            let id = |id: u64| if kind == IdKind::Text { Id::from(&*format!("doc {id}")) } else { Id::Number(id) };
            for (first, order) in [(First::Min, [5, 2, 7]), (First::Max, [5, 7, 2])] {
                let ranks = ranks(kind, first, &values);
                assert_eq!((ranks.count(), ranks.unknown()), (4, 4));
                assert!(order.map(|one| ranks.rank(&id(one)).unwrap()).is_sorted_by(|a, b| a < b), "{kind} {first:?}");
                assert_eq!((ranks.rank(&id(9)), ranks.unknown()), (None, 1));
                assert_eq!((ranks.rank(&id(1)), ranks.unknown()), (None, 0), "it is there, and has no value");
                assert_eq!(ranks.rank(&Id::Count(5)), None);
                let each = if kind == IdKind::Text { 24 } else { 16 };
                assert_eq!(ranks.bytes(), 4 * each + 8);
            }
        }
    }
}
