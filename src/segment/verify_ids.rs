//! Checks every unit of ids, and that the ids are those of the segment's records.

use super::id_reader::Ids;
use super::id_unit::{IdScratch, Unit};
use super::{Damage, Segment};
use crate::error::{Error, Result};
use crate::fingerprint::IdKind;
use std::ops::ControlFlow;

pub(super) fn check(segment: &Segment, damages: &mut Vec<Damage>) -> Result<()> {
    let (ids, footer, mut verifier) = (segment.ids(), segment.footer(), IdVerifier::default());
    for number in 0..ids.unit_count() {
        if let Err(error) = verifier.check(ids, number) {
            verifier.after_damage = true;
            damages.push(Damage::from_error(segment.path(), "ids", error)?);
        }
    }
    let records = verifier.records;
    if !verifier.after_damage && records != u128::from(footer.records) {
        let error = Error::damaged(format!("{records} ids for {} records", footer.records));
        damages.push(Damage::from_error(segment.path(), "ids", error.at_offset(footer.ids.offset))?);
    }
    Ok(())
}

#[derive(Default)]
pub(crate) struct IdVerifier {
    scratch: IdScratch,
    /// The last number of the units before.
    number: Option<u64>,
    /// The last text of the frame before, unless that frame is damaged.
    text: Option<Box<str>>,
    pub(crate) records: u128,
    after_damage: bool,
}

impl IdVerifier {
    pub(crate) fn check(&mut self, ids: &Ids, number: u64) -> Result<()> {
        const ORDER: &str = "ids of a fingerprint are not in ascending order";
        let text = self.text.take();
        ids.with_checked_unit(number, &mut self.scratch, |unit| match unit {
            Unit::Page(page) => {
                page.check(number + 1 == ids.unit_count())?;
                let (mut is_first, mut fault) = (true, None);
                _ = page.visit_all(|begins, id| {
                    // The fingerprint that a damaged page would have continued is unknown.
                    let begins = begins || is_first && self.after_damage;
                    is_first = false;
                    let previous = self.number.replace(id);
                    if ids.kind == IdKind::None {
                        fault = (!begins || id == 0).then_some("a fingerprint has not one count, of one or more");
                        self.records += u128::from(id);
                    } else {
                        fault = (!begins && previous.is_none_or(|previous| previous >= id)).then_some(ORDER);
                        self.records += 1;
                    }
                    if fault.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                })?;
                fault.map_or(Ok(()), |fault| Err(Error::damaged(fault)))
            }
            // A frame parses only if its own ids ascend.
            Unit::Frame(frame) => {
                if !frame.begins(0) && text.is_some_and(|before| &*before >= frame.text(0)) {
                    return Err(Error::damaged(ORDER));
                }
                self.text = frame.records().checked_sub(1).map(|record| frame.text(record).into());
                self.records += frame.records() as u128;
                Ok(())
            }
        })
    }
}
