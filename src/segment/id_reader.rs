//! The ids of a segment, open for reading.

use super::file::SegmentFile;
use super::id_places::UnitIndex;
use super::id_unit::{IdFrames, IdPages, IdScratch, Unit};
use crate::error::{Error, Result};
use crate::fingerprint::{Id, IdKind, IdRef};
use crate::format::fields::Fields;
use crate::format::footer::{Footer, Span};
use crate::format::id_index;
use crate::format::id_page::{self, Part};
use crate::format::text_index::{self, UnitEntry};
use std::cmp::Ordering;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Ids of one fingerprint in more units than this should not be in memory together.
const MANY_UNITS: u64 = 8;

/// Records of a unit that are read at once: a page of counts may have 65,535.
const PIECE: usize = 1024;

/// Where a piece of a unit begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum PieceStart {
    /// A record, and how many fingerprints begin before it.
    Record(usize, usize),
    /// The fingerprint that is the one with this number, from 0, to begin in the unit; or before it.
    Fingerprint(usize),
}

/// Some records of a unit: how many fingerprints begin before them, and the record behind them, if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) begun: usize,
    pub(super) next: Option<usize>,
}

/// Where the ids of a fingerprint begin: a unit, and how many fingerprints begin before it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdPlace(u64, usize);

/// Finds the ids of a fingerprint by its rank in the primary table. Ids stand in *units*: pages of numbers or counts,
/// frames of texts.
pub(crate) struct Ids {
    file: Arc<SegmentFile>,
    pub(super) kind: IdKind,
    span: Span,
    index: UnitIndex,
    units: Units,
}

enum Units {
    Pages(IdPages),
    Frames(IdFrames),
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ids").field("kind", &self.kind).field("index", &self.index).finish_non_exhaustive()
    }
}

impl Ids {
    pub(super) fn open(file: &Arc<SegmentFile>, footer: &Footer) -> Result<Self> {
        Self::of_sections(file, footer.parameters.ids(), [footer.ids, footer.id_index, footer.id_dictionary])
    }

    pub(crate) fn of_sections(
        file: &Arc<SegmentFile>,
        kind: IdKind,
        [span, index, dictionary]: [Span; 3],
    ) -> Result<Self> {
        let (mut buffer, mut entries) = (Vec::new(), Vec::new());
        let mut fields = Fields::new(file.read(index, &mut buffer)?, index.offset);
        let place = |error: Error| error.at_path(file.path());
        let units = if kind == IdKind::Text {
            text_index::parse(&mut fields, span.length, |frame| entries.push(frame)).map_err(place)?;
            Units::Frames(IdFrames::open(file, dictionary)?)
        } else {
            let pages = span.length.div_ceil(id_page::SIZE as u64);
            let begun = id_index::parse(&mut fields, pages).map_err(place)?;
            entries.extend(begun.into_iter().map(UnitEntry::page));
            Units::Pages(IdPages::new(file, span))
        };
        Ok(Self { file: Arc::clone(file), kind, span, index: UnitIndex::new(entries), units })
    }

    /// Makes the index from the units themselves, up to the first damaged one. Without the dictionary no frame can be
    /// read.
    pub(super) fn walk(file: &Arc<SegmentFile>, kind: IdKind, span: Span, dictionary: Span) -> Self {
        let (entries, units) = if kind == IdKind::Text {
            let frames = IdFrames::open(file, dictionary);
            let entries = frames.as_ref().map_or_else(|_| Vec::new(), |frames| frames.walk(file, span));
            (entries, Units::Frames(frames.unwrap_or_default()))
        } else {
            let pages = IdPages::new(file, span);
            (pages.walk(file), Units::Pages(pages))
        };
        Self { file: Arc::clone(file), kind, span, index: UnitIndex::new(entries), units }
    }

    pub(super) fn fingerprints(&self) -> u64 {
        self.index.fingerprints
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        self.index.resident_bytes()
            + match &self.units {
                Units::Pages(pages) => pages.resident_bytes(),
                Units::Frames(frames) => frames.resident_bytes(),
            }
    }

    pub(crate) fn unit_count(&self) -> u64 {
        self.index.len()
    }

    pub(super) fn unit_place(&self, number: u64) -> Span {
        let (offset, length) = (self.index.place(number).offset, self.index.unit(number).length.into());
        Span { offset: self.span.offset.saturating_add(offset), length }
    }

    pub(super) fn begun(&self, number: u64) -> u16 {
        self.index.unit(number).begun
    }

    /// The unit in which the fingerprint with this rank in the primary table begins, and how many begin before it
    /// there.
    pub(super) fn place_of(&self, rank: u64) -> Result<(u64, usize)> {
        self.index.find(rank).ok_or_else(|| self.no_ids())
    }

