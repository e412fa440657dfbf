//! The ids of a damaged segment, as far as they can be read.
//!
//! Ids stand in *units*: pages, or frames of texts. The id index says how many fingerprints begin in each unit. Where
//! the index is damaged, the units say it themselves, one after the other, up to the first one that does not hold; the
//! rest counts as one unit.

use super::super::file::SegmentFile;
use super::super::id_reader::IdReader;
use super::super::ids::{IdScratch, Ids};
use super::super::text_ids::TextIds;
use crate::error::{Error, Result};
use crate::fingerprint::{Id, IdKind};
use crate::format::footer::Footer;
use std::sync::Arc;

/// The next ids of a segment.
#[derive(Debug)]
pub(crate) enum SalvagedUnit {
    /// Those of a unit that holds, and whether each begins a fingerprint.
    Sound(Vec<(bool, Id)>),
    /// Ids that are lost.
    Lost {
        /// Where they begin in the file.
        offset: u64,
        /// How many fingerprints begin among them.
        begun: u64,
    },
}

/// The ids of a segment, unit by unit.
#[derive(Debug)]
pub(crate) struct SalvagedIds {
    ids: Ids,
    /// The next unit.
    next: u64,
    /// Fingerprints that begin in later units.
    left: u64,
    /// Where the section ends.
    end: u64,
    scratch: IdScratch,
}

impl SalvagedIds {
    pub(super) fn open(file: &Arc<SegmentFile>, footer: &Footer) -> Self {
        let ids = Ids::open(file, footer).unwrap_or_else(|_| match footer.parameters.ids() {
            IdKind::Number => Ids::Numbers(IdReader::walk(file, footer.ids)),
            IdKind::None => Ids::Counts(IdReader::walk(file, footer.ids)),
            IdKind::Text => Ids::Texts(TextIds::walk(file, footer.ids, footer.id_dictionary)),
        });
        Self { ids, next: 0, left: footer.fingerprints, end: footer.ids.end(), scratch: IdScratch::default() }
    }

    /// The next unit; nothing behind the last one.
    ///
    /// # Errors
    /// `Damaged` if parts that hold contradict each other.
    pub(crate) fn next_unit(&mut self) -> Result<Option<SalvagedUnit>> {
        let wrong = || Error::damaged("the ids and their index disagree");
        let (number, count) = (self.next, self.ids.page_count());
        let (offset, begun) = match &self.ids {
            Ids::Numbers(ids) | Ids::Counts(ids) => (ids.page_place(number).offset, ids.page_fingerprints(number).1),
            Ids::Texts(ids) => (ids.frame_place(number).offset, ids.frame_fingerprints(number).1),
        };
        self.next += 1;
        if number >= count {
            let begun = std::mem::take(&mut self.left);
            let is_rest = number == count && offset < self.end;
            return match begun {
                _ if is_rest => Ok(Some(SalvagedUnit::Lost { offset, begun })),
                0 => Ok(None),
                _ => Err(wrong()),
            };
        }
        self.left = self.left.checked_sub(begun).ok_or_else(wrong)?;
        let mut all = Vec::new();
        if self.ids.page(number, &mut self.scratch, |begins, id| all.push((begins, id))).is_ok() {
            return Ok(Some(SalvagedUnit::Sound(all)));
        }
        match &self.ids {
            Ids::Numbers(ids) | Ids::Counts(ids) if ids.with_page(number, &mut Vec::new(), |_| Ok(())).is_ok() => {
                Err(wrong())
            }
            _ => Ok(Some(SalvagedUnit::Lost { offset, begun })),
        }
    }
}
