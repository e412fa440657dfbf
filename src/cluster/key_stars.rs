//! Star linkage of records with keys.
//!
//! Records are decided on by priority, and each is compared only with kept records that share a key with it. Of a key
//! that few records have, the pairs are made and sorted. A frequent key has a list of its records that are kept so far,
//! so it costs each of its records the length of that list: one step if any shared key makes a pair, because then only
//! the first record of the key is kept.

use crate::cluster::linker::Places;
use crate::cluster::numbers::Numbers;
use crate::error::{Error, ErrorKind, Result};
use crate::extsort::{Sorted, Sorter, Workspace};
use crate::join::JobContext;
use crate::join::keys::{KeyGroups, KeyRule, SketchBuffers, Sketches};
use crate::segment::Scratch;

/// A key of more records is frequent. A record makes at most half as many pairs a key, of 16 bytes each.
const FEW: usize = 32;
/// Bytes of a list of kept records, and of each record in one that has grown twofold.
const LIST: u64 = 24;
const KEPT: u64 = 8;
/// Bytes for lists that there always are.
const LEAST_KEPT: u64 = 4 << 20;
/// Positions between two checks whether to stop.
const CHECKED: u32 = 1 << 12;

/// What links the records, sorted by their positions.
pub(super) struct SharedKeys {
    /// A later and an earlier position, for each key that the two share and that is not frequent.
    pairs: Sorted<(u64, u64)>,
    /// A position and the number of a frequent key that its record has.
    frequent: Sorted<u64>,
    /// By position the number of the record, if sketches are compared.
    records: Vec<u64>,
    memory: u64,
}

impl SharedKeys {
    /// Reads the keys of all records.
    pub(super) fn new(
        groups: &KeyGroups,
        numbers: &Numbers<u64>,
        places: &Places<'_>,
        rule: &KeyRule,
        job: &JobContext,
    ) -> Result<Self> {
        let workspace = job.workspace(job.memory / 2);
        let mut reading = Reading::new(&workspace, rule.threshold.min_shared > 1, places.settled);
        let mut records = vec![0; if rule.threshold.min_jaccard > 0.0 { places.count as usize } else { 0 }];
        let mut scratch = Scratch::default();
        job.progress.begin(groups.keys());
        groups.visit(&job.progress, &mut |found, continues| {
            if !continues {
                reading.end_key()?;
            }
            for &record in found {
                let number = numbers.of(record, &mut scratch)?;
                let position = places.positions.get(number as usize).copied().unwrap_or(u32::MAX);
                if position >= places.count {
                    continue;
                }
                records.get_mut(position as usize).into_iter().for_each(|slot| *slot = record);
                reading.add(position)?;
            }
            Ok(())
        })?;
        reading.end_key()?;
        let (pairs, frequent) = job.executor.run(|| Ok((reading.pairs.finish()?, reading.frequent.finish()?)))?;
        Ok(Self { pairs, frequent, records, memory: workspace.memory_of_chunks() })
    }

    /// The position of the keeper of each position.
    pub(super) fn keepers(
        &self,
        places: &Places<'_>,
        rule: &KeyRule,
        sketches: &Sketches,
        job: &JobContext,
    ) -> Result<Vec<u32>> {
        let mut stars = Stars {
            keepers: (0..places.count).collect(),
            records: &self.records,
            rule,
            sketches,
            kept: Kept { most: (job.memory / 2).max(LEAST_KEPT), ..Kept::default() },
            buffers: SketchBuffers::default(),
        };
        let mut pairs = self.pairs.items(self.memory / 2).peekable();
        let mut frequent = self.frequent.items(self.memory / 2).peekable();
        let (mut near, mut keys) = (Vec::new(), Vec::new());
        for position in 0..places.count {
            if position.is_multiple_of(CHECKED) {
                job.progress.check()?;
            }
            near.clear();
            keys.clear();
            while let Some(pair) =
                pairs.next_if(|pair| pair.as_ref().map_or(true, |&(pair, _)| halves(pair).0 == position))
            {
                stars.meet(halves(pair?.0).1, &mut near);
            }
            while let Some(key) = frequent.next_if(|key| key.as_ref().map_or(true, |&key| halves(key).0 == position)) {
                keys.push(halves(key?).1);
            }
            if position < places.settled {
                stars.keep(position, &keys)?;
            } else {
                stars.decide(position, &mut near, &keys)?;
            }
        }
        Ok(stars.keepers)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "both halves")]