    #[cold]
    fn no_ids(&self) -> Error {
        Error::damaged("a fingerprint has no ids").at_path(self.file.path())
    }

    /// Reads a unit and passes it to `visit`. Pages are not compared with the index.
    pub(super) fn with_unit<R>(
        &self,
        number: u64,
        scratch: &mut IdScratch,
        visit: impl FnOnce(&Unit<'_>) -> Result<R>,
    ) -> Result<R> {
        let place = || self.unit_place(number);
        let unit = match &self.units {
            Units::Pages(pages) => pages.read(&self.file, number, scratch).map(Unit::Page),
            Units::Frames(frames) => {
                frames.read(&self.file, number, place, self.begun(number), scratch).map(Unit::Frame)
            }
        };
        unit.and_then(|unit| visit(&unit)).map_err(|error| error.at_path(self.file.path()).at_offset(place().offset))
    }

    /// As [`Ids::with_unit`]; `Damaged` if the unit does not agree with the index.
    pub(super) fn with_checked_unit<R>(
        &self,
        number: u64,
        scratch: &mut IdScratch,
        visit: impl FnOnce(&Unit<'_>) -> Result<R>,
    ) -> Result<R> {
        self.with_unit(number, scratch, |unit| match unit {
            Unit::Page(page) if page.begun() != usize::from(self.begun(number)) => {
                Err(Error::damaged("a page of ids and its index disagree"))
            }
            unit => visit(unit),
        })
    }

    /// An id of a unit as an id of the segment's kind.
    fn owned(&self, id: IdRef<'_>) -> Id {
        match id {
            IdRef::Number(count) if self.kind == IdKind::None => Id::Count(count),
            IdRef::Number(number) => Id::Number(number),
            IdRef::Text(text) => Id::Text(text.into()),
            IdRef::None => Id::Count(0),
        }
    }

    /// An id of a unit; `None` if it is a count.
    pub(super) fn borrowed<'i>(&self, id: IdRef<'i>) -> IdRef<'i> {
        if self.kind == IdKind::None { IdRef::None } else { id }
    }

    /// Calls `visit` with all ids of a unit, and whether each begins a fingerprint.
    pub(crate) fn unit(&self, number: u64, scratch: &mut IdScratch, mut visit: impl FnMut(bool, Id)) -> Result<()> {
        self.with_checked_unit(number, scratch, |unit| {
            let visited = unit.visit_from(0, usize::MAX, |begins, id| {
                visit(begins, self.owned(id));
                ControlFlow::Continue(())
            });
            visited.map(|_| ())
        })
    }

    /// Calls `visit` with some ids of a unit, from the start on, and whether each begins a fingerprint.
    pub(super) fn piece(
        &self,
        number: u64,
        start: PieceStart,
        scratch: &mut IdScratch,
        mut visit: impl FnMut(bool, Id),
    ) -> Result<Piece> {
        self.with_checked_unit(number, scratch, |unit| {
            let (record, begun) = match start {
                PieceStart::Record(record, begun) => (record, begun),
                PieceStart::Fingerprint(nth) => unit.start_of(nth),
            };
            let end = unit.visit_from(record, PIECE, |begins, id| {
                visit(begins, self.owned(id));
                ControlFlow::Continue(())
            })?;
            Ok(Piece { begun, next: (end < unit.records()).then_some(end) })
        })
    }

    /// The units that the ids of the fingerprint with this rank may be in, and how many fingerprints begin before it in
    /// the first of them.
    fn units_from(&self, rank: u64) -> Result<(Range<u64>, usize)> {
        let (first, nth) = self.place_of(rank)?;
        let end = if rank + 1 < self.fingerprints() { self.place_of(rank + 1)?.0 + 1 } else { self.unit_count() };
        Ok((first..end, nth))
    }

    /// Number of units with ids of the fingerprint with this rank, or one more.
    pub(crate) fn units_of(&self, rank: u64) -> Result<u64> {
        let (units, _) = self.units_from(rank)?;
        Ok(units.end.saturating_sub(units.start))
    }

    /// Whether the fingerprint with this rank has more ids than should be in memory together.
    pub(crate) fn has_many(&self, rank: u64) -> Result<bool> {
        let (unit, nth) = self.place_of(rank)?;
        self.are_many(IdPlace(unit, nth), rank)
    }

    /// As [`Ids::has_many`], if the ids begin here.
    pub(crate) fn are_many(&self, IdPlace(unit, nth): IdPlace, rank: u64) -> Result<bool> {
        // Mostly the next fingerprint begins in the same unit.
        Ok(nth + 1 >= usize::from(self.begun(unit)) && self.units_of(rank)? > MANY_UNITS)
    }

