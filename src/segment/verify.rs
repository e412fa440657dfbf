//! Checks every byte of a segment and that its parts agree.

use super::file::SegmentFile;
use super::reader::{open_file, read_footer};
use super::{Scratch, Segment, Table};
use crate::bits::low_mask;
use crate::env::{Env, ReadMode};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, by_width};
use crate::format::footer::{Footer, Span};
use crate::plan::TableForm;
use crate::plan::filter_shape::hash;
use crate::segment::damage::Damage;
use std::path::Path;
use xxhash_rust::xxh64::Xxh64;

/// All damages of a segment file, and the number of checked bytes.
pub(crate) fn verify_segment(env: &dyn Env, path: &Path, mode: ReadMode) -> Result<(Vec<Damage>, u64)> {
    let file = match open_file(env, path, mode) {
        Ok(file) => file,
        Err(error) => return Ok((vec![Damage::from_error(path, "header", error)?], 0)),
    };
    let length = file.length();
    let footer = match read_footer(&file) {
        Ok((footer, _)) => footer,
        Err(error) => return Ok((vec![Damage::from_error(path, "footer", error)?], length)),
    };
    let mut damages = check_padding(&file, &footer)?;
    let content_holds = content_hash(&file, footer.content_end())? == footer.content_hash;
    // Opening reads codes, and of each index the directory and the last chunk; damage there hides the rest.
    match Segment::of_file(file) {
        Ok(segment) => {
            damages.append(&mut by_width!(footer.parameters.width(), F => check_width::<F>(&segment))?);
        }
        Err(error) => {
            let section = section_at(&footer, error.offset());
            damages.push(Damage::from_error(path, &section, error)?);
        }
    }
    if damages.is_empty() && !content_holds {
        // Every part is sound in itself, but the parts were not written together.
        let error = Error::damaged("the hash of the whole content does not hold");
        damages.push(Damage::from_error(path, "content", error)?);
    }
    Ok((damages, length))
}

