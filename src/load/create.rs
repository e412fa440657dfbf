//! Creating a store.
//!
//! In order: make the directory, lock it, write the mark [`CREATING`], remove the files of earlier attempts, write the
//! segments and the manifest, remove the mark. The store exists, with all its records, from the rename of the manifest
//! on.

use crate::db::{
    CREATING, Handle, Recovery, StoreInner, VersionSet, Writer, begin_creation, hold_vacant, undo_creation,
};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::format::manifest::ManifestData;
use crate::format::parameters::{Parameters, StoreKind};
use crate::load::bulk_load::{CompactAfter, LoadReport};
use crate::load::records::SortedRecords;
use crate::options::Options;
use crate::version::{StoreContext, absolute, check_kind};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn create<F: Fingerprint>(
    path: &Path,
    parameters: &Parameters,
    options: &Options,
    records: Option<SortedRecords<F>>,
) -> Result<(Handle, LoadReport)> {
    let kind = StoreKind::Fingerprints { width: F::WIDTH };
    create_filled(path, parameters, options, kind, |inner| match records {
        Some(records) => Ok(inner.bulk_load(records, CompactAfter::Due)?.0),
        None => Ok(LoadReport::default()),
    })
}

/// Creates a store, and calls `load` before it exists.
pub(crate) fn create_filled<R: Send>(
    path: &Path,
    parameters: &Parameters,
    options: &Options,
    kind: StoreKind,
    load: impl FnOnce(&StoreInner) -> Result<R> + Send,
) -> Result<(Handle, R)> {
    parameters.check()?;
    check_kind(parameters, path, kind)?;
    let (parameters, id_assignment) = &parameters.clone().split_id_assignment();
    let path = &*absolute(path, options)?;
    let (lock, options, vacant) = &hold_vacant(path, options)?;
    let env = &*options.env;
    let mut manifest = ManifestData::new(parameters.clone());
    manifest.id_assignment = *id_assignment;
    let mut versions = VersionSet::new(manifest.clone(), Vec::new());
    versions.is_placed = false;
    let writer = Writer {
        next_log: 1,
        next_sequence: 1,
        active_first: 1,
        id_assignment: *id_assignment,
        is_assignment_kept: true,
        ..Writer::default()
    };
    let inner = StoreInner::new(StoreContext::new(path, options, parameters)?, versions, Some(writer));
    match fill(&inner, &manifest, load) {
        Ok(report) => Ok((Handle::of(inner, Recovery::default(), None, Some(Arc::clone(lock)))?, report)),
        Err(error) => {
            // A manifest that could not be made durable may still exist; the files it names have to stay.
            if inner.check_poison().is_ok() {
                undo_creation(env, path, &manifest, vacant);
            }
            Err(error)
        }
    }
}

fn fill<R: Send>(
    inner: &StoreInner,
    manifest: &ManifestData,
    load: impl FnOnce(&StoreInner) -> Result<R> + Send,
) -> Result<R> {
    let (env, path) = (inner.context.env(), &inner.context.path);
    begin_creation(&**env, path, manifest)?;
    let report = inner.exclusive(load)?;
    // Without records no run was installed.
    if !inner.versions().is_placed {
        inner.install(|_, _| (), |_| ())?;
    }
    // The store exists; the next writer removes a mark that stays.
    let _ = env.remove(&path.join(CREATING));
    Ok(report)
}
