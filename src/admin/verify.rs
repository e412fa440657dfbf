//! Verification of every byte of a store.

use crate::bitset::NumberSet;
use crate::db::{MEMORY, Recovered, TornLog};
use crate::error::{Error, ErrorKind, Result};
use crate::extsort::Workspace;
use crate::fingerprint::{Fingerprint, by_width};
use crate::format::manifest::{ManifestData, RunEntry};
use crate::options::Options;
use crate::segment::{
    Damage, IdIndexEntries, Segment, SegmentRecords, is_filters, segment_name, verify_filters, verify_segment,
};
use crate::version::{Run, StoreContext, manifest};
use crate::wal::{self, LogReader};
use std::path::Path;
use std::sync::Arc;

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Files that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Every damaged place.
    pub damages: Vec<Damage>,
    /// Logs with a torn tail: unacknowledged writes that a crash has cut short.
    pub torn: Vec<TornLog>,
}

/// Verifies every byte of a store, or of a single segment, log or file of filters, even one too damaged to open.
///
/// # Errors
/// `NotFound` if there is nothing at the path; `Io` if something cannot be read. Damage is not an error but in the
/// report.
pub fn verify(path: impl AsRef<Path>, options: &Options) -> Result<VerifyReport> {
    let path = path.as_ref();
    let env = &*options.env;
    let mut report = VerifyReport::default();
    if env.list(path).is_err() {
        if wal::is_log(path) {
            return verify_log(path, options);
        }
        if is_filters(path)
            && let Some(filters) = verify_filters(env, path, || None)?
        {
            report.add(filters);
            return Ok(report);
        }
        env.open(path, options.read_mode).map_err(|error| Error::io("cannot open", path, error))?;
        report.add(verify_segment(env, path, options.read_mode)?);
        return Ok(report);
    }
    loop {
        let before = manifest::read_bytes(env, path)?;
        let report = verify_store(path, options, &before)?;
        // A writer may have replaced the files meanwhile.
        if report.damages.is_empty() || manifest::read_bytes(env, path)? == before {
            return Ok(report);
        }
    }
}

fn verify_store(path: &Path, options: &Options, bytes: &[u8]) -> Result<VerifyReport> {
    let env = &*options.env;
    let mut report = VerifyReport::default();
    let state = match manifest::parse(bytes, path) {
        Ok(state) => state,
        Err(error) => {
            report.add((vec![Damage::from_error(&path.join(manifest::NAME), "manifest", error)?], bytes.len() as u64));
            return Ok(report);
        }
    };
    report.add((Vec::new(), bytes.len() as u64));
    for run in &state.runs {
        let before = report.damages.len();
        for entry in run.segments() {
            let file = path.join(segment_name(entry.number));
            report.add(verify_segment(env, &file, options.read_mode)?);
        }
        if report.damages.len() > before {
            continue;
        }
        // Intact segments may be others than the manifest's, or not belong together.
        let checked = Run::open(path, options, &state.parameters, run)
            .and_then(|run| check_id_index(path, options, &run).and_then(|()| check_keys(&run)));
        if let Err(error) = checked {
            report.damages.push(Damage::from_error(path, "segment", error)?);
        }
    }
    verify_logs(path, options, &state, &mut report)?;
    for entry in state.runs.iter().flat_map(RunEntry::segments) {
        let file = path.join(segment_name(entry.number));
        // The damage of a segment that cannot be opened is in the report.
        let segment = || Segment::open(env, &file, options.read_mode).ok();
        verify_filters(env, &file, segment)?.into_iter().for_each(|checked| report.add(checked));
    }
    Ok(report)
}

fn verify_log(path: &Path, options: &Options) -> Result<VerifyReport> {
    let mut report = VerifyReport { files: 1, ..VerifyReport::default() };
    match read_log(path, options, &mut report) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
        Err(error) => report.damages.push(Damage::from_error(path, "log", error)?),
        Ok(()) => {}
    }
    Ok(report)
}

fn read_log(path: &Path, options: &Options, report: &mut VerifyReport) -> Result<()> {
    let mut reader = LogReader::open_file(&*options.env, path)?;
    report.bytes = reader.length();
    while reader.next_batch()?.is_some() {}
    report.torn.extend(TornLog::of(&mut reader)?);
    Ok(())
}

fn check_id_index(path: &Path, options: &Options, run: &Run) -> Result<()> {
    let (Some(index), Some(records)) = (&run.id_index, &run.records) else { return Ok(()) };
    by_width!(records.footer().parameters.width(), F => compare_id_index::<F>(path, options, index, records))
}

fn compare_id_index<F: Fingerprint>(
    path: &Path,
    options: &Options,
    index: &Arc<Segment>,
    records: &Arc<Segment>,
) -> Result<()> {
    let workspace = Workspace::of_memory(path, options, MEMORY);
    let expected = IdIndexEntries::of::<F>(records, &workspace, None)?;
    let mut found = SegmentRecords::<u64>::new(Arc::clone(index));
    let wrong = || Err(Error::damaged("the id index is not that of the run's records").at_path(index.path()));
    for entry in expected.items(&workspace) {
        let entry = entry?;
        match found.next().transpose()? {
            Some(record) if record.fingerprint == entry.fingerprint && record.id == entry.id => {}
            _ => return wrong(),
        }
    }
    if found.next().is_some() { wrong() } else { Ok(()) }
}

/// Checks that the keys of a key index are those of records of the run.
pub(crate) fn check_keys(run: &Run) -> Result<()> {
    let (Some(keys), Some(records)) = (&run.keys, &run.records) else { return Ok(()) };
    let numbers = || SegmentRecords::<u64>::new(Arc::clone(records)).map(|record| Ok(record?.fingerprint));
    let least = numbers().next().transpose()?.unwrap_or(0);
    let bounds = (least, records.primary_table()?.index().last_key(), records.footer().fingerprints);
    let known = NumberSet::of_ascending(bounds, numbers())?;
    for record in SegmentRecords::<u64>::new(Arc::clone(keys)) {
        if record?.id.number().is_none_or(|number| !known.has(number)) {
            return Err(Error::damaged("a key of a record that the run does not have").at_path(keys.path()));
        }
    }
    Ok(())
}

/// Verifies the logs that are still needed. A torn tail is no damage.
fn verify_logs(path: &Path, options: &Options, state: &ManifestData, report: &mut VerifyReport) -> Result<()> {
    let context = StoreContext::new(path, options, &state.parameters)?;
    match Recovered::read(&context, state) {
        Ok(recovered) => {
            report.files += recovered.found.logs;
            report.bytes += recovered.file_bytes;
            report.torn = recovered.found.torn;
        }
        Err(error) => report.damages.push(Damage::from_error(path, "log", error)?),
    }
    Ok(())
}

impl VerifyReport {
    fn add(&mut self, (mut damages, bytes): (Vec<Damage>, u64)) {
        self.files += 1;
        self.bytes += bytes;
        self.damages.append(&mut damages);
    }
}
