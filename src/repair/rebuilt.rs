//! The records of a damaged segment that can be saved, in order, and on the way what cannot.
//!
//! Fingerprints and ids come by rank from two sides ([`Fingerprints`], [`SalvagedIds`]), each with its gaps, and a record is
//! saved where both are known. Where there are no ids, a fingerprint whose count is lost stays with one record, for so many
//! it had at least; if the number of all records says that none had more, nothing is lost.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Id, IdKind, Record};
use crate::repair::fingerprints::{Fingerprints, Stretch, Stretches, Torn};
use crate::repair::report::{Loss, Lost, LostFingerprints, PartlyKnown, hex};
use crate::segment::{IdStretch, Salvage, SalvagedIds};
use std::collections::{BTreeMap, VecDeque};
use std::iter::Peekable;
use std::ops::Range;
use std::path::Path;

/// The stretch at hand, behind the rank of its first fingerprint, and the ids of those of it that are not known.
type Current<F> = (u64, Stretch<F>, BTreeMap<u64, Vec<Id>>);

/// Iterates over the records that are saved, by fingerprint, then id. Ends after the first error.
pub(crate) struct Rebuilt<'a, F: Fingerprint> {
    path: &'a Path,
    tombstones: bool,
    counted: bool,
    ids: SalvagedIds,
    /// What of the ids comes next, last first.
    waiting: Vec<IdStretch>,
    stretches: Peekable<Stretches<'a, F>>,
    current: Option<Current<F>>,
    /// The rank behind it.
    behind: u64,
    /// The greatest fingerprint so far that is known.
    after: Option<F>,
    ready: VecDeque<Record<F>>,
    last: Option<Record<F>>,
    missing: Missing,
    tally: Tally,
    losses: Vec<Loss>,
    ended: bool,
}

/// Records and distinct fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) records: u64,
    pub(crate) fingerprints: u64,
}

/// What is known of all records of which nobody knows whose they are, taken together.
#[derive(Clone, Copy, Debug, Default)]
struct Missing {
    /// How many there were.
    records: u64,
    /// Fingerprints whose ids begin in lost units.
    fingerprints: u64,
    /// Runs of lost units.
    gaps: usize,
}

impl Missing {
    /// The count of every fingerprint whose count is lost, if that is known.
    fn count(&self) -> Option<u64> {
        match self.fingerprints {
            1 => Some(self.records),
            all if all == self.records => Some(1),
            _ => None,
        }
    }

    /// The records of one gap in which so many fingerprints begin, if that is known.
    fn of_gap(&self, fingerprints: u64) -> Option<u64> {
        match self.count() {
            _ if self.gaps == 1 => Some(self.records),
            Some(1) => Some(fingerprints),
            _ => None,
        }
    }
}

impl<'a, F: Fingerprint> Rebuilt<'a, F> {
    /// The records of a segment whose fingerprints were found; `tombstones` if they are such that older ones have lost.
    ///
    /// # Errors
    /// `Damaged` if parts that hold contradict each other; `Io`.
    pub(crate) fn new(
        salvage: &'a Salvage,
        fingerprints: &'a Fingerprints<'a, F>,
        path: &'a Path,
        tombstones: bool,
    ) -> Result<Self> {
        let ids = salvage.ids()?;
        let mut waiting = ids.stretches();
        waiting.reverse();
        let footer = salvage.footer();
        let mut missing = Missing { records: footer.records.saturating_sub(ids.records()), ..Missing::default() };
        for stretch in &waiting {
            if let IdStretch::Gap { ranks, readable, .. } = stretch {
                missing.records = missing.records.saturating_add(*readable);
                missing.fingerprints += ranks.end - ranks.start;
                missing.gaps += 1;
            }
        }
        let counted = footer.parameters.ids() == IdKind::None;
        if counted && missing.records < missing.fingerprints {
            return Err(Error::damaged("the counts are not those of so many records").at_offset(footer.ids.offset));
        }
        Ok(Self {
            path,
            tombstones,
            counted,
            ids,
            waiting,
            stretches: fingerprints.stretches().peekable(),
            current: None,
            behind: 0,
            after: None,
            ready: VecDeque::new(),
            last: None,
            missing,
            tally: Tally::default(),
            losses: Vec::new(),
            ended: false,
        })
    }

