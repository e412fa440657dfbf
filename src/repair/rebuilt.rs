//! The records of a damaged segment that can be saved, in order, and the losses.
//!
//! Fingerprints and ids come in the same order, each with gaps; a record is saved if both are known. Without ids, a
//! fingerprint with a lost count keeps one record, because it had at least one.
//!
//! In a key index, a record has one number and one id, which are equal if the store numbers the records; the ranks of
//! the saved records tell which sketches stay. A segment of keys has many records behind a key, so its losses are
//! ranges.

use super::fingerprints::{Slots, slots};
use super::numbers::{PART_OF_NUMBERS, ranges};
use super::report::{KeyRange, Loss, Lost, hex};
use crate::error::{Error, Result};
use crate::extsort::{NumberedRecord, Sorted, Sorter, Workspace};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::segment::{Salvage, SalvagedIds, SalvagedUnit};
use crate::version::SegmentRole;
use std::collections::VecDeque;

/// The ids of a fingerprint, as far as they are known without reading any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdRule {
    /// One or more.
    Any,
    /// A count, of one at least.
    Count,
    /// One.
    Single,
    /// One, equal to the fingerprint.
    Same,
}

/// Iterates over the records that are saved, by fingerprint, then id.
pub(super) struct Rebuilt<'a, F: Fingerprint> {
    salvage: &'a Salvage,
    role: SegmentRole,
    rule: IdRule,
    ids: SalvagedIds,
    slots: Slots<'a, F>,
    /// Number of fingerprints so far.
    rank: u64,
    /// The last fingerprint; if it is lost, the last loss covers it.
    current: Option<F>,
    /// Records with the ranks of their fingerprints.
    ready: VecDeque<(u64, Record<F>)>,
    last: Option<Record<F>>,
    /// Number of records whose ids or counts were read, or that replace a lost count.
    read: u64,
    /// Offset of the first lost ids, and the known fingerprints that had them.
    lost_ids: Option<u64>,
    without_ids: Vec<String>,
    /// The same of a segment of keys.
    keys_without: Vec<KeyRange>,
    /// The records behind lost keys, in a segment of keys.
    lost_numbers: Option<Sorter<u64>>,
    /// The saved records by fingerprint with their ranks, in a segment of records of a key index.
    pub(super) survivors: Option<Sorter<NumberedRecord<u64>>>,
    /// Numbers of saved records and of their distinct fingerprints.
    pub(super) saved: (u64, u64),
    /// The losses, complete after the last record.
    pub(super) losses: Vec<Loss>,
}

impl<'a, F: Fingerprint> Rebuilt<'a, F> {
    /// The records of a segment and its [`fill`](super::fingerprints::fill). Fails with `Damaged` if parts that hold
    /// contradict each other.
    pub(super) fn new(
        salvage: &'a Salvage,
        fill: &'a Sorted<u64>,
        (role, rule): (SegmentRole, IdRule),
        workspace: &Workspace,
    ) -> Result<Self> {
        let has_survivors = role == SegmentRole::Records && matches!(rule, IdRule::Single | IdRule::Same);
        let memory = workspace.memory_of_records() / PART_OF_NUMBERS;
        Ok(Self {
            salvage,
            role,
            rule,
            ids: salvage.ids(),
            slots: slots(salvage, fill)?,
            rank: 0,
            current: None,
            ready: VecDeque::new(),
            last: None,
            read: 0,
            lost_ids: None,
            without_ids: Vec::new(),
            keys_without: Vec::new(),
            lost_numbers: (role == SegmentRole::Keys).then(|| Sorter::new(workspace, memory)),
            survivors: has_survivors.then(|| Sorter::new(workspace, memory)),
            saved: (0, 0),
            losses: Vec::new(),
        })
    }

    fn wrong<T>(&self, message: &str) -> Result<T> {
        Err(Error::damaged(message).at_path(self.salvage.path()))
    }

    fn lose(&mut self, section: &str, offset: u64, records: u64, what: Lost) {
        let (path, section) = (self.salvage.path().to_owned(), section.to_owned());
        self.losses.push(Loss {
            path,
            section,
            offset: Some(offset),
            role: Some(self.role),
            records: Some(records),
            what,
        });
    }

    /// Goes to the next fingerprint.
    fn advance(&mut self) -> Result<()> {
        let Some(slot) = self.slots.next().transpose()? else {
            return self.wrong("there are ids of no fingerprint");
        };
        let previous = std::mem::replace(&mut self.current, slot.ok());
        if let Err(offset) = slot
            && (previous.is_some() || self.rank == 0)
        {
            let (first, after) = (self.rank, previous.map(hex));
            let what = Lost::Fingerprints { first, count: 0, after, before: None, ids: Vec::new() };
            self.lose("table 0 data", offset, 0, what);
        }
        if let Some(Loss { what: Lost::Fingerprints { count, before, .. }, .. }) = self.losses.last_mut() {
            match self.current {
                None => *count += 1,
                Some(fingerprint) if previous.is_none() => *before = Some(hex(fingerprint)),
                Some(_) => {}
            }
        }
        self.rank += 1;
        Ok(())
    }

