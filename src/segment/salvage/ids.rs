//! Which ids of a damaged segment can be read, and whose they are.
//!
//! Ids stand in *units*: pages, or frames of texts. A unit says how many fingerprints begin in it, and so does the index: one
//! of the two is enough. The number of all is known too. So the rank of the first fingerprint of a unit is known by counting
//! from the front or from the back, unless on both sides there is a unit of which nobody knows the number.

use super::super::file::{Pages, SegmentFile};
use super::super::id_writer::INDEX_CHUNK;
use super::super::text_ids::{TextIds, TextScratch};
use crate::error::{Error, Result};
use crate::fingerprint::{Id, IdKind};
use crate::format::CHECKSUM;
use crate::format::fields::Fields;
use crate::format::footer::{Footer, Span};
use crate::format::id_page::{self, IdPage};
use crate::format::page::{self, Stream};
use std::ops::Range;
use std::sync::Arc;

/// A page or frame of ids, or bytes that nothing divides into such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    place: Span,
    /// How many fingerprints begin in it, if that is known.
    begun: Option<u64>,
    /// Whether it can be read.
    sound: bool,
    /// Records that its ids stand for, if so.
    records: u64,
}

/// Units that follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IdStretch {
    /// One that can be read: the rank of the first fingerprint that begins in it. Ids in front of that one are those of the
    /// fingerprint before it.
    Sound {
        /// Its number.
        unit: usize,
        /// The rank.
        first: u64,
    },
    /// Some that cannot be read, or of whose ids nobody knows whose they are.
    Gap {
        /// Their numbers.
        units: Range<usize>,
        /// The fingerprints that begin in them.
        ranks: Range<u64>,
        /// Where they lie in the file.
        place: Span,
        /// Records that the ids in those of them stand for that can be read.
        readable: u64,
    },
}

/// The ids of a segment, as far as they can be read.
#[derive(Debug)]
pub(crate) struct SalvagedIds {
    file: Arc<SegmentFile>,
    kind: IdKind,
    units: Vec<Unit>,
    texts: Option<TextIds>,
    pages: Pages,
    fingerprints: u64,
    buffer: Vec<u8>,
    scratch: TextScratch,
}

impl SalvagedIds {
    /// Looks at every unit.
    pub(super) fn open(file: &Arc<SegmentFile>, footer: &Footer) -> Result<Self> {
        let kind = footer.parameters.ids();
        let mut ids = Self {
            kind,
            units: Vec::new(),
            texts: None,
            pages: Pages::new(file, footer.ids, id_page::SIZE, Stream::Ids),
            fingerprints: footer.fingerprints,
            buffer: Vec::new(),
            scratch: TextScratch::default(),
            file: Arc::clone(file),
        };
        if kind == IdKind::Text {
            ids.find_frames(footer)
        } else {
            ids.find_pages(footer)
        };
        ids.look_at_all(footer)?;
        Ok(ids)
    }

    /// Pages are where they are, index or not.
    fn find_pages(&mut self, footer: &Footer) {
        let begun = begun_in_pages(&self.file, footer.id_index, self.pages.count());
        let unit = |(number, begun)| Unit { place: self.pages.place(number), begun, sound: false, records: 0 };
        self.units = (0..self.pages.count()).zip(begun).map(unit).collect();
    }

    /// Frames are found by the index or, where that is damaged, one behind the other. What cannot be divided is one unit.
    fn find_frames(&mut self, footer: &Footer) {
        let Footer { ids, id_index, id_dictionary, .. } = *footer;
        let texts = TextIds::open(&self.file, ids, id_index, id_dictionary)
            .or_else(|_| TextIds::walk(&self.file, ids, id_dictionary));
        let mut at = ids.offset;
        if let Ok(texts) = texts {
            for number in 0..texts.frame_count() {
                let (place, (_, begun)) = (texts.frame_place(number), texts.frame_fingerprints(number));
                self.units.push(Unit { place, begun: Some(begun), sound: false, records: 0 });
                at = place.end();
            }
            self.texts = Some(texts);
        }
        if at < ids.end() {
            let place = Span { offset: at, length: ids.end() - at };
            self.units.push(Unit { place, begun: None, sound: false, records: 0 });
        }
    }

