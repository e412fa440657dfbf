//! The records of a damaged segment that can be saved, in order, and the losses.
//!
//! Fingerprints and ids come in the same order, each with gaps; a record is saved if both are known. Without ids, a
//! fingerprint with a lost count keeps one record, because it had at least one.

use super::fingerprints::{Slots, slots};
use super::report::{Loss, Lost, hex};
use crate::error::{Error, Result};
use crate::extsort::Sorted;
use crate::fingerprint::{Fingerprint, Id, IdKind, Record};
use crate::segment::{Salvage, SalvagedIds, SalvagedUnit};
use std::collections::VecDeque;

/// Iterates over the records that are saved, by fingerprint, then id.
pub(super) struct Rebuilt<'a, F: Fingerprint> {
    salvage: &'a Salvage,
    tombstones: bool,
    counted: bool,
    ids: SalvagedIds,
    slots: Slots<'a, F>,
    /// Number of fingerprints so far.
    rank: u64,
    /// The last fingerprint; if it is lost, the last loss covers it.
    current: Option<F>,
    ready: VecDeque<Record<F>>,
    last: Option<Record<F>>,
    /// Number of records whose ids or counts were read, or that replace a lost count.
    read: u64,
    /// Offset of the first lost ids, and the known fingerprints that had them.
    lost_ids: Option<u64>,
    without_ids: Vec<String>,
    /// Numbers of saved records and of their distinct fingerprints.
    pub(super) saved: (u64, u64),
    /// The losses, complete after the last record.
    pub(super) losses: Vec<Loss>,
}

impl<'a, F: Fingerprint> Rebuilt<'a, F> {
    /// The records of a segment and its [`fill`](super::fingerprints::fill); `tombstones` if the segment is one of
    /// tombstones. Fails with `Damaged` if parts that hold contradict each other.
    pub(super) fn new(salvage: &'a Salvage, fill: &'a Sorted<u64>, tombstones: bool) -> Result<Self> {
        Ok(Self {
            salvage,
            tombstones,
            counted: salvage.footer().parameters.ids() == IdKind::None,
            ids: salvage.ids(),
            slots: slots(salvage, fill)?,
            rank: 0,
            current: None,
            ready: VecDeque::new(),
            last: None,
            read: 0,
            lost_ids: None,
            without_ids: Vec::new(),
            saved: (0, 0),
            losses: Vec::new(),
        })
    }

    fn wrong<T>(&self, message: &str) -> Result<T> {
        Err(Error::damaged(message).at_path(self.salvage.path()))
    }

    fn lose(&mut self, section: &str, offset: u64, records: u64, what: Lost) {
        let (path, section) = (self.salvage.path().to_owned(), section.to_owned());
        let (offset, records, tombstones) = (Some(offset), Some(records), self.tombstones);
        self.losses.push(Loss { path, section, offset, tombstones, records, what });
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
            (Some(fingerprint), _) => self.ready.push_back(Record { fingerprint, id }),
            (None, Some(Loss { what: Lost::Fingerprints { ids, .. }, records: Some(records), .. })) => {
                *records = records.saturating_add(number);
                ids.push(id);
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
                    } else if self.counted {
                        return self.wrong("a fingerprint has more counts than one");
                    }
                    self.take(id)?;
                }
            }
            Some(SalvagedUnit::Lost { offset, begun }) => {
                self.lost_ids.get_or_insert(offset);
                // The ids of the fingerprint before may continue there.
                for number in u64::from(self.counted)..=begun {
                    if number > 0 {
                        self.advance()?;
                    }
                    let Some(fingerprint) = self.current else { continue };
                    if self.counted {
                        self.take(Id::Count(1))?;
                    }
                    let fingerprint = hex(fingerprint);
                    if self.without_ids.last() != Some(&fingerprint) {
                        self.without_ids.push(fingerprint);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Reports the lost ids.
    fn finish(&mut self) -> Result<()> {
        if self.slots.next().is_some() {
            return self.wrong("a fingerprint has no ids");
        }
        match (self.salvage.footer().records.checked_sub(self.read), self.lost_ids) {
            (Some(0), None) => {}
            (Some(0), Some(_)) if self.counted => {}
            (Some(records @ 1..), Some(offset)) => {
                let fingerprints = std::mem::take(&mut self.without_ids);
                let what = if self.counted { Lost::Counts { fingerprints } } else { Lost::Ids { fingerprints } };
                self.lose("ids", offset, records, what);
            }
            _ => return self.wrong("the ids are not as many as the records"),
        }
        Ok(())
    }

    fn next_record(&mut self) -> Result<Option<Record<F>>> {
        while self.ready.is_empty() {
            if !self.next_unit()? {
                return Ok(None);
            }
        }
        let Some(record) = self.ready.pop_front() else { return Ok(None) };
        let last = self.last.replace(record.clone());
        if last.as_ref().is_some_and(|last| *last >= record) {
            return self.wrong("records are not in ascending order");
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