    /// Takes an id of the current fingerprint.
    fn take(&mut self, id: Id) -> Result<()> {
        let number = id.records();
        self.read = self.read.saturating_add(number);
        match (self.current, self.losses.last_mut()) {
            _ if number == 0 => return self.wrong("a fingerprint has no records"),
            (Some(fingerprint), _) => self.ready.push_back((self.rank - 1, Record { fingerprint, id })),
            (None, Some(Loss { what: Lost::Fingerprints { ids, .. }, records: Some(records), .. })) => {
                *records = records.saturating_add(number);
                match (&mut self.lost_numbers, id.number()) {
                    (Some(numbers), Some(number)) => numbers.push(number)?,
                    _ => ids.push(id),
                }
            }
            (None, _) => return self.wrong("the first ids are those of no fingerprint"),
        }
        Ok(())
    }

    /// Takes the next unit of ids; false at the end.
    fn next_unit(&mut self) -> Result<bool> {
        match self.ids.next_unit()? {
            None => return self.finish().map(|()| false),
            Some(SalvagedUnit::Sound(ids)) => {
                for (begins, id) in ids {
                    if begins {
                        self.advance()?;
                    } else if self.rule != IdRule::Any {
                        return self.wrong("a fingerprint has more ids or counts than one");
                    }
                    self.take(id)?;
                }
            }
            Some(SalvagedUnit::Lost { offset, begun }) => {
                self.lost_ids.get_or_insert(offset);
                // The ids of the fingerprint before may continue there.
                let mut keys: Option<(F, F, u64)> = None;
                for number in u64::from(self.rule != IdRule::Any)..=begun {
                    if number > 0 {
                        self.advance()?;
                    }
                    let Some(fingerprint) = self.current else { continue };
                    match self.rule {
                        IdRule::Same => {
                            self.take(Id::Number(fingerprint.word(0)))?;
                            continue;
                        }
                        IdRule::Count => self.take(Id::Count(1))?,
                        IdRule::Any | IdRule::Single => {}
                    }
                    if self.role == SegmentRole::Keys {
                        let (first, _, count) = keys.unwrap_or((fingerprint, fingerprint, 0));
                        keys = Some((first, fingerprint, count + 1));
                        continue;
                    }
                    let fingerprint = hex(fingerprint);
                    if self.without_ids.last() != Some(&fingerprint) {
                        self.without_ids.push(fingerprint);
                    }
                }
                if let Some((first, last, count)) = keys {
                    self.add_keys(KeyRange { first: hex(first), last: hex(last), count });
                }
            }
        }
        Ok(true)
    }

    /// Notes keys with lost numbers; the first of them may be the last one of those before.
    fn add_keys(&mut self, keys: KeyRange) {
        match self.keys_without.last_mut() {
            Some(before) if before.last == keys.first => {
                before.count += keys.count - 1;
                before.last = keys.last;
            }
            _ => self.keys_without.push(keys),
        }
    }

    /// Reports the lost ids.
    fn finish(&mut self) -> Result<()> {
        if self.slots.next().is_some() {
            return self.wrong("a fingerprint has no ids");
        }
        match (self.salvage.footer().records.checked_sub(self.read), self.lost_ids) {
            (Some(0), None) => {}
            (Some(0), Some(_)) if matches!(self.rule, IdRule::Count | IdRule::Same) => {}
            (Some(records @ 1..), Some(offset)) => {
                let (fingerprints, keys) =
                    (std::mem::take(&mut self.without_ids), std::mem::take(&mut self.keys_without));
                let what = match (self.role, self.rule) {
                    (SegmentRole::Keys, _) => Lost::Numbers { keys },
                    (_, IdRule::Count) => Lost::Counts { fingerprints },
                    _ => Lost::Ids { fingerprints },
                };
                self.lose("ids", offset, records, what);
            }
            _ => return self.wrong("the ids are not as many as the records"),
        }
        if let Some(numbers) = self.lost_numbers.take() {
            let (numbers, count) = ranges(&numbers.finish()?)?;
            if let (Some(offset), 1..) = (self.losses.first().and_then(|loss| loss.offset), count) {
                self.lose("table 0 data", offset, count, Lost::KeysOf { numbers });
            }
        }
        Ok(())
    }

    fn next_record(&mut self) -> Result<Option<Record<F>>> {
        while self.ready.is_empty() {
            if !self.next_unit()? {
                return Ok(None);
            }
        }
        let Some((rank, record)) = self.ready.pop_front() else { return Ok(None) };
        let last = self.last.replace(record.clone());
        if last.as_ref().is_some_and(|last| *last >= record) {
            return self.wrong("records are not in ascending order");
        }
        if let Some(survivors) = &mut self.survivors {
            survivors.push(NumberedRecord { fingerprint: record.fingerprint.word(0), id: rank })?;
        }
        self.saved.0 = self.saved.0.saturating_add(record.id.records());
        self.saved.1 += u64::from(last.is_none_or(|last| last.fingerprint != record.fingerprint));
        Ok(Some(record))
    }
}

impl<F: Fingerprint> Iterator for Rebuilt<'_, F> {
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}