    /// What was saved, and what was lost. To be called at the end.
    pub(crate) fn into_losses(self) -> (Tally, Vec<Loss>) {
        (self.tally, self.losses)
    }

    fn wrong(&self, message: &str) -> Error {
        Error::damaged(message).at_path(self.path)
    }

    /// Makes the stretch that has this rank the current one.
    fn go_to(&mut self, rank: u64) -> Result<()> {
        while rank >= self.behind {
            self.finish_stretch()?;
            let Some(next) = self.stretches.next().transpose()? else {
                return Err(self.wrong("there are ids of no fingerprint"));
            };
            let first = self.behind;
            self.behind += match &next {
                Stretch::Known(known) => known.len() as u64,
                Stretch::Torn(torn) => torn.count,
            };
            self.current = Some((first, next, BTreeMap::new()));
        }
        Ok(())
    }

    /// The fingerprint of a rank in the current stretch, if it is known.
    fn fingerprint(&self, rank: u64) -> Option<F> {
        match &self.current {
            Some((first, Stretch::Known(known), _)) => {
                known.get(usize::try_from(rank.checked_sub(*first)?).ok()?).copied()
            }
            _ => None,
        }
    }

    /// Takes the id of a fingerprint.
    fn id(&mut self, rank: u64, id: Id) -> Result<()> {
        self.go_to(rank)?;
        match (self.fingerprint(rank), &mut self.current) {
            (Some(fingerprint), _) => self.ready.push_back(Record { fingerprint, id }),
            (None, Some((first, _, ids))) if rank >= *first => ids.entry(rank).or_default().push(id),
            _ => return Err(self.wrong("ids are not in the order of their fingerprints")),
        }
        Ok(())
    }

    /// Takes the next unit of ids, or some that are lost.
    fn next_ids(&mut self, stretch: IdStretch) -> Result<()> {
        match stretch {
            IdStretch::Sound { unit, first } => {
                let (mut next, mut all) = (first, Vec::new());
                self.ids.read(unit, |begins, id| {
                    next += u64::from(begins);
                    all.push((next.checked_sub(1), id));
                })?;
                for (rank, id) in all {
                    let rank = rank.ok_or_else(|| self.wrong("the first ids are those of no fingerprint"))?;
                    self.id(rank, id)?;
                }
                Ok(())
            }
            IdStretch::Gap { units, ranks, place, .. } => {
                let count = ranks.end - ranks.start;
                let mut loss = Loss {
                    path: self.path.to_owned(),
                    section: "ids".to_owned(),
                    offset: Some(place.offset),
                    bytes: Some(place.length),
                    tombstones: self.tombstones,
                    records: self.missing.of_gap(count),
                    what: Lost::Counts { fingerprints: Vec::new() },
                };
                if self.counted { self.lost_counts(ranks, &mut loss) } else { self.lost_ids(units, ranks, &mut loss) }
            }
        }
    }

    /// Counts of these fingerprints are lost: each stays with one record, or as many as it must have had.
    fn lost_counts(&mut self, ranks: Range<u64>, loss: &mut Loss) -> Result<()> {
        let (count, mut fingerprints) = (self.missing.count(), Vec::new());
        for rank in ranks.clone() {
            self.go_to(rank)?;
            match (self.fingerprint(rank), count) {
                (_, Some(count)) => self.id(rank, Id::Count(count))?,
                (Some(fingerprint), None) => {
                    self.id(rank, Id::Count(1))?;
                    fingerprints.push(hex(fingerprint));
                }
                (None, None) => loss.records = None,
            }
        }
        if count.is_none() {
            loss.records = loss.records.and_then(|records| records.checked_sub(fingerprints.len() as u64));
            loss.what = Lost::Counts { fingerprints };
            self.losses.push(loss.clone());
        }
        Ok(())
    }

