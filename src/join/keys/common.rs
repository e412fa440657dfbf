//! The records of each key that two key indexes have in common.

use crate::bitset::NumberSet;
use crate::error::Result;
use crate::join::job::Progress;
use crate::version::{NewestEntries, ReadView, Run, keys_of, removed_numbers};
use std::iter::Peekable;
use std::sync::Arc;

/// Keys between two looks at the progress.
const STEP: u64 = 1 << 16;

/// Reads the keys of two indexes in order.
pub(super) struct CommonKeys {
    sides: [Side; 2],
    /// Keys of more records of both together do not count.
    most: Option<u64>,
}

/// Takes the records of each index that have a key.
pub(super) type Visit<'a> = dyn FnMut(&[u64], &[u64]) -> Result<()> + 'a;

struct Side {
    runs: Vec<Arc<Run>>,
    removed: NumberSet,
}

impl CommonKeys {
    pub(super) fn new(views: [&ReadView; 2], most: Option<u64>) -> Result<Self> {
        let side = |view: &ReadView| {
            let runs = view.version.runs.clone();
            Ok(Side { removed: removed_numbers(&runs)?, runs })
        };
        let [left, right] = views;
        Ok(Self { sides: [side(left)?, side(right)?], most })
    }

    /// Calls `visit` with the numbers of the records of each common key, those of each index ascending. Returns the
    /// number of common keys that do not count because too many records have them.
    pub(super) fn visit(&self, progress: &Progress, visit: &mut Visit<'_>) -> Result<u64> {
        let [mut left, mut right] = self.sides.each_ref().map(|side| Records {
            keys: keys_of(side.runs.iter()).peekable(),
            removed: &side.removed,
            numbers: Vec::new(),
            read: 0,
        });
        let most = self.most.unwrap_or(u64::MAX);
        let mut skipped = 0;
        while let (Some(one), Some(other)) = (left.key()?, right.key()?) {
            let key = one.max(other);
            let counts = [left.take(key, most, progress)?, right.take(key, most, progress)?];
            if counts.iter().all(|&count| count > 0) {
                if counts[0].saturating_add(counts[1]) > most {
                    skipped += 1;
                } else {
                    visit(&left.numbers, &right.numbers)?;
                }
            }
        }
        Ok(skipped)
    }

    /// Keys of both indexes.
    pub(super) fn keys(&self) -> u64 {
        let runs = self.sides.iter().flat_map(|side| &side.runs);
        let keys = runs.filter_map(|run| run.keys.as_ref());
        keys.map(|keys| keys.footer().records).fold(0, u64::saturating_add)
    }
}

/// The records of an index by key.
struct Records<'a> {
    keys: Peekable<NewestEntries<u64>>,
    removed: &'a NumberSet,
    /// The records of the key that was taken last.
    numbers: Vec<u64>,
    read: u64,
}

impl Records<'_> {
    /// The next key.
    fn key(&mut self) -> Result<Option<u64>> {
        match self.keys.next_if(Result::is_err) {
            Some(Err(error)) => Err(error),
            _ => Ok(self.keys.peek().and_then(|entry| entry.as_ref().ok()).map(|entry| entry.entry.record.fingerprint)),
        }
    }

    /// Goes to a key and takes its records, at most `most` of them; returns how many there are.
    fn take(&mut self, key: u64, most: u64, progress: &Progress) -> Result<u64> {
        self.numbers.clear();
        let mut count = 0;
        while self.key()?.is_some_and(|next| next <= key)
            && let Some(entry) = self.keys.next()
        {
            let record = entry?.entry.record;
            self.read += 1;
            if self.read.is_multiple_of(STEP) {
                progress.check()?;
                progress.advance(STEP);
            }
            if let Some(number) = record.id.number().filter(|&number| !self.removed.has(number))
                && record.fingerprint == key
            {
                count += 1;
                if count <= most {
                    self.numbers.push(number);
                }
            }
        }
        Ok(count)
    }
}
