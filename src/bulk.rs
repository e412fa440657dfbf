//! Bulk load: records in any order to one new segment.
//!
//! Everything is sorted in memory. Records that the store has already are left out first, so that a store stays a set.

mod sort;

use crate::env::Env;
use crate::error::Result;
use crate::fingerprint::{Record, WIDTH};
use crate::format::Parameters;
use crate::format::manifest::SegmentEntry;
use crate::segment::{Scratch, Segment, SegmentWriter, encode_table};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sorts records by fingerprint, then id, and keeps one of equal ones.
pub(crate) fn sort(records: &mut Vec<Record>) {
    sort::sort(records, |record| record.fingerprint);
    records.dedup();
}

/// Removes the records that a segment has. `records` are sorted and distinct; only the blocks that may hold one of their
/// fingerprints are read.
pub(crate) fn remove_present(segment: &Segment, records: &mut Vec<Record>) -> Result<()> {
    let index = segment.first_table()?.index();
    let (mut scratch, mut buffer, mut ids) = (Scratch::default(), Vec::new(), Vec::new());
    let mut kept = 0;
    let mut start = 0;
    let mut decoded: Option<(usize, Vec<u64>)> = None;
    while let Some(&Record { fingerprint, .. }) = records.get(start) {
        let rest = records.get(start..).unwrap_or_default();
        let end = start + rest.iter().take_while(|record| record.fingerprint == fingerprint).count();
        ids.clear();
        let block = index.find(fingerprint);
        if block < index.len() {
            if decoded.as_ref().is_none_or(|&(number, _)| number != block) {
                decoded = Some((block, segment.first_table()?.block(block, &mut scratch)?.to_vec()));
            }
            let position = decoded.as_ref().and_then(|(_, keys)| keys.binary_search(&fingerprint).ok());
            if let Some(position) = position {
                segment.ids().ids_of(index.rank(block) + position as u64, &mut buffer, &mut ids)?;
            }
        }
        for at in start..end {
            let Some(&record) = records.get(at) else { break };
            if ids.binary_search(&record.id).is_err() {
                if let Some(slot) = records.get_mut(kept) {
                    *slot = record;
                }
                kept += 1;
            }
        }
        start = end;
    }
    records.truncate(kept);
    Ok(())
}

/// Writes a segment of sorted, distinct records and makes it durable.
pub(crate) fn write_segment(
    env: &Arc<dyn Env>,
    directory: &Path,
    number: u64,
    parameters: &Parameters,
    records: &[Record],
) -> Result<(PathBuf, SegmentEntry)> {
    let mut writer = SegmentWriter::create(env, directory, &segment_name(number), parameters)?;
    let fingerprints: Vec<u64> = records
        .chunk_by(|a, b| a.fingerprint == b.fingerprint)
        .filter_map(|run| Some(run.first()?.fingerprint))
        .collect();
    let layouts = parameters.design().tables(WIDTH)?;
    // As many tables at a time as there are threads: more would only take memory.
    let numbered: Vec<_> = (0..=u8::MAX).zip(&layouts).collect();
    for together in numbered.chunks(rayon::current_num_threads().max(1)) {
        let tables: Vec<_> = together
            .par_iter()
            .map(|&(number, layout)| {
                let mut keys: Vec<u64> = fingerprints.iter().map(|&f| layout.permutation.apply(f)).collect();
                if number > 0 {
                    sort::sort(&mut keys, |&key| key);
                }
                encode_table(parameters, number, &keys)
            })
            .collect();
        tables.iter().try_for_each(|table| writer.table(table))?;
    }
    writer.ids(records)?;
    let finished = writer.finish()?;
    let entry = SegmentEntry {
        number,
        file_length: finished.length,
        records: records.len() as u64,
        fingerprints: fingerprints.len() as u64,
        footer_checksum: finished.footer_checksum,
    };
    Ok((finished.path, entry))
}

/// Ending of the names of segment files.
const SEGMENT_SUFFIX: &str = ".segment";

/// Whether a file's name is one that [`segment_name`] makes.
pub(crate) fn is_segment_name(name: &str) -> bool {
    let number = name.strip_suffix(SEGMENT_SUFFIX).and_then(|digits| digits.parse().ok());
    number.is_some_and(|number| segment_name(number) == name)
}

/// The name of a segment's file.
pub(crate) fn segment_name(number: u64) -> String {
    format!("{number:08}{SEGMENT_SUFFIX}")
}