    /// Finds out which units hold, how many fingerprints begin in them, and what they stand for.
    fn look_at_all(&mut self, footer: &Footer) -> Result<()> {
        let (counted, mut sum) = (self.kind == IdKind::None, 0u64);
        for number in 0..self.units.len() {
            let (mut begun, mut records) = (0u64, 0u64);
            let read = self.read(number, |begins, id| {
                begun += u64::from(begins);
                records = records.saturating_add(if counted { id.number().unwrap_or(0) } else { 1 });
            });
            let Some(unit) = self.units.get_mut(number).filter(|_| read.is_ok()) else { continue };
            (unit.sound, unit.records) = (true, records);
            if unit.begun.replace(begun).is_some_and(|known| known != begun) {
                return Err(self.contradiction(number, "a page of ids and its index disagree"));
            }
            sum = sum.saturating_add(records);
        }
        if sum > footer.records || self.is_whole() && sum != footer.records {
            return Err(self.contradiction(0, "the ids are not as many as the records"));
        }
        // One unit of which nobody knows the number has what is left.
        let known = self.units.iter().filter_map(|unit| unit.begun).fold(0, u64::saturating_add);
        let rest = self.fingerprints.checked_sub(known);
        let mut unknown = self.units.iter_mut().filter(|unit| unit.begun.is_none());
        match (unknown.next(), unknown.next(), rest) {
            (Some(unit), None, Some(rest)) => unit.begun = Some(rest),
            (Some(_), Some(_), Some(_)) | (None, _, Some(0)) => {}
            _ => return Err(self.contradiction(0, "the ids are not those of so many fingerprints")),
        }
        Ok(())
    }

    fn contradiction(&self, unit: usize, message: &str) -> Error {
        let place = self.units.get(unit).map_or(Span::default(), |unit| unit.place);
        Error::damaged(message).at_path(self.file.path()).at_offset(place.offset)
    }

    /// Whether every unit can be read.
    pub(crate) fn is_whole(&self) -> bool {
        self.units.iter().all(|unit| unit.sound)
    }

    /// Records that the ids which can be read stand for.
    pub(crate) fn records(&self) -> u64 {
        self.units.iter().fold(0, |sum, unit| sum.saturating_add(unit.records))
    }

    /// All units, in order.
    pub(crate) fn stretches(&self) -> Vec<IdStretch> {
        let firsts = self.firsts();
        let mut stretches: Vec<IdStretch> = Vec::new();
        for (number, unit) in self.units.iter().enumerate() {
            let first = firsts.get(number).copied().flatten();
            if let Some(first) = first.filter(|_| unit.sound) {
                stretches.push(IdStretch::Sound { unit: number, first });
                continue;
            }
            if let Some(IdStretch::Gap { units, place, readable, .. }) = stretches.last_mut() {
                units.end = number + 1;
                *readable = readable.saturating_add(unit.records);
                place.length = unit.place.end().saturating_sub(place.offset);
            } else {
                // The first unit behind one whose ranks are known.
                let first = first.unwrap_or(0);
                let (units, ranks, readable) = (number..number + 1, first..first, unit.records);
                stretches.push(IdStretch::Gap { units, ranks, place: unit.place, readable });
            }
        }
        for stretch in &mut stretches {
            if let IdStretch::Gap { units, ranks, .. } = stretch {
                // What follows is sound and its rank known, or it is the end.
                ranks.end = firsts.get(units.end).copied().flatten().unwrap_or(self.fingerprints).max(ranks.start);
            }
        }
        stretches
    }

    /// The rank of the first fingerprint that begins in each unit, as far as it is known, and at the end their number.
    fn firsts(&self) -> Vec<Option<u64>> {
        let mut firsts = Vec::with_capacity(self.units.len() + 1);
        let mut rank = Some(0u64);
        for unit in &self.units {
            firsts.push(rank);
            rank = rank.zip(unit.begun).map(|(rank, begun)| rank.saturating_add(begun));
        }
        firsts.push(Some(self.fingerprints));
        let mut rank = Some(self.fingerprints);
        for (unit, first) in self.units.iter().zip(&mut firsts).rev() {
            rank = rank.zip(unit.begun).and_then(|(rank, begun)| rank.checked_sub(begun));
            *first = first.or(rank);
        }
        firsts
    }

    /// Whether a unit can be read.
    pub(crate) fn is_sound(&self, unit: usize) -> bool {
        self.units.get(unit).is_some_and(|unit| unit.sound)
    }

