//! Reads a store that another process writes, without locks and without writing.
//!
//! The reader sees one state of the store, at the time of the call or later. If the writer replaces the manifest
//! meanwhile, the reader starts again. Specified in format-spec/store.md, Reading.

use crate::db::recovery::{Recovered, Recovery};
use crate::db::store_inner::StoreInner;
use crate::db::version_set::VersionSet;
use crate::env::ReadMode;
use crate::error::{Error, ErrorKind, Result};
use crate::format::manifest::ManifestData;
use crate::format::parameters::StoreKind;
use crate::options::Options;
use crate::version::{Run, StoreContext, check_kind, manifest, open_runs};
use crate::wal;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Most attempts while a writer replaces the manifest.
const TRIES: usize = 100;
/// Most attempts with the same manifest: a file that is being written may look damaged for a moment.
const FEW_TRIES: usize = 3;

#[derive(Debug)]
pub(crate) struct Follower {
    manifest: ManifestData,
    read: Recovered,
    /// The last read failed, so everything has to be read again.
    is_broken: bool,
}

impl Follower {
    pub(crate) fn open(path: &Path, options: &Options, kind: StoreKind) -> Result<(Arc<StoreInner>, Self, Recovery)> {
        let manifest = manifest::read(&*options.env, path)?;
        check_kind(&manifest.parameters, path, kind)?;
        let context = StoreContext::new(path, options, &manifest.parameters)?;
        let (versions, follower) = Self::read(&context, &[])?;
        let found = follower.read.found.clone();
        Ok((StoreInner::new(context, versions, None), follower, found))
    }

    /// Reads manifest, runs and logs of one moment. Open runs are taken from `known`.
    fn read(context: &StoreContext, known: &[Arc<Run>]) -> Result<(VersionSet, Self)> {
        for tries in 1.. {
            let (manifest, runs) = open_runs(&context.path, &context.options, known)?;
            check_parameters(context, &manifest)?;
            let read = Recovered::read(context, &manifest);
            let is_current = is_current(context, &manifest)?;
            match read {
                _ if !is_current && tries < TRIES => {}
                Ok(_) if !is_current => break,
                Ok(read) => {
                    let (sealed, active) = (read.sealed.clone(), read.active.clone());
                    let versions = VersionSet { sealed, active, ..VersionSet::new(manifest.clone(), runs) };
                    return Ok((versions, Self { manifest, read, is_broken: false }));
                }
                Err(error) if error.kind() == ErrorKind::Damaged && tries < FEW_TRIES => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(ErrorKind::Io, "the store changes faster than it can be read").at_path(&context.path))
    }

    /// The last sequence number, and the next number for a record without an id.
    pub(crate) fn reached(&self) -> (u64, u64) {
        (self.read.writer.next_sequence - 1, self.read.writer.next_id)
    }

    pub(crate) fn refresh(&mut self, inner: &StoreInner) -> Result<bool> {
        let context = &inner.context;
        if !self.is_broken && is_current(context, &self.manifest)? {
            let more = self.read_on(inner)?;
            // Later batches may be in another log, or in a run.
            if !self.is_broken && !self.has_next_log(context)? && is_current(context, &self.manifest)? {
                return Ok(more);
            }
        }
        let known = inner.versions().runs.clone();
        let (versions, follower) = Self::read(context, &known)?;
        let mut now = inner.versions();
        *now = versions;
        *self = follower;
        let seen = inner.publish(now);
        inner.make_later_filters(&seen);
        drop(seen);
        inner.forget();
        Ok(true)
    }

    /// Reads new batches of the last log. Returns whether there were any.
    fn read_on(&mut self, inner: &StoreInner) -> Result<bool> {
        let context = &inner.context;
        let Some(mut reader) = self.read.last.take() else { return Ok(false) };
        if let Err(error) = reader.refresh(&**context.env()) {
            self.read.last = Some(reader);
            // A removed log was flushed before: there is another manifest.
            self.is_broken = true;
            return if error.kind() == ErrorKind::NotFound { Ok(false) } else { Err(error) };
        }
        let before = (self.read.writer.next_sequence, self.read.sealed.len());
        let read = self.read.read_on(context, &self.manifest, &mut reader);
        self.read.last = Some(reader);
        self.is_broken = read.is_err();
        read?;
        if self.read.writer.next_sequence == before.0 {
            return Ok(false);
        }
        let mut versions = inner.versions();
        let is_same = versions.active.as_ref().zip(self.read.active.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
        if !is_same || self.read.sealed.len() != before.1 {
            versions.sealed.clone_from(&self.read.sealed);
            versions.active.clone_from(&self.read.active);
            inner.publish(versions);
        }
        Ok(true)
    }

    fn has_next_log(&self, context: &StoreContext) -> Result<bool> {
        let path = context.path.join(wal::name(self.read.writer.next_log));
        match context.env().open(&path, ReadMode::Pread) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("cannot open", &path, error)),
        }
    }
}

fn check_parameters(context: &StoreContext, manifest: &ManifestData) -> Result<()> {
    if manifest.parameters == context.parameters {
        return Ok(());
    }
    let message = "the store at this path is another one now, with other parameters";
    Err(Error::invalid(message).at_path(&context.path).with_remedy("open it anew"))
}

fn is_current(context: &StoreContext, manifest: &ManifestData) -> Result<bool> {
    manifest::read(&**context.env(), &context.path).map(|now| now == *manifest)
}