fn content_hash(file: &SegmentFile, end: u64) -> Result<u64> {
    let mut hasher = Xxh64::new(0);
    file.visit(Span { offset: 0, length: end }, |_, bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    Ok(hasher.digest())
}

fn section_at(footer: &Footer, offset: Option<u64>) -> String {
    let holds = |span: Span| offset.is_some_and(|at| (span.offset..span.end()).contains(&at));
    footer.sections().into_iter().find(|&(_, span)| holds(span)).map_or("segment".to_owned(), |(name, _)| name)
}

fn check_padding(file: &SegmentFile, footer: &Footer) -> Result<Vec<Damage>> {
    let mut damages = Vec::new();
    let mut buffer = Vec::new();
    for gap in footer.padding() {
        if let Some(at) = file.read(gap, &mut buffer)?.iter().position(|&byte| byte != 0) {
            let error = Error::damaged("padding between sections is not zero").at_offset(gap.offset + at as u64);
            damages.push(Damage::from_error(file.path(), "padding", error)?);
        }
    }
    Ok(damages)
}

/// Reads every page of every table and of the ids.
fn check_width<F: Fingerprint>(segment: &Segment) -> Result<Vec<Damage>> {
    let mut damages = Vec::new();
    let mut sums = Vec::new();
    for number in 0..segment.tables().len() {
        // Narrow keys name rows: with damaged rows they would only repeat the damage.
        if number == 0 || damages.is_empty() || F::WIDTH == 64 {
            sums.push(check_table::<F>(segment, number, &mut damages)?);
        }
    }
    if damages.is_empty() && sums.iter().any(|sum| Some(sum) != sums.first()) {
        let error = Error::damaged("the tables do not hold the same fingerprints");
        damages.push(Damage::from_error(segment.path(), "tables", error)?);
    }
    super::verify_ids::check(segment, &mut damages)?;
    for error in segment.sketches().map_or_else(Vec::new, |sketches| sketches.verify(segment.file())) {
        damages.push(Damage::from_error(segment.path(), "sketches", error)?);
    }
    Ok(damages)
}

/// Decodes every block of a table; returns a sum over its fingerprints that does not depend on their order.
fn check_table<F: Fingerprint>(segment: &Segment, number: usize, damages: &mut Vec<Damage>) -> Result<u64> {
    let Some(table) = segment.tables().get(number) else { return Ok(0) };
    let of_index = table.index().damages();
    let is_damaged = !of_index.is_empty();
    let boundaries = if is_damaged { None } else { table.index().check_boundaries().err() };
    for error in of_index.into_iter().chain(boundaries) {
        damages.push(Damage::from_error(segment.path(), &format!("table {number} index"), error)?);
    }
    if is_damaged {
        // Without them the blocks have no bounds.
        return Ok(0);
    }
    let (mut scratch, mut sum, mut last_bad_page) = (Scratch::default(), 0u64, None);
    for page in 0..table.pages().count() {
        if let Err(error) = table.check_page_padding(page, &mut scratch) {
            damages.push(Damage::from_error(segment.path(), &format!("table {number} data"), error)?);
            last_bad_page = Some(page);
        }
    }
    let mut last = None;
    for block in 0..table.index().len() {
        match check_block::<F>(segment, table, block, &mut last, &mut scratch) {
            Ok(of_block) => sum = sum.wrapping_add(of_block),
            Err(error) => {
                // One line for a damaged page, not one for each of its blocks.
                let page = table.index().place(block)?.map(|place| place.page);
                let whole_page = page.is_some_and(|page| Some(table.pages().place(page).offset) == error.offset());
                if !(whole_page && last_bad_page == page) {
                    damages.push(Damage::from_error(segment.path(), &format!("table {number} data"), error)?);
                }
                last_bad_page = page;
            }
        }
    }
    Ok(sum)
}

/// The sum over the fingerprints of a block. Rows must ascend from `last` on and end as the index says; narrow keys
/// must begin like the rows that they name.
fn check_block<F: Fingerprint>(
    segment: &Segment,
    table: &Table,
    block: usize,
    last: &mut Option<F>,
    scratch: &mut Scratch,
) -> Result<u64> {
    let damaged = |message: &str| {
        let offset = table.block_offset(block).unwrap_or_default();
        Err(Error::damaged(message).at_path(segment.path()).at_offset(offset))
    };
    let mut fingerprints = Vec::new();
    match table.form() {
        TableForm::Full => {
            let keys = table.block(block, scratch)?;
            fingerprints.extend(keys.iter().map(|&key| F::from_words(|_| table.layout().permutation.invert(key))));
        }
        TableForm::Rows => {
            table.fingerprints(block, scratch, &mut fingerprints)?;
            let ascending = fingerprints.iter().all(|&row| last.replace(row).is_none_or(|last| last < row));
            let ends = fingerprints.last().map(|row| row.word(0)) == table.index().key(block)?;
            if !ascending || !ends {
                return damaged("rows are not in ascending order, or not those of the index");
            }
        }
        TableForm::Narrow { row, .. } => {
            let keys = table.block(block, scratch)?.to_vec();
            let rows = segment.primary_table()?;
            for key in keys {
                let number = key & low_mask(row);
                let found = if number < rows.index().fingerprints() {
                    F::from_le_bytes(rows.row(number, scratch)?)
                } else {
                    None
                };
                let head = |found: F| table.layout().permutation.head(found);
                match found.filter(|&found| table.form().narrow_key(head(found), number) == key) {
                    Some(found) => fingerprints.push(found),
                    None => return damaged("a narrow key is not that of the row that it names"),
                }
            }
        }
    }
    Ok(fingerprints.into_iter().map(spread).fold(0, u64::wrapping_add))
}

/// A word that depends on every bit of a fingerprint, so that sums of different sets differ.
fn spread<F: Fingerprint>(fingerprint: F) -> u64 {
    (0..F::WORDS).fold(0, |sum, number| hash(sum ^ fingerprint.word(number)))
}
