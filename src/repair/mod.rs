//! Repairing a store: saves every record that is left, and lists the others.
//!
//! **Saved.** A damaged segment is written again with every record whose fingerprint and id follow from bytes whose
//! checksums hold (`rebuilt.rs`); a table of 64-bit fingerprints can replace another one (`fingerprints.rs`). Id
//! indexes are made from the segments that they index (`segment.rs`). Keys of a key index stay with the records that
//! are saved (`keys.rs`). Every batch of damaged logs that holds goes to a segment (`logs.rs`).
//!
//! **Not saved.** A repair never guesses. A damaged manifest is refused: no other file has the segments of the store,
//! their order and their roles. A segment whose parts hold and contradict each other is refused too
//! ([`RepairReport::refused`]).
//! Every loss is listed ([`RepairReport::losses`]), and the damaged file stays in the directory as `NAME.damaged`.
//!
//! **Order of writes** (`carry.rs`). New segments; second names of the files that stay; one new manifest in place of
//! the old one; then the removal of the old files. A killed repair leaves the store as before, or repaired; the next
//! one begins again. A plan takes the same steps without writing.
//!
//! [`repair`] holds the store's lock and runs on a crew of its own; only sorting and new segments use its other
//! threads. format-spec/ specifies all files.

mod carry;
mod fingerprints;
mod keys;
mod logs;
mod numbers;
mod rebuilt;
mod report;
mod segment;

pub use report::{KeyRange, Loss, Lost, RepairAction, RepairReport};

pub use crate::version::SegmentRole;

use crate::db::CREATING;
use crate::env::{Env, Patient, ReadMode};
use crate::error::{Error, ErrorKind, Result};
use crate::extsort::Workspace;
use crate::fingerprint::{Fingerprint, by_width};
use crate::format::manifest::ManifestData;
use crate::options::{Filters, Options};
use crate::segment::{Damage, is_segment_name};
use crate::version::{StoreContext, manifest as file, take_lock};
use crate::wal;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Returns the report of a [`repair`] without writing. While another process writes to the store, the end of its log
/// may look torn.
///
/// ```
/// use fpstore::{Options, Parameters, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// drop(Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?);
/// let plan = fpstore::repair::plan(&path, &Options::new())?;
/// assert!(plan.is_sound() && plan.saves_everything());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `NotFound` if there is no store; `Unsupported` if it is one of another version; `Io` if a file cannot be opened.
/// Damage is in the report, not an error.
pub fn plan(path: impl AsRef<Path>, options: &Options) -> Result<RepairReport> {
    let path = path.as_ref();
    loop {
        let before = file::read_bytes(&*options.env, path).ok();
        let report = run(path, options, &patient(options), false)?;
        // A writer may have removed the files meanwhile.
        if report.is_sound() || before == file::read_bytes(&*options.env, path).ok() {
            return Ok(report);
        }
    }
}

/// Repairs a store as far as possible without guessing, and returns the actions and the losses. No other process may
/// have the store open for writing.
///
/// # Errors
/// Those of [`plan`]; `Locked` if another process writes; `Io` from writing: the store is then as before or, if
/// the last step has failed, repaired.
pub fn repair(path: impl AsRef<Path>, options: &Options) -> Result<RepairReport> {
    let (path, patient) = (path.as_ref(), patient(options));
    if let Err(error) = file::read(&*patient.env, path) {
        // Without a manifest nothing is written, not even a lock file.
        return refuse_manifest(path, &patient, error);
    }
    let _lock = take_lock(&*patient.env, path)?;
    // The writer of the manifest may have died before the rename was durable.
    patient.env.sync_dir(path).map_err(|error| Error::io("cannot sync", path, error))?;
    run(path, options, &patient, true)
}

/// Options for media that fail.
fn patient(options: &Options) -> Options {
    let patient = options.clone().with_env(Arc::new(Patient(Arc::clone(&options.env))));
    patient.with_read_mode(ReadMode::Pread).with_filters(Filters::Off)
}

fn run(path: &Path, options: &Options, patient: &Options, writes: bool) -> Result<RepairReport> {
    let manifest = match file::read(&*patient.env, path) {
        Ok(manifest) => manifest,
        Err(error) => return refuse_manifest(path, patient, error),
    };
    let width = manifest.parameters.width();
    let media = &*options.env;
    options
        .executor
        .run_exclusive(|| by_width!(width, F => Repairing::<F>::run(path, media, patient, &manifest, writes)))
}

/// Refuses a store whose manifest is damaged. A directory without a manifest is a store if it has segments or logs.
fn refuse_manifest(path: &Path, options: &Options, error: Error) -> Result<RepairReport> {
    let names = options.env.list(path).unwrap_or_default();
    let segments = names.iter().filter(|name| is_segment_name(name)).count();
    let logs = names.iter().filter(|name| wal::number_of(name).is_some()).count();
    // The next creation removes the leftovers of an interrupted one.
    let is_store = segments + logs > 0 && !names.iter().any(|name| name == CREATING);
    let fault = match error.kind() {
        ErrorKind::Damaged => error.message().to_owned(),
        ErrorKind::NotFound if is_store => "the manifest is missing".to_owned(),
        _ => return Err(error),
    };
    let message = format!(
        "{fault}; segments in the directory: {segments}, logs: {logs}; only the manifest says which of them belong to \
         the store, in which order, and which segments hold removals: restore it from a copy. Without a copy, \
         `fpdump scan` prints the records of a segment"
    );
    let (path, section) = (path.join(file::NAME), "manifest".to_owned());
    let damage = Damage { path, section, offset: error.offset(), message };
    Ok(RepairReport { files: 1, damages: vec![damage.clone()], refused: vec![damage], ..RepairReport::default() })
}

struct Repairing<'a, F: Fingerprint> {
    context: Arc<StoreContext>,
    workspace: Workspace,
    /// The environment that reports read errors.
    media: &'a dyn Env,
    manifest: &'a ManifestData,
    report: RepairReport,
    /// False for a plan.
    writes: bool,
    next_segment: AtomicU64,
    /// Files that the store no longer needs, and whether they stay under another name because of a loss.
    retired: Vec<(PathBuf, bool)>,
    width: PhantomData<F>,
}

impl<'a, F: Fingerprint> Repairing<'a, F> {
    fn run(
        path: &Path,
        media: &'a dyn Env,
        patient: &Options,
        manifest: &'a ManifestData,
        writes: bool,
    ) -> Result<RepairReport> {
        let bytes = manifest.write().len() as u64;
        let mut repairing = Self {
            context: StoreContext::new(path, patient, &manifest.parameters)?,
            workspace: Workspace::new(path, patient),
            media,
            manifest,
            report: RepairReport {
                files: 1,
                bytes,
                is_key_index: manifest.parameters.keys().is_some(),
                ..RepairReport::default()
            },
            writes,
            next_segment: AtomicU64::new(manifest.next_segment),
            retired: Vec::new(),
            width: PhantomData,
        };
        let done = repairing.carry_out();
        if writes && done.is_err() {
            repairing.undo();
        }
        done.map(|()| repairing.report)
    }

    fn env(&self) -> &Arc<dyn Env> {
        self.context.env()
    }
}
