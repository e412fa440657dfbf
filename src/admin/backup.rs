//! A copy of an open store.
//!
//! The copy holds one state of the store with all writes from before the call, and no saved filters. Every byte of it
//! is verified before the call returns; on error there is no copy. Specified in format-spec/store.md, Backing up.

use crate::admin::verify::{VerifyReport, verify};
use crate::db::{CREATING, Handle, Maker, begin_creation, effective, hold_vacant, records_of_view, undo_creation};
use crate::env::TempFile;
use crate::error::{Error, ErrorKind, Result};
use crate::extsort::Workspace;
use crate::fingerprint::{Fingerprint, by_width};
use crate::format::manifest::ManifestData;
use crate::options::Options;
use crate::segment::Segment;
use crate::version::{ReadView, absolute, manifest, newest_entries};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The way a backup copies segments, which never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackupMode {
    /// Hard links, where the file system has them: fast and without taking space. Damage to such a file affects both
    /// stores.
    #[default]
    Link,
    /// Files of their own.
    Copy,
}

/// The result of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupReport {
    /// Records in it.
    pub records: u64,
    /// Hard links to files of the store.
    pub linked: u64,
    /// Bytes written.
    pub copied_bytes: u64,
    /// Files of the copy that were verified.
    pub files: u64,
}

/// Copies an open store to a path without a store, and verifies every byte of the copy.
pub(crate) fn backup(handle: &Handle, path: &Path, mode: BackupMode) -> Result<BackupReport> {
    let (view, manifest) = frozen(handle);
    let options = &handle.inner.context.options;
    let path = &*absolute(path, options)?;
    let (_held, options, vacant) = &hold_vacant(path, options)?;
    let env = &*options.env;
    let copied = Copying { path, options, mode, manifest, report: BackupReport::default() }.run(&view);
    copied.inspect_err(|_| {
        // Without the manifest there is no store, and the mark explains the other files. With it, the files it names
        // have to stay.
        let removed = env.remove(&path.join(manifest::NAME));
        let is_gone = removed.is_ok() || removed.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if is_gone && env.sync_dir(path).is_ok() {
            undo_creation(env, path, &ManifestData::new(handle.inner.context.parameters.clone()), vacant);
        }
    })
}

/// The present state, and a manifest for it without runs.
fn frozen(handle: &Handle) -> (ReadView, ManifestData) {
    let inner = &handle.inner;
    let follower = handle.follower.lock();
    let writer = inner.writer.as_ref().map(|writer| writer.lock());
    let versions = inner.versions();
    let view = inner.read_view();
    let mut manifest = versions.manifest.clone();
    if let Some(writer) = &writer {
        manifest.flushed = writer.next_sequence - 1;
        (manifest.id_assignment, manifest.next_id) = (writer.id_assignment, writer.next_id);
    } else if let Some(follower) = &*follower {
        (manifest.flushed, manifest.next_id) = follower.reached();
    }
    manifest.first_log = 1;
    manifest.runs.clear();
    (view, manifest)
}

struct Copying<'a> {
    path: &'a Path,
    options: &'a Options,
    mode: BackupMode,
    manifest: ManifestData,
    report: BackupReport,
}

impl Copying<'_> {
    fn run(mut self, view: &ReadView) -> Result<BackupReport> {
        let (env, path) = (Arc::clone(&self.options.env), self.path);
        begin_creation(&*env, path, &self.manifest)?;
        for run in &view.version.runs {
            for segment in run.segments() {
                self.take(segment)?;
            }
            self.manifest.runs.push(run.entry);
        }
        by_width!(self.manifest.parameters.width(), F => self.take_memtables::<F>(view))?;
        env.sync_dir(path).map_err(|error| Error::io("cannot sync", path, error))?;
        manifest::replace(&env, path, &self.manifest)?;
        let checked = verify(path, self.options)?;
        if let Some(damage) = checked.damages.first() {
            return Err(Error::new(ErrorKind::Damaged, format!("the copy does not hold together: {damage}"))
                .at_path(path)
                .with_remedy("run `fpdump verify` on the store; `fprepair` may be able to save it"));
        }
        let _ = env.remove(&path.join(CREATING));
        let VerifyReport { files, .. } = checked;
        let records = records_of_view(&self.manifest.parameters, view).0;
        Ok(BackupReport { records, files, ..self.report })
    }

    fn take(&mut self, segment: &Segment) -> Result<()> {
        let Some(name) = segment.path().file_name() else { return Ok(()) };
        let target = self.path.join(name);
        if self.mode == BackupMode::Link && self.options.env.hard_link(segment.path(), &target).is_ok() {
            self.report.linked += 1;
            return Ok(());
        }
        let copy = TempFile::create(&self.options.env, self.path, &name.to_string_lossy())?;
        self.report.copied_bytes += segment.file().length();
        copy.copied(segment.file().contents(), segment.path())?.commit().map(|_| ())
    }

    fn take_memtables<F: Fingerprint>(&mut self, view: &ReadView) -> Result<()> {
        let last = view.version.runs.last().map_or(0, |run| run.entry.last);
        if self.manifest.flushed <= last {
            self.manifest.flushed = last;
            return Ok(());
        }
        let (entries, net) =
            effective::<F>(newest_entries(view.memtables().rev()).collect::<Result<_>>()?, &view.version.runs);
        let Self { path, options, manifest, .. } = self;
        let (workspace, next) = (Workspace::new(path, options), AtomicU64::new(manifest.next_segment));
        let maker = Maker { path, options, parameters: &manifest.parameters, next: Some(&next), obsolete_files: None };
        let is_first = manifest.runs.is_empty();
        let made = options.executor.run(|| maker.run_of_entries(entries, is_first, &workspace))?;
        self.report.copied_bytes += made.entry.bytes();
        manifest.runs.extend(made.numbered(last + 1, manifest.flushed, net).map(|run| run.entry));
        manifest.next_segment = next.into_inner();
        Ok(())
    }
}
