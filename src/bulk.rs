//! Bulk load: records in any order to one new segment.
//!
//! Everything is sorted in memory, then encoded by all threads while one writes.

mod encode;
mod present;
mod sort;
mod sorted;

pub(crate) use present::remove_present;
pub use sorted::{Records, SortedRecords};

use crate::env::Env;
use crate::error::{Error, Result};
use crate::fingerprint::WIDTH;
use crate::format::Parameters;
use crate::format::manifest::SegmentEntry;
use crate::plan::Permutation;
use crate::segment::{Part, SegmentWriter};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;

/// The keys of fingerprints in a table with this permutation, in ascending order.
pub(crate) fn keys_of(fingerprints: &[u64], permutation: &Permutation) -> Vec<u64> {
    sort::sorted(fingerprints, |_, &fingerprint| permutation.apply(fingerprint), |&key| key)
}

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
    let sections = layouts.iter().map(Some).chain([None]);
    // Encoders wait until what they have is taken. What is not next to be written waits in memory: at most the sections
    // that the other threads are at.
    let (sender, receiver) = sync_channel(0);
    let writer = std::thread::scope(|scope| {
        let writing = Builder::new().spawn_scoped(scope, || write_in_order(writer, receiver));
        let writing = writing.map_err(|error| Error::io("cannot start a thread to write to", directory, error))?;
        // In order, or nearly: nothing is written before what comes before it.
        // An encoder stops if writing has, and then the writer has the error.
        let _ = (0usize..).zip(sections).par_bridge().try_for_each_with(sender, |sender, (number, layout)| {
            encode::section(parameters, number, layout, records, &mut |part| sender.send((number, part)).map_err(drop))
        });
        writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    let finished = writer.finish(records.len() as u64, records.fingerprints())?;
    let entry = SegmentEntry {
        number,
        file_length: finished.length,
        records: records.len() as u64,
        fingerprints: records.fingerprints(),
        footer_checksum: finished.footer_checksum,
    };
    Ok((finished.path, entry))
}

/// Writes sections in the order of their numbers, however their parts come.
fn write_in_order(mut writer: SegmentWriter, parts: Receiver<(usize, Part)>) -> Result<SegmentWriter> {
    let mut waiting: BTreeMap<usize, Vec<Part>> = BTreeMap::new();
    let mut current = 0;
    for (section, part) in parts {
        waiting.entry(section).or_default().push(part);
        while let Some(parts) = waiting.remove(&current) {
            for part in parts {
                writer.part(&part)?;
                current += usize::from(!matches!(part, Part::Pages(_)));
            }
        }
    }
    Ok(writer)
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