    /// Calls `visit` with every id of a unit, and whether it begins a fingerprint.
    ///
    /// # Errors
    /// `Damaged` if the unit is; `Io`.
    pub(crate) fn read(&mut self, unit: usize, mut visit: impl FnMut(bool, Id)) -> Result<()> {
        let number = unit as u64;
        if self.kind == IdKind::Text {
            let texts = self.texts.as_ref().filter(|texts| number < texts.frame_count());
            let texts = texts.ok_or_else(|| Error::damaged("no frames of ids").at_path(self.file.path()))?;
            return texts.with_frame(number, &mut self.scratch, |frame| {
                frame.iter().for_each(|(begins, text)| visit(begins, text.into()));
                Ok(())
            });
        }
        let counted = self.kind == IdKind::None;
        let bytes = self.pages.get(&self.file, number, &mut self.buffer)?;
        let payload = bytes.get(..bytes.len().saturating_sub(CHECKSUM)).unwrap_or_default();
        let page = IdPage::parse(&mut Fields::new(payload, 0))?;
        page.check(number + 1 == self.pages.count())?;
        let mut ids = Vec::with_capacity(page.records());
        page.append_ids(0..page.records(), &mut ids)?;
        if counted && (page.begun() != page.records() || ids.contains(&0)) {
            return Err(Error::damaged("a fingerprint has not one count, of one or more"));
        }
        let id = |number| if counted { Id::Count(number) } else { Id::Number(number) };
        ids.into_iter().enumerate().for_each(|(record, number)| visit(page.begins(record), id(number)));
        Ok(())
    }
}

/// How many fingerprints begin in each page, as the chunks of the index say that hold.
fn begun_in_pages(file: &SegmentFile, index: Span, pages: u64) -> Vec<Option<u64>> {
    let mut buffer = Vec::new();
    let bytes = file.read(index, &mut buffer).unwrap_or_default();
    let mut begun = Vec::new();
    for (number, chunk) in (0..).zip(bytes.chunks(2 * INDEX_CHUNK + CHECKSUM)) {
        let holds = page::open(chunk, Stream::IdIndex, number).is_ok();
        let counts = chunk.get(..chunk.len().saturating_sub(CHECKSUM)).unwrap_or_default();
        begun.extend(counts.chunks_exact(2).map(|pair| match pair {
            &[low, high] if holds => Some(u16::from_le_bytes([low, high]).into()),
            _ => None,
        }));
    }
    begun.resize(usize::try_from(pages).unwrap_or(0), None);
    begun
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, Memory, ReadMode};
    use std::path::Path;

    /// Units with these numbers of fingerprints, of which those that are `None` are unknown, and unsound in any case.
    fn ids(units: &[(Option<u64>, bool)], fingerprints: u64) -> SalvagedIds {
        let (env, path) = (Memory::default(), Path::new("x"));
        env.set_bytes(path, vec![0; 100]);
        let file = Arc::new(SegmentFile::new(path, env.open(path, ReadMode::Pread).unwrap()));
        let unit = |(number, &(begun, sound)): (u64, &(Option<u64>, bool))| Unit {
            place: Span { offset: 10 * number, length: 10 },
            begun,
            sound,
            records: 7,
        };
        SalvagedIds {
            kind: IdKind::Number,
            units: (0..).zip(units).map(unit).collect(),
            texts: None,
            pages: Pages::new(&file, Span::default(), id_page::SIZE, Stream::Ids),
            fingerprints,
            buffer: Vec::new(),
            scratch: TextScratch::default(),
            file,
        }
    }

    fn gap(units: Range<usize>, ranks: Range<u64>) -> IdStretch {
        let (offset, length) = (10 * units.start as u64, 10 * units.len() as u64);
        let readable = 7 * units.len() as u64;
        IdStretch::Gap { units, ranks, place: Span { offset, length }, readable }
    }

    fn sound(unit: usize, first: u64) -> IdStretch {
        IdStretch::Sound { unit, first }
    }

    #[test]
    fn ranks_are_counted_from_both_sides() {
        let all = [(Some(3), true), (Some(0), true), (Some(4), true)];
        assert_eq!(ids(&all, 7).stretches(), [sound(0, 0), sound(1, 3), sound(2, 3)]);
        let one = [(Some(3), true), (Some(2), false), (Some(4), true)];
        assert_eq!(ids(&one, 9).stretches(), [sound(0, 0), gap(1..2, 3..5), sound(2, 5)]);
        let two = [(Some(3), true), (None, false), (Some(4), true), (None, false), (Some(1), true)];
        assert_eq!(ids(&two, 20).stretches(), [sound(0, 0), gap(1..4, 3..19), sound(4, 19)]);
        let ends = [(None, false), (Some(4), true), (None, false)];
        assert_eq!(ids(&ends, 20).stretches(), [gap(0..3, 0..20)]);
        let last = [(Some(4), true), (Some(2), false), (Some(1), false)];
        assert_eq!(ids(&last, 7).stretches(), [sound(0, 0), gap(1..3, 4..7)]);
    }
}
