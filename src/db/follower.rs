//! Reading a store that another process writes.
//!
//! Takes no lock and writes nothing. What is read is one state that the store was in, at the time of asking or later; what a
//! writer replaces meanwhile is read again. Specified in format-spec/store.md, Reading.

use crate::db::recovery::{Recovered, Recovery};
use crate::db::store_inner::StoreInner;
use crate::db::version_set::VersionSet;
use crate::env::ReadMode;
use crate::error::{Error, ErrorKind, Result};
use crate::format::manifest::ManifestData;
use crate::options::Options;
use crate::version::{Run, StoreContext, check_width, manifest, open_runs};
use crate::wal;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How often opening is tried while a writer replaces what is being read.
const TRIES: usize = 100;
/// How often it is tried while nothing is replaced.
const FEW_TRIES: usize = 3;

/// What a reader knows of the logs, and where it goes on.
#[derive(Debug)]
pub(crate) struct Follower {
    manifest: ManifestData,
    read: Recovered,
    /// Reading on has failed in between: everything has to be read again.
    is_broken: bool,
}

impl Follower {
    /// The store at a path as it is now.
    pub(crate) fn open(path: &Path, options: &Options, width: u32) -> Result<(Arc<StoreInner>, Self, Recovery)> {
        let manifest = manifest::read(&*options.env, path)?;
        check_width(&manifest.parameters, path, width)?;
        let common = StoreContext::new(path, options, &manifest.parameters)?;
        let (tree, follower) = Self::read(&common, &[])?;
        let found = follower.read.found.clone();
        Ok((Arc::new(StoreInner::new(common, tree, None)), follower, found))
    }

    /// Reads manifest, runs and logs. Those of one moment: as long as a writer replaces the manifest meanwhile, everything is
    /// read again. Runs that are open already are taken from `known`.
    fn read(common: &StoreContext, known: &[Arc<Run>]) -> Result<(VersionSet, Self)> {
        let mut tries = 0;
        loop {
            let (manifest, runs) = open_runs(&common.path, &common.options, known)?;
            check_parameters(common, &manifest)?;
            let read = Recovered::read(common, &manifest);
            tries += 1;
            let current = is_current(common, &manifest)?;
            match read {
                Ok(_) if !current && tries < TRIES => {}
                Ok(_) if !current => {
                    let message = "the store changes faster than it can be read";
                    return Err(Error::new(ErrorKind::Io, message).at_path(&common.path));
                }
                Ok(read) => {
                    let mut tree = VersionSet::new(manifest.clone(), runs);
                    tree.sealed.extend(read.sealed.iter().cloned());
                    tree.active.clone_from(&read.active);
                    return Ok((tree, Self { manifest, read, is_broken: false }));
                }
                Err(_) if !current && tries < TRIES => {}
                // What is being written may look damaged for a moment.
                Err(error) if error.kind() == ErrorKind::Damaged && tries < FEW_TRIES => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The last sequence number that was read, and the next number for a record without an id.
    pub(crate) fn reached(&self) -> (u64, u64) {
        (self.read.next_sequence - 1, self.read.next_id)
    }

    /// Sees what was written since; whether there was anything.
    pub(crate) fn refresh(&mut self, core: &StoreInner) -> Result<bool> {
        let common = &core.common;
        if !self.is_broken && is_current(common, &self.manifest)? {
            let more = self.read_on(core)?;
            // Later batches may be in another log by now, or in a run.
            if !self.is_broken && !self.has_next_log(common)? && is_current(common, &self.manifest)? {
                return Ok(more);
            }
        }
        let known = core.tree().runs.clone();
        let (tree, follower) = Self::read(common, &known)?;
        let mut now = core.tree();
        *now = tree;
        *self = follower;
        let seen = core.publish(&now);
        drop(now);
        core.make_later_filters(&seen);
        drop(seen);
        core.forget();
        Ok(true)
    }

    /// Reads what was appended to the last log; whether it was anything.
    fn read_on(&mut self, core: &StoreInner) -> Result<bool> {
        let common = &core.common;
        let Some(mut reader) = self.read.last.take() else { return Ok(false) };
        if let Err(error) = reader.refresh(&**common.env()) {
            self.read.last = Some(reader);
            // What was removed was flushed before, as another manifest says: all is read anew.
            self.is_broken = true;
            return if error.kind() == ErrorKind::NotFound { Ok(false) } else { Err(error) };
        }
        let before = (self.read.next_sequence, self.read.sealed.len());
        let read = self.read.read_on(common, &self.manifest, &mut reader);
        self.read.last = Some(reader);
        self.is_broken = read.is_err();
        read?;
        if self.read.next_sequence == before.0 {
            return Ok(false);
        }
        let mut tree = core.tree();
        let same = match (&tree.active, &self.read.active) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        if !same || self.read.sealed.len() != before.1 {
            tree.sealed = self.read.sealed.iter().cloned().collect();
            tree.active.clone_from(&self.read.active);
            core.publish(&tree);
        }
        Ok(true)
    }

    /// Whether there is a log behind the last one that was read.
    fn has_next_log(&self, common: &StoreContext) -> Result<bool> {
        let path = common.path.join(wal::name(self.read.next_log));
        match common.env().open(&path, ReadMode::Pread) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("cannot open", &path, error)),
        }
    }
}

/// Refuses a store that another one was put in the place of: what was read of the first would be taken for the second's.
fn check_parameters(common: &StoreContext, manifest: &ManifestData) -> Result<()> {
    if manifest.parameters == common.parameters {
        return Ok(());
    }
    let message = "the store at this path is another one now, with other parameters";
    Err(Error::invalid(message).at_path(&common.path).with_remedy("open it anew"))
}

fn is_current(common: &StoreContext, manifest: &ManifestData) -> Result<bool> {
    manifest::read(&**common.env(), &common.path).map(|now| now == *manifest)
}
