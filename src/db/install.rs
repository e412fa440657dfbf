//! Changing what a store consists of: one manifest takes the place of another.

use crate::db::store_inner::StoreInner;
use crate::db::version_set::VersionSet;
use crate::error::{Error, ErrorKind, Result};
use crate::format::manifest::ManifestData;
use crate::segment::Segment;
use crate::version::{Run, StoreContext, manifest};
use crate::wal;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl StoreInner {
    /// Changes what the store consists of: puts a manifest in the place of the one before, and lets readers see it. `change` is
    /// given a copy of the manifest and the runs. Runs that are not there any more lose their files when nobody reads them.
    ///
    /// # Errors
    /// `Io` from writing the manifest: then the store is as before, and `new` runs lose their files, unless nobody knows which
    /// manifest is there now; then it takes no more writes. `Poisoned` if that has happened before.
    pub(crate) fn install(
        &self,
        new: &[Arc<Run>],
        change: impl FnOnce(&mut ManifestData, &mut Vec<Arc<Run>>),
        after: impl FnOnce(&mut VersionSet),
    ) -> Result<()> {
        // One at a time changes the manifest and the runs, so they stay as they are while writers go on.
        let installing = self.installing.lock();
        let versions = self.versions();
        let before = Some(versions.manifest.clone()).filter(|_| versions.is_placed);
        let (mut manifest, mut runs) = (versions.manifest.clone(), versions.runs.clone());
        drop(versions);
        // Which manifest is there, and whether it lasts, nobody knows then: whatever follows might take away what it names.
        if let Err(error) = self.check_poison() {
            new.iter().for_each(|run| run.mark_obsolete(&self.context.obsolete_files));
            return Err(error);
        }
        change(&mut manifest, &mut runs);
        manifest.runs = runs.iter().map(|run| run.entry).collect();
        manifest.next_segment = self.next_segment.load(Ordering::Relaxed);
        if let Err(failed) = replace(&self.context, before.as_ref(), &manifest) {
            return Err(match failed {
                Failed::AsBefore(error) => {
                    new.iter().for_each(|run| run.mark_obsolete(&self.context.obsolete_files));
                    error
                }
                Failed::Unknown(error) => {
                    self.poison(&error);
                    error
                }
            });
        }
        let mut versions = self.versions();
        let first_log = versions.manifest.first_log;
        versions.manifest = manifest;
        let mut gone = std::mem::replace(&mut versions.runs, runs);
        gone.retain(|run| !versions.runs.iter().any(|stays| Arc::ptr_eq(stays, run)));
        versions.is_placed = true;
        let stays = |segment: &Arc<Segment>| {
            versions.runs.iter().flat_map(|run| run.segments()).any(|of| Arc::ptr_eq(of, segment))
        };
        let replaced = gone.iter().flat_map(|run| run.segments()).filter(|segment| !stays(segment));
        replaced.for_each(|segment| segment.mark_obsolete(&self.context.obsolete_files));
        after(&mut versions);
        let seen = self.publish(&versions);
        let logs = first_log..versions.manifest.first_log;
        drop(versions);
        // Their writes are in segments now. What cannot be removed, the next writer removes.
        logs.for_each(|number| _ = self.context.env().remove(&self.context.path.join(wal::name(number))));
        self.make_later_filters(&seen);
        drop((installing, seen));
        self.forget();
        self.mark_obsolete(gone);
        Ok(())
    }
}

/// How replacing the manifest has failed.
pub(crate) enum Failed {
    /// The old manifest is there.
    AsBefore(Error),
    /// Nobody knows.
    Unknown(Error),
}

/// Replaces the manifest, or places the first one.
pub(crate) fn replace(
    context: &StoreContext,
    before: Option<&ManifestData>,
    manifest: &ManifestData,
) -> std::result::Result<(), Failed> {
    let (env, path) = (context.env(), &context.path);
    let is_as_before = || match (manifest::read(&**env, path), before) {
        (Ok(found), Some(before)) => found == *before,
        (Err(found), None) => found.kind() == ErrorKind::NotFound,
        _ => false,
    };
    let prepared = manifest::prepare(env, path, manifest).map_err(|error| match error.is_displaced() {
        true => Failed::Unknown(error),
        false => Failed::AsBefore(error),
    })?;
    let placed = prepared.place().map_err(|error| match !error.is_displaced() && is_as_before() {
        true => Failed::AsBefore(error),
        false => Failed::Unknown(error),
    });
    placed.map(|_| ())
}
