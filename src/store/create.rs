//! Making a store.
//!
//! The order of events: directory, lock, the mark [`CREATING`], what earlier attempts have left is removed, segments,
//! manifest, and the mark goes. Before the manifest is renamed into place there is no store; from then on there is one
//! with everything in it.

use super::directory::{CREATING, Room, create_durably, forget_lock, remove_leftovers, room_for_store, undo_creation};
use super::filters::FilterMaker;
use super::load::{self, LoadReport};
use super::{Store, check_width, take_lock};
use crate::bulk::SortedRecords;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::format::Parameters;
use crate::format::manifest::ManifestData;
use crate::manifest;
use crate::options::Options;
use std::marker::PhantomData;
use std::path::Path;

/// Makes a store with the records, if there are any.
pub(super) fn create<F: Fingerprint>(
    path: &Path,
    parameters: &Parameters,
    options: &Options,
    records: Option<SortedRecords<F>>,
) -> Result<(Store<F>, LoadReport)> {
    parameters.check()?;
    check_width::<F>(parameters, path)?;
    let env = &*options.env;
    let room = room_for_store(env, path)?;
    create_durably(env, path)?;
    let lock = take_lock(env, path).inspect_err(|error| {
        // Its file may be there all the same, where it could not be written.
        if error.kind() != ErrorKind::Locked && room == Room::Absent {
            forget_lock(env, path, &room);
        }
    })?;
    // Somebody may have been faster.
    if let Err(error) = room_for_store(env, path) {
        if error.kind() != ErrorKind::AlreadyExists {
            forget_lock(env, path, &room);
        }
        return Err(error);
    }
    let mut store = Store {
        path: path.to_owned(),
        options: options.clone(),
        manifest: ManifestData::new(parameters.clone()),
        segments: Vec::new(),
        filters: FilterMaker::default(),
        lock: Some(lock),
        poisoned: false,
        fingerprints: PhantomData,
    };
    match fill(&mut store, records) {
        Ok(report) => {
            store.filters = FilterMaker::begin(&store.segments, options);
            Ok((store, report))
        }
        Err(error) => {
            // A manifest that could not be made durable may still be there: then what it names has to stay.
            if !store.poisoned {
                undo_creation(env, path, &store.manifest, &room);
            }
            Err(error)
        }
    }
}

fn fill<F: Fingerprint>(store: &mut Store<F>, records: Option<SortedRecords<F>>) -> Result<LoadReport> {
    let env = store.options.env.clone();
    let mark = store.path.join(CREATING);
    let fail = |error| Error::io("cannot create", &mark, error);
    env.create(&mark).map_err(fail)?.sync().map_err(fail)?;
    env.sync_dir(&store.path).map_err(|error| Error::io("cannot sync", &store.path, error))?;
    remove_leftovers(&*env, &store.path, &store.manifest, Some(CREATING))?;
    let mut report = LoadReport::default();
    let mut state = store.manifest.clone();
    if let Some(records) = records {
        report = load::add_segment(store, &mut state, records)?;
    }
    if let Err(error) = manifest::replace(&env, &store.path, &state) {
        let found = manifest::read_bytes(&*env, &store.path);
        store.poisoned = found.err().is_none_or(|error| error.kind() != ErrorKind::NotFound);
        return Err(error);
    }
    store.manifest = state;
    // The store exists: a mark that cannot be removed is only untidy, the next writer removes it.
    let _ = env.remove(&mark);
    Ok(report)
}
