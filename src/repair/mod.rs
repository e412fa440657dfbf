//! Repairing a store: what damage has left is saved, what it has not is listed.
//!
//! **What is saved.** A segment that is damaged is written anew with every record of which fingerprint and id can still be told
//! (`rebuilt`); fingerprints come from whichever table has them. Indexes of ids are made anew from the segments that they
//! index. Of damaged logs, every batch that holds goes to a segment (`logs`). A manifest is mended if its checksum tells how
//! (`manifest`).
//!
//! **What is not.** Nothing is ever guessed. Where two readings of the bytes are possible, the file stays as it is and the
//! report says so ([`RepairReport::refused`]). What is lost is listed as exactly as the bytes allow ([`RepairReport::losses`]),
//! and the damaged file stays beside the store as `NAME.damaged`, where nobody removes it.
//!
//! **In which order.** New segments, then further names for the files that are to stay, then the manifest, in whose place a new
//! one comes in one step. Only then the old files go. Whoever is killed in between leaves the store as it was or repaired,
//! and the next repair begins anew. Planning goes the same way and writes nothing.

mod bits;
mod carry;
mod fingerprints;
mod logs;
mod manifest;
mod rebuilt;
mod report;
mod segment;

pub use report::{Loss, Lost, LostFingerprints, PartlyKnown, RepairAction, RepairReport};

use crate::db::CREATING;
use crate::env::{Env, Patient, ReadMode, Unreadable};
use crate::error::{Error, ErrorKind, Result};
use crate::extsort::Workspace;
use crate::fingerprint::Fingerprint;
use crate::format::manifest::ManifestData;
use crate::options::{Filters, Options};
use crate::segment::{Damage, is_segment_name};
use crate::version::{StoreContext, manifest as file, take_lock};
use crate::wal;
use crate::width::with_width;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often a store is looked at while a writer changes it.
const TRIES: usize = 100;

/// What [`repair`] would do now. Reads only; nothing in the directory is changed. Of a store that somebody writes it shows a
/// moment, in which a log that is being written may look cut short.
///
/// ```
/// use fpstore::{Options, Parameters, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// drop(Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?);
/// let plan = fpstore::plan_repair(&path, &Options::new())?;
/// assert!(plan.is_sound() && plan.saves_everything());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `NotFound` if there is no store; `Unsupported` if it is one of another version; `Io` if a file cannot be opened. Damage is no
/// error here but in the report.
pub fn plan_repair(path: impl AsRef<Path>, options: &Options) -> Result<RepairReport> {
    let path = path.as_ref();
    for _ in 1..TRIES {
        let before = file::read_bytes(&*options.env, path);
        let report = run(path, &patient(options), false)?;
        // A writer may have removed what was being read.
        if before.ok() == file::read_bytes(&*options.env, path).ok() {
            return Ok(report);
        }
    }
    run(path, &patient(options), false)
}

/// Repairs a store as far as that is possible without guessing, and tells what was done and what could not be saved. Nobody
/// else may have the store open for writing.
///
/// # Errors
/// Those of [`plan_repair`]; `Locked` if another process writes; `Io` from writing: the store is then as before or, if the very last
/// step has failed, repaired.
pub fn repair(path: impl AsRef<Path>, options: &Options) -> Result<RepairReport> {
    let (path, patient) = (path.as_ref(), patient(options));
    let env = &*patient.0.env;
    // Only a directory that is a store gets a lock file.
    if let Err(error) = file::read_bytes(env, path)
        && error.kind() != ErrorKind::Damaged
    {
        return without_manifest(path, &patient.0, error);
    }
    let _lock = take_lock(env, path)?;
    // The manifest may be one whose writer died before it could make the rename durable.
    env.sync_dir(path).map_err(|error| Error::io("cannot sync", path, error))?;
    run(path, &patient, true)
}

/// The same options for media that fail, and what cannot be read of them.
fn patient(options: &Options) -> (Options, Arc<Unreadable>) {
    let patient = Patient::new(&options.env);
    let unreadable = patient.unreadable();
    let options = options.clone().with_env(Arc::new(patient));
    (options.with_read_mode(ReadMode::Pread).with_filters(Filters::Off), unreadable)
}

