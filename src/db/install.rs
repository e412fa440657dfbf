//! Replaces the manifest and publishes the new version set.

use crate::db::store_inner::StoreInner;
use crate::db::version_set::VersionSet;
use crate::error::{Error, ErrorKind, Result};
use crate::format::manifest::ManifestData;
use crate::options::Maintenance;
use crate::segment::Segment;
use crate::version::{Run, StoreContext, manifest};
use crate::wal;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl StoreInner {
    /// Replaces the manifest, then publishes the new version set. `change` gets a copy of the manifest and of the runs;
    /// `after` is called when the version set has them. Files of runs that are no longer named go after their last
    /// reader.
    ///
    /// If this fails, the store is unchanged and the files of new runs go, unless it is unknown which manifest is on
    /// disk: then the store is poisoned and no file goes.
    pub(crate) fn install(
        &self,
        change: impl FnOnce(&mut ManifestData, &mut Vec<Arc<Run>>),
        after: impl FnOnce(&mut VersionSet),
    ) -> Result<()> {
        // Under this lock, only this thread changes the manifest and the runs, while writers go on.
        let installing = self.installing.lock();
        let versions = self.versions();
        let before = Some(versions.manifest.clone()).filter(|_| versions.is_placed);
        let (mut manifest, mut runs) = (versions.manifest.clone(), versions.runs.clone());
        drop(versions);
        // A poisoned store may have another manifest, whose files must stay.
        self.check_poison()?;
        let old = runs.clone();
        change(&mut manifest, &mut runs);
        // From here on a panic must not remove files that the manifest on disk may name.
        segments_of(&runs).for_each(|segment| segment.keep());
        manifest.runs = runs.iter().map(|run| run.entry).collect();
        manifest.next_segment = self.next_segment.load(Ordering::Relaxed);
        replace(&self.context, before.as_ref(), &manifest).map_err(|(is_unchanged, error)| {
            if is_unchanged {
                self.drop_segments(&runs, &old);
            } else {
                self.poison(&error)
            }
            error
        })?;
        let mut versions = self.versions();
        let first_log = versions.manifest.first_log;
        versions.manifest = manifest;
        let mut gone = std::mem::replace(&mut versions.runs, runs);
        gone.retain(|run| !versions.runs.iter().any(|stays| Arc::ptr_eq(stays, run)));
        versions.is_placed = true;
        self.drop_segments(&gone, &versions.runs);
        // Before the threads are notified: the compaction thread drops these.
        if self.context.options.maintenance == Maintenance::Background {
            versions.obsolete.append(&mut gone);
        }
        after(&mut versions);
        let logs = first_log..versions.manifest.first_log;
        let seen = self.publish(versions);
        // The writes of these logs are in segments. The next writer removes logs that cannot be removed now.
        logs.for_each(|number| _ = self.context.env().remove(&self.context.path.join(wal::name(number))));
        self.make_later_filters(&seen);
        drop((installing, seen));
        self.forget();
        Ok(())
    }

    /// Marks for removal the files of the segments in `gone` that no run in `staying` has.
    fn drop_segments(&self, gone: &[Arc<Run>], staying: &[Arc<Run>]) {
        let stays = |segment: &&Arc<Segment>| segments_of(staying).any(|other| Arc::ptr_eq(other, segment));
        let dropped = segments_of(gone).filter(|segment| !stays(segment));
        dropped.for_each(|segment| segment.mark_obsolete(&self.context.obsolete_files));
    }
}

fn segments_of(runs: &[Arc<Run>]) -> impl Iterator<Item = &Arc<Segment>> {
    runs.iter().flat_map(|run| run.segments())
}

/// Replaces the manifest, or places the first one. An error comes with whether the manifest on disk is surely
/// unchanged.
fn replace(
    context: &StoreContext,
    before: Option<&ManifestData>,
    manifest: &ManifestData,
) -> std::result::Result<(), (bool, Error)> {
    let (env, path) = (context.env(), &context.path);
    let is_unchanged = || match (manifest::read(&**env, path), before) {
        (Ok(found), Some(before)) => found == *before,
        (Err(found), None) => found.kind() == ErrorKind::NotFound,
        _ => false,
    };
    let prepared = manifest::prepare(env, path, manifest).map_err(|error| (!error.is_displaced(), error))?;
    prepared.place().map(drop).map_err(|error| (!error.is_displaced() && is_unchanged(), error))
}