    /// Where the ids of the fingerprint with this rank begin. `near` is of the caller's last call; any number will do.
    pub(crate) fn place_near(&self, rank: u64, near: &mut usize) -> Result<IdPlace> {
        let (unit, nth) = self.index.find_near(rank, near).ok_or_else(|| self.no_ids())?;
        Ok(IdPlace(unit, nth))
    }

    /// As [`Ids::place_near`], and prefetches the ids. Reading those of several fingerprints afterwards waits for memory
    /// once.
    pub(crate) fn prefetch(&self, rank: u64, near: &mut usize) -> Result<IdPlace> {
        let place @ IdPlace(unit, nth) = self.place_near(rank, near)?;
        if let Units::Pages(pages) = &self.units {
            pages.prefetch(&self.file, unit, nth, self.begun(unit));
        }
        Ok(place)
    }

    /// Calls `visit` with the units that have ids of the fingerprint whose ids begin here, and its records there, until
    /// it breaks. Reads unit by unit.
    fn each_part(
        &self,
        IdPlace(first, nth): IdPlace,
        scratch: &mut IdScratch,
        mut visit: impl FnMut(&Unit<'_>, Part) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        for number in first..self.unit_count() {
            let more = self.with_unit(number, scratch, |unit| {
                let part = unit.part((number == first).then_some(nth))?;
                let is_last = unit.ends_with(&part);
                Ok(visit(unit, part)?.is_continue() && is_last)
            })?;
            // A fingerprint with very many ids continues in the next units.
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// The number of ids of the fingerprint with this rank in the primary table, or their count.
    pub(crate) fn count(&self, rank: u64, scratch: &mut IdScratch) -> Result<u64> {
        let mut count = 0;
        if self.kind == IdKind::None {
            self.ids_of(rank, scratch, |id| count += id.number().unwrap_or(0))?;
            return Ok(count);
        }
        let (unit, nth) = self.place_of(rank)?;
        self.each_part(IdPlace(unit, nth), scratch, |_, part| {
            count += part.records() as u64;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Whether the fingerprint with this rank in the primary table has an id. Reads a number of units that grows with
    /// the logarithm of those that its ids take. Without ids: true.
    pub(crate) fn has(&self, rank: u64, id: &Id, scratch: &mut IdScratch) -> Result<bool> {
        match (self.kind, id) {
            (IdKind::None, _) => return Ok(true),
            (IdKind::Number, Id::Number(_)) | (IdKind::Text, Id::Text(_)) => {}
            _ => return Ok(false),
        }
        let (units, nth) = self.units_from(rank)?;
        let mut compare = |number: u64, all| {
            self.with_checked_unit(number, scratch, |unit| {
                unit.compare(unit.part((number == units.start).then_some(nth))?, id.as_ref(), all)
            })
        };
        // The last unit whose first id is not greater. The search ends even if damaged ids do not ascend.
        let Range { start: mut low, end: mut high } = units;
        while high.saturating_sub(low) > 1 {
            let middle = low + (high - low) / 2;
            match compare(middle, false)? {
                Some(Ordering::Less | Ordering::Equal) => low = middle,
                Some(Ordering::Greater) | None => high = middle,
            }
        }
        Ok(compare(low, true)? == Some(Ordering::Equal))
    }

    /// Calls `visit` with the ids of the fingerprint with this rank in the primary table, in ascending order, or with
    /// their count, until it breaks. Reads no unit after the one with the last visited id. If units and index
    /// contradict each other, `visit` gets the ids before the damage.
    pub(crate) fn visit_ids(
        &self,
        rank: u64,
        scratch: &mut IdScratch,
        mut visit: impl FnMut(Id) -> ControlFlow<()>,
    ) -> Result<()> {
        let (unit, nth) = self.place_of(rank)?;
        self.visit_at(IdPlace(unit, nth), scratch, |id| visit(self.owned(id)))
    }

    /// As [`Ids::visit_ids`], from a known place.
    pub(crate) fn visit_at(
        &self,
        place: IdPlace,
        scratch: &mut IdScratch,
        mut visit: impl FnMut(IdRef<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.each_part(place, scratch, |unit, part| unit.visit(part, &mut visit))
    }

    /// As [`Ids::visit_ids`], with all ids.
    pub(crate) fn ids_of(&self, rank: u64, scratch: &mut IdScratch, visit: impl FnMut(Id)) -> Result<()> {
        let (unit, nth) = self.place_of(rank)?;
        self.ids_at(IdPlace(unit, nth), scratch, visit)
    }

    /// As [`Ids::ids_of`], from a known place.
    pub(crate) fn ids_at(&self, place: IdPlace, scratch: &mut IdScratch, mut visit: impl FnMut(Id)) -> Result<()> {
        self.visit_at(place, scratch, |id| {
            visit(self.owned(id));
            ControlFlow::Continue(())
        })
    }
}