    /// Ids of these fingerprints are lost.
    fn lost_ids(&mut self, units: Range<usize>, ranks: Range<u64>, loss: &mut Loss) -> Result<()> {
        // Ids of the fingerprint before may go on there, unless there is only one for each of those that begin there.
        let mut perhaps = None;
        if let Some(before) = ranks.start.checked_sub(1).filter(|_| self.missing.fingerprints != self.missing.records) {
            self.go_to(before)?;
            perhaps = self.fingerprint(before).map(hex);
        }
        let (mut fingerprints, mut ids) = (Vec::new(), Vec::new());
        if ranks.is_empty() {
            // It is the only one whose they can be.
            fingerprints.extend(perhaps.take());
        }
        for rank in ranks {
            self.go_to(rank)?;
            match self.fingerprint(rank) {
                Some(fingerprint) => fingerprints.push(hex(fingerprint)),
                // What is said of that one tells of its records too.
                None => loss.records = None,
            }
        }
        for unit in units {
            if self.ids.is_sound(unit) {
                self.ids.read(unit, |_, id| ids.push(id))?;
            }
        }
        if !fingerprints.is_empty() || perhaps.is_some() || !ids.is_empty() {
            loss.what = Lost::Ids { fingerprints, perhaps, ids };
            self.losses.push(loss.clone());
        }
        Ok(())
    }

    /// Lets go of the current stretch, and says what of it is lost.
    fn finish_stretch(&mut self) -> Result<()> {
        match self.current.take() {
            Some((_, Stretch::Known(known), _)) => self.after = known.last().copied().or(self.after),
            Some((first, Stretch::Torn(torn), ids)) => self.finish_torn(first, torn, ids),
            None => {}
        }
        Ok(())
    }

    fn finish_torn(&mut self, first: u64, torn: Torn<F>, ids: BTreeMap<u64, Vec<Id>>) {
        let Torn { count, found, bits, section, offset } = torn;
        let before = match self.stretches.peek() {
            Some(Ok(Stretch::Known(known))) => known.first().copied(),
            _ => None,
        };
        let all_known = ids.len() as u64 == count;
        let (mut kept, mut records) = (0, ids.values().map(|ids| ids.len() as u64).sum::<u64>());
        if self.counted {
            let counts = || ids.values().flatten().filter_map(Id::number);
            // The least count of any of them is one that each of them has, whichever it is.
            kept = counts().min().filter(|_| all_known).unwrap_or(1);
            records = counts().fold(0, u64::saturating_add).saturating_sub(kept.saturating_mul(found.len() as u64));
            self.ready.extend(found.iter().map(|&fingerprint| Record { fingerprint, id: Id::Count(kept) }));
        }
        let what = LostFingerprints {
            first,
            count,
            after: self.after.map(hex),
            before: before.map(hex),
            known: found.iter().copied().map(hex).collect(),
            kept,
            parts: bits
                .into_iter()
                .map(|(rank, bits)| PartlyKnown { rank, bits: hex(bits.value), mask: hex(bits.mask) })
                .collect(),
            ids: ids.into_iter().collect(),
        };
        self.after = found.last().copied().or(self.after);
        self.losses.push(Loss {
            path: self.path.to_owned(),
            section: section.to_owned(),
            offset: Some(offset),
            bytes: None,
            tombstones: self.tombstones,
            records: Some(records).filter(|_| all_known),
            what: Lost::Fingerprints(what),
        });
    }

    fn next_record(&mut self) -> Result<Option<Record<F>>> {
        while self.ready.is_empty() {
            if let Some(stretch) = self.waiting.pop() {
                self.next_ids(stretch)?;
            } else if self.current.is_some() {
                self.finish_stretch()?;
            } else {
                break;
            }
        }
        let Some(record) = self.ready.pop_front() else {
            return match self.stretches.next().transpose()? {
                None => Ok(None),
                Some(_) => Err(self.wrong("a fingerprint has no ids")),
            };
        };
        if self.last.as_ref().is_some_and(|last| *last >= record) {
            return Err(self.wrong("records are not in ascending order"));
        }
        self.tally.records = self.tally.records.saturating_add(match record.id {
            Id::Count(count) => count,
            _ => 1,
        });
        let before = self.last.replace(record.clone());
        self.tally.fingerprints += u64::from(before.is_none_or(|before| before.fingerprint != record.fingerprint));
        Ok(Some(record))
    }
}

impl<F: Fingerprint> Iterator for Rebuilt<'_, F> {
    type Item = Result<Record<F>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_record().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
