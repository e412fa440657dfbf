//! The ids of a damaged segment, as far as they can be read.
//!
//! The id index says how many fingerprints begin in each unit of ids (a page, or a frame of texts). If the index is
//! damaged, the units themselves say it, up to the first damaged unit; the rest counts as one unit.

use super::super::file::SegmentFile;
use super::super::id_reader::Ids;
use super::super::id_unit::{IdScratch, Unit};
use crate::error::{Error, Result};
use crate::fingerprint::Id;
use crate::format::footer::Footer;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum SalvagedUnit {
    Sound(Vec<(bool, Id)>),
    Lost {
        /// Where they begin in the file.
        offset: u64,
        /// How many fingerprints begin among them.
        begun: u64,
    },
}

#[derive(Debug)]
pub(crate) struct SalvagedIds {
    ids: Ids,
    next: u64,
    /// Fingerprints that begin in later units.
    left: u64,
    end: u64,
    scratch: IdScratch,
}

impl SalvagedIds {
    pub(super) fn open(file: &Arc<SegmentFile>, footer: &Footer) -> Self {
        let walk = |_| Ids::walk(file, footer.parameters.ids(), footer.ids, footer.id_dictionary);
        let ids = Ids::open(file, footer).unwrap_or_else(walk);
        Self { ids, next: 0, left: footer.fingerprints, end: footer.ids.end(), scratch: IdScratch::default() }
    }

    /// The next unit; `None` after the last one. `Damaged` if sound parts contradict each other.
    pub(crate) fn next_unit(&mut self) -> Result<Option<SalvagedUnit>> {
        let wrong = || Error::damaged("the ids and their index disagree");
        let (number, count) = (self.next, self.ids.unit_count());
        let (offset, begun) = (self.ids.unit_place(number).offset, u64::from(self.ids.begun(number)));
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
        if self.ids.unit(number, &mut self.scratch, |begins, id| all.push((begins, id))).is_ok() {
            return Ok(Some(SalvagedUnit::Sound(all)));
        }
        let sound_page = self.ids.with_unit(number, &mut self.scratch, |unit| Ok(matches!(unit, Unit::Page(_))));
        if sound_page.unwrap_or(false) { Err(wrong()) } else { Ok(Some(SalvagedUnit::Lost { offset, begun })) }
    }
}
