//! Checks every page of ids, and that they are those of the segment's records.

use super::id_reader::IdReader;
use super::text_ids::{TextIds, TextScratch};
use crate::error::{Error, Result};
use crate::segment::ids::Ids;
use crate::segment::{Damage, Segment};

/// Appends what is wrong with the ids of a segment.
pub(super) fn check(segment: &Segment, damages: &mut Vec<Damage>) -> Result<()> {
    match segment.ids() {
        Ids::Numbers(reader) => {
            let mut previous = None;
            numbers(segment, reader, damages, |begins, id| {
                let legal = begins || previous.is_some_and(|previous| previous < id);
                previous = Some(id);
                if legal { Ok(1) } else { Err("ids of a fingerprint are not in ascending order") }
            })
        }
        Ids::Texts(reader) => texts(segment, reader, damages),
        Ids::Counts(reader) => numbers(segment, reader, damages, |begins, count| {
            if begins && count > 0 { Ok(count) } else { Err("a fingerprint has not one count, of one or more") }
        }),
    }
}

/// Reads every frame of texts.
fn texts(segment: &Segment, ids: &TextIds, damages: &mut Vec<Damage>) -> Result<()> {
    let (mut scratch, mut last, mut sum) = (TextScratch::default(), None, 0u128);
    let before = damages.len();
    for number in 0..ids.frame_count() {
        match ids.check_frame(number, &mut scratch, &mut last) {
            Ok(records) => sum += u128::from(records),
            Err(error) => damages.push(Damage::from_error(segment.path(), "ids", error)?),
        }
    }
    check_sum(segment, sum, before, damages)
}

/// Reads every page of numbers: how many begin a fingerprint has to agree with the index, and what `records` says that
/// each stands for with the footer.
fn numbers(
    segment: &Segment,
    ids: &IdReader,
    damages: &mut Vec<Damage>,
    mut records: impl FnMut(bool, u64) -> std::result::Result<u64, &'static str>,
) -> Result<()> {
    let (mut buffer, mut sum) = (Vec::new(), 0u128);
    let before = damages.len();
    for number in 0..ids.page_count() {
        let result = ids.with_whole_page(number, &mut buffer, |page| {
            page.check(number + 1 == ids.page_count())?;
            let mut all = Vec::with_capacity(page.records());
            page.append_ids(0..page.records(), &mut all)?;
            for (record, id) in all.into_iter().enumerate() {
                // What a damaged page would have continued is not known.
                let after_damage = record == 0 && damages.len() > before;
                let standing = records(page.begins(record) || after_damage, id).map_err(Error::damaged)?;
                sum += u128::from(standing);
            }
            Ok(())
        });
        if let Err(error) = result {
            let error = error.at_offset(ids.page_place(number).offset);
            damages.push(Damage::from_error(segment.path(), "ids", error)?);
        }
    }
    check_sum(segment, sum, before, damages)
}

/// Where no page was damaged, `sum` has to be the number of records.
fn check_sum(segment: &Segment, sum: u128, before: usize, damages: &mut Vec<Damage>) -> Result<()> {
    let expected = segment.footer().records;
    if damages.len() == before && sum != u128::from(expected) {
        let error = Error::damaged(format!("{sum} ids for {expected} records"));
        damages.push(Damage::from_error(segment.path(), "ids", error.at_offset(segment.footer().ids.offset))?);
    }
    Ok(())
}