fn run(path: &Path, (options, unreadable): &(Options, Arc<Unreadable>), writes: bool) -> Result<RepairReport> {
    let bytes = match file::read_bytes(&*options.env, path) {
        Ok(bytes) => bytes,
        Err(error) => return without_manifest(path, options, error),
    };
    let mut report = RepairReport { files: 1, bytes: bytes.len() as u64, ..RepairReport::default() };
    let name = path.join(file::NAME);
    let (state, restored) = match file::read(&*options.env, path) {
        Ok(state) => (state, false),
        Err(error) if error.kind() == ErrorKind::Damaged || error.kind() == ErrorKind::Unsupported => {
            let Some((state, offset)) = crate::repair::manifest::restore(&*options.env, path, &bytes) else {
                if error.kind() == ErrorKind::Unsupported {
                    return Err(error);
                }
                return refuse_manifest(path, options, report, error);
            };
            report.damages.push(Damage::from_error(&name, "manifest", error)?);
            report.actions.push(RepairAction::RestoreManifest { path: name, offset });
            (state, true)
        }
        Err(error) => return Err(error),
    };
    let (width, how) = (state.parameters.width(), (writes, restored));
    with_width!(width, F => Repairing::<F>::run(path, options, unreadable, &state, report, how))
}

/// A directory without a manifest is no store, unless there are files in it that only a store has.
fn without_manifest(path: &Path, options: &Options, error: Error) -> Result<RepairReport> {
    let names = options.env.list(path).unwrap_or_default();
    let is_ours = |name: &String| is_segment_name(name) || wal::number_of(name).is_some();
    let damaged = match error.kind() {
        // Of a creation that was interrupted the next one removes what is left.
        ErrorKind::NotFound => names.iter().any(is_ours) && !names.iter().any(|name| name == CREATING),
        kind => kind == ErrorKind::Damaged,
    };
    if !damaged {
        return Err(error);
    }
    let error = match error.kind() {
        ErrorKind::NotFound => Error::damaged("the manifest is missing").at_path(&path.join(file::NAME)),
        _ => error,
    };
    refuse_manifest(path, options, RepairReport::default(), error)
}

/// Says what is missing without a manifest.
fn refuse_manifest(path: &Path, options: &Options, mut report: RepairReport, error: Error) -> Result<RepairReport> {
    let names = options.env.list(path).map_err(|error| Error::io("cannot list", path, error))?;
    let segments = names.iter().filter(|name| is_segment_name(name)).count();
    let logs = names.iter().filter(|name| wal::number_of(name).is_some()).count();
    let damage = Damage::from_error(&path.join(file::NAME), "manifest", error)?;
    let message = format!(
        "{}; segments in the directory: {segments}, logs: {logs}; which of them belong to the store, in which order, which \
         segments hold tombstones and who numbers the records stands in the manifest alone: restore it from a copy",
        damage.message
    );
    report.refused.push(Damage { message, ..damage.clone() });
    report.damages.push(damage);
    Ok(report)
}

/// A repair of a store of fingerprints of one width.
struct Repairing<'a, F: Fingerprint> {
    common: Arc<StoreContext>,
    workspace: Workspace,
    /// What of all files could not be read so far.
    unreadable: Arc<Unreadable>,
    manifest: &'a ManifestData,
    report: RepairReport,
    /// Whether anything is written.
    writes: bool,
    /// The number of the next segment.
    next_segment: u64,
    /// Segments that were written.
    made: Vec<PathBuf>,
    /// Files that the store does without: those of which something is lost stay under another name.
    obsolete_runs: Vec<(PathBuf, bool)>,
    /// What goes to a segment from damaged logs.
    logs: Option<crate::repair::logs::SalvagedLogs<F>>,
}

impl<'a, F: Fingerprint> Repairing<'a, F> {
    fn run(
        path: &Path,
        options: &Options,
        unreadable: &Arc<Unreadable>,
        manifest: &'a ManifestData,
        report: RepairReport,
        (writes, restored): (bool, bool),
    ) -> Result<RepairReport> {
        let common = StoreContext::new::<F>(path, options, &manifest.parameters)?;
        let workspace = Workspace::new(path, options);
        let next_segment = manifest.next_segment;
        let (made, obsolete_runs) = (Vec::new(), Vec::new());
        let mut repairing = Self {
            common,
            workspace,
            unreadable: Arc::clone(unreadable),
            manifest,
            report,
            writes,
            next_segment,
            made,
            obsolete_runs,
            logs: None,
        };
        match repairing.carry_out(restored) {
            Ok(()) => Ok(repairing.report),
            Err(error) => {
                repairing.undo();
                Err(error)
            }
        }
    }

    fn env(&self) -> &Arc<dyn Env> {
        self.common.env()
    }
}