fn halves(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// Collects the positions of each key.
struct Reading {
    /// Positions that have the current key, until it is frequent.
    few: Vec<u32>,
    /// The number of the current key, once it is frequent.
    number: Option<u32>,
    next: u32,
    /// Keys so far, if it counts how many two records share; otherwise equal pairs become one.
    keys: Option<u64>,
    /// Positions below are decided on.
    settled: u32,
    pairs: Sorter<(u64, u64)>,
    frequent: Sorter<u64>,
}

impl Reading {
    fn new(workspace: &Workspace, counts: bool, settled: u32) -> Self {
        let memory = workspace.memory_of_records() / 2;
        let (pairs, frequent) = (Sorter::new(workspace, memory), Sorter::new(workspace, memory));
        Self { few: Vec::new(), number: None, next: 0, keys: counts.then_some(0), settled, pairs, frequent }
    }

    fn add(&mut self, position: u32) -> Result<()> {
        self.few.push(position);
        if self.number.is_none() && self.few.len() <= FEW {
            return Ok(());
        }
        let number = match self.number {
            Some(number) => number,
            None => {
                let number = self.next;
                self.next = number.checked_add(1).ok_or_else(|| {
                    let message = "too many keys that many records share";
                    Error::new(ErrorKind::Unsupported, message).with_remedy("allow a smaller maximum key frequency")
                })?;
                *self.number.insert(number)
            }
        };
        let frequent = &mut self.frequent;
        self.few.drain(..).try_for_each(|position| frequent.push(u64::from(position) << 32 | u64::from(number)))
    }

    fn end_key(&mut self) -> Result<()> {
        self.number = None;
        self.keys = self.keys.map(|keys| keys + 1);
        self.few.sort_unstable();
        for (at, &later) in self.few.iter().enumerate().filter(|(_, later)| **later >= self.settled) {
            for &earlier in self.few.iter().take(at) {
                self.pairs.push((u64::from(later) << 32 | u64::from(earlier), self.keys.unwrap_or(0)))?;
            }
        }
        self.few.clear();
        Ok(())
    }
}

/// The kept records of each frequent key, by position.
#[derive(Default)]
struct Kept {
    /// By the number of the key.
    lists: Vec<Vec<u32>>,
    count: u64,
    /// Most bytes.
    most: u64,
}

impl Kept {
    fn add(&mut self, key: u32, position: u32) -> Result<()> {
        if key as usize >= self.lists.len() {
            self.lists.resize_with(key as usize + 1, Vec::new);
        }
        self.count += 1;
        if self.lists.len() as u64 * LIST + self.count * KEPT > self.most {
            let message = "the records to keep that have frequent keys take more memory than is allowed";
            return Err(Error::invalid(message).with_remedy("allow more, or a maximum key frequency"));
        }
        self.lists.get_mut(key as usize).into_iter().for_each(|list| list.push(position));
        Ok(())
    }

    fn of(&self, key: u32) -> &[u32] {
        self.lists.get(key as usize).map_or(&[], Vec::as_slice)
    }
}

/// Decides on one position after the other.
struct Stars<'a> {
    keepers: Vec<u32>,
    records: &'a [u64],
    rule: &'a KeyRule,
    sketches: &'a Sketches,
    kept: Kept,
    buffers: SketchBuffers,
}

impl Stars<'_> {
    /// Adds an earlier position that shares a key to those that are kept, each with the number of shared keys. Equal
    /// positions come one after the other.
    fn meet(&self, earlier: u32, near: &mut Vec<(u32, u32)>) {
        match near.last_mut() {
            Some((last, shared)) if *last == earlier => *shared += 1,
            _ if self.keepers.get(earlier as usize) == Some(&earlier) => near.push((earlier, 1)),
            _ => {}
        }
    }

    /// Decides on a position that has the frequent keys `keys`, and shares other keys with each of `near`.
    fn decide(&mut self, position: u32, near: &mut Vec<(u32, u32)>, keys: &[u32]) -> Result<()> {
        keys.iter().for_each(|&key| near.extend(self.kept.of(key).iter().map(|&earlier| (earlier, 1))));
        near.sort_unstable();
        for same in near.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(earlier, _)) = same.first() else { continue };
            if self.takes(position, earlier, same.iter().map(|&(_, shared)| u64::from(shared)).sum())? {
                self.keepers.get_mut(position as usize).into_iter().for_each(|keeper| *keeper = earlier);
                return Ok(());
            }
        }
        self.keep(position, keys)
    }

    fn keep(&mut self, position: u32, keys: &[u32]) -> Result<()> {
        keys.iter().try_for_each(|&key| self.kept.add(key, position))
    }

    fn takes(&mut self, a: u32, b: u32, shared: u64) -> Result<bool> {
        if !self.rule.takes(shared, None) || self.records.is_empty() {
            return Ok(self.rule.takes(shared, None));
        }
        let record = |position: u32| self.records.get(position as usize).copied().unwrap_or(u64::MAX);
        let jaccard = self.sketches.jaccard(record(a), record(b), &mut self.buffers)?;
        Ok(self.rule.takes(shared, jaccard))
    }
}
