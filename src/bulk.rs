//! Bulk load: records in any order to one new segment.
//!
//! Everything is sorted in memory, then encoded by all threads while one writes.

mod present;
mod sort;
mod sorted;

pub(crate) use present::remove_present;
pub use sorted::{Records, SortedRecords};

use crate::env::Env;
use crate::error::Result;
use crate::fingerprint::WIDTH;
use crate::format::Parameters;
use crate::format::manifest::SegmentEntry;
use crate::plan::TableLayout;
use crate::segment::{EncodedPart, Finished, SegmentWriter, encode_ids, encode_table};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

/// Writes a segment of these records and makes it durable.
pub(crate) fn write_segment(
    env: &Arc<dyn Env>,
    directory: &Path,
    number: u64,
    parameters: &Parameters,
    records: &SortedRecords,
) -> Result<(PathBuf, SegmentEntry)> {
    let writer = SegmentWriter::create(env, directory, &segment_name(number), parameters)?;
    let layouts = parameters.design().tables(WIDTH)?;
    // The tables, and behind them the ids.
    let parts = layouts.iter().map(Some).chain([None]);
    // A thread holds what it has encoded until it may be written, so that a slow disk does not fill the memory.
    let (sender, receiver) = sync_channel(0);
    let finished = std::thread::scope(|scope| {
        let writing = scope.spawn(|| write_in_order(writer, receiver, records));
        // In order, or nearly: nothing may be written before what comes before it.
        (0usize..).zip(parts).par_bridge().try_for_each_with(sender, |sender, (number, layout)| {
            // Nobody receives any more if writing has failed.
            sender.send((number, encode(parameters, number, layout, records))).ok()
        });
        writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    let entry = SegmentEntry {
        number,
        file_length: finished.length,
        records: records.len() as u64,
        fingerprints: records.fingerprints(),
        footer_checksum: finished.footer_checksum,
    };
    Ok((finished.path, entry))
}

/// One part of a segment: a table, or, without a layout, the ids.
fn encode(
    parameters: &Parameters,
    number: usize,
    layout: Option<&TableLayout>,
    records: &SortedRecords,
) -> EncodedPart {
    let Some(layout) = layout else {
        return EncodedPart::Ids(encode_ids(records.records.iter().map(|&packed| sorted::unpack(packed))));
    };
    let fingerprints = &records.fingerprints[..];
    // A design has at most 256 tables.
    let number = u8::try_from(number).unwrap_or(u8::MAX);
    EncodedPart::Table(if number == 0 {
        // Its keys are the fingerprints.
        encode_table(parameters, number, fingerprints)
    } else {
        let keys = sort::sorted(fingerprints, |_, &fingerprint| layout.permutation.apply(fingerprint), |&key| key);
        encode_table(parameters, number, &keys)
    })
}

/// Writes parts in the order of their numbers, whenever they come, and finishes the segment.
fn write_in_order(
    mut writer: SegmentWriter,
    parts: Receiver<(usize, EncodedPart)>,
    records: &SortedRecords,
) -> Result<Finished> {
    let (mut waiting, mut next) = (BTreeMap::new(), 0);
    for (number, part) in parts {
        waiting.insert(number, part);
        while let Some(part) = waiting.remove(&next) {
            writer.part(&part)?;
            next += 1;
        }
    }
    writer.finish(records.len() as u64, records.fingerprints())
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
