//! The steps of a repair; a plan takes the same steps without writing.

use super::{Repairing, file};
use crate::db::{Maker, Recovered};
use crate::env::{ReadMode, TempFile};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::format::manifest::ManifestData;
use crate::segment::segment_name;
use crate::version::{StoreContext, newest_entries};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Ending of the names of damaged files that stay.
const ASIDE: &str = ".damaged";

impl<F: Fingerprint> Repairing<'_, F> {
    /// Reads every file, writes new segments, and replaces the manifest.
    pub(super) fn carry_out(&mut self) -> Result<()> {
        let mut manifest = self.manifest.clone();
        let runs: Result<Vec<_>> = self.manifest.runs.iter().map(|run| self.run_of(run)).collect();
        manifest.runs = runs?.into_iter().flatten().collect();
        if manifest.runs != self.manifest.runs {
            // A loss in one run changes the net numbers of newer runs.
            manifest.runs.iter_mut().for_each(|run| run.net = None);
        }
        if let Some(logs) = self.look_at_logs()? {
            self.flush(&logs, &mut manifest)?;
        }
        let env = Arc::clone(self.env());
        let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        self.retired.retain(|(path, _)| !env.open(path, ReadMode::Pread).is_err_and(is_missing));
        self.report.kept_aside = self.retired.iter().filter(|(_, stays)| *stays).map(|(path, _)| aside(path)).collect();
        if self.writes && !self.report.actions.is_empty() {
            manifest.next_segment = self.next_segment.load(Ordering::Relaxed);
            self.replace_manifest(&manifest)?;
        }
        Ok(())
    }

    pub(super) fn maker(&self) -> Maker<'_> {
        let StoreContext { path, options, parameters, .. } = &*self.context;
        Maker { path, options, parameters, next: Some(&self.next_segment), obsolete_files: None }
    }

    /// Makes a run of the batches of the logs, which the new manifest no longer needs.
    fn flush(&mut self, logs: &Recovered, manifest: &mut ManifestData) -> Result<()> {
        let writer = &logs.writer;
        let (first, last) = (manifest.flushed + 1, writer.next_sequence - 1);
        (manifest.first_log, manifest.next_id, manifest.flushed) = (writer.next_log, writer.next_id, last);
        let bytes = logs.sealed.iter().map(|sealed| sealed.log_bytes).fold(writer.log_bytes, u64::saturating_add);
        manifest.written.log = manifest.written.log.saturating_add(bytes);
        if !self.writes {
            return Ok(());
        }
        let newest_first = logs.active.iter().chain(logs.sealed.iter().rev().map(|sealed| &sealed.memtable));
        let entries = newest_entries::<F>(newest_first.map(|memtable| (memtable, memtable.visible())));
        let entries = entries.collect::<Result<_>>()?;
        let made = self.maker().run_of_entries(entries, manifest.runs.is_empty(), &self.workspace)?;
        manifest.runs.extend(made.numbered(first, last, None).map(|run| run.entry));
        Ok(())
    }

    /// Replaces the manifest. Before that, damaged files with losses get a second name; after it, the files that the
    /// new manifest does not need are removed.
    fn replace_manifest(&self, manifest: &ManifestData) -> Result<()> {
        let store = &self.context.path;
        for (path, _) in self.retired.iter().filter(|(_, stays)| *stays) {
            self.keep_aside(path)?;
        }
        self.env().sync_dir(store).map_err(|error| Error::io("cannot sync", store, error))?;
        file::replace(self.env(), store, manifest)?;
        for (path, _) in &self.retired {
            // The next writer removes files that cannot be removed now.
            let _ = self.env().remove(path);
        }
        Ok(())
    }

    /// Gives a file a second name, or makes a copy if the file system has no second names.
    fn keep_aside(&self, path: &Path) -> Result<()> {
        let target = aside(path);
        // An earlier attempt may have left the name.
        let is_there = |error: io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        if self.env().hard_link(path, &target).map_or_else(is_there, |()| true) {
            return Ok(());
        }
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = self.env().open(path, ReadMode::Pread).map_err(|error| Error::io("cannot open", path, error))?;
        let copy = TempFile::create(self.env(), &self.context.path, &name)?;
        copy.copied(&*file, path)?.commit().map(|_| ())
    }

    /// Removes the new segments, unless the new manifest may be there.
    pub(super) fn undo(&self) {
        if file::read(&**self.env(), &self.context.path).is_ok_and(|found| found == *self.manifest) {
            self.remove_segments(self.manifest.next_segment);
        }
    }

    /// Removes the new segments from this number on.
    pub(super) fn remove_segments(&self, first: u64) {
        for number in (first..self.next_segment.load(Ordering::Relaxed)).filter(|_| self.writes) {
            let _ = self.env().remove(&self.context.path.join(segment_name(number)));
        }
    }
}

/// The name under which a damaged file stays.
fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ASIDE);
    PathBuf::from(name)
}
