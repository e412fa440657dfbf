//! The other files of a store's directory: unfinished files, the lock, and leftovers of an interrupted load.

use crate::env::{Env, ReadMode, TEMP_SUFFIX};
use crate::error::{Error, ErrorKind, Result};
use crate::format::manifest::ManifestData;
use crate::options::Options;
use crate::segment::{is_segment_name, segment_name, segment_of_filters};
use crate::version::{LOCK, Lock, hold, manifest};
use crate::wal;
use std::io;
use std::path::Path;

/// Marks a directory in which a store is being created. Without a manifest, all files of a store in it, segments
/// included, are leftovers of an interrupted creation.
pub(crate) const CREATING: &str = "creating.tmp";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Vacancy {
    Absent,
    /// The directory has only files that may be removed.
    Free,
}

/// Checks a directory in which a store is to be created. Fails with `AlreadyExists` if it has a store, or a file that
/// is not of fpstore.
pub(crate) fn vacancy_for_store(env: &dyn Env, path: &Path) -> Result<Vacancy> {
    let names = match env.list(path) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vacancy::Absent),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Error::new(ErrorKind::AlreadyExists, "there is a file where the store is to be")
                .at_path(path)
                .with_remedy("choose another path"));
        }
        Err(error) => return Err(Error::io("cannot list", path, error)),
    };
    let refuse =
        |message: String, remedy| Err(Error::new(ErrorKind::AlreadyExists, message).at_path(path).with_remedy(remedy));
    if names.iter().any(|name| name == manifest::NAME) {
        return refuse("there is a store already".to_owned(), "open it instead of creating it, or choose another path");
    }
    let interrupted = names.iter().any(|name| name == CREATING);
    let ours = |name: &str| name == LOCK || is_temporary(name) || (interrupted && is_of_segment(name));
    match names.iter().find(|name| !ours(name)) {
        Some(name) => refuse(
            format!("the directory is no store and not empty: it has '{name}'"),
            "choose an empty or new directory",
        ),
        None => Ok(Vacancy::Free),
    }
}

/// Whether a name is that of a segment, or of the filters of one.
fn is_of_segment(name: &str) -> bool {
    is_segment_name(name) || segment_of_filters(name).is_some()
}

/// Whether a name is that of an unfinished file of fpstore. Other `.tmp` files are left alone.
fn is_temporary(name: &str) -> bool {
    let ours = |target: &str| target == manifest::NAME || is_of_segment(target) || wal::number_of(target).is_some();
    name == CREATING || name.strip_suffix(TEMP_SUFFIX).is_some_and(ours)
}

/// Makes and locks a directory for a new store, with the options of [`hold`]. An error leaves no file of this call.
pub(crate) fn hold_vacant(path: &Path, options: &Options) -> Result<(Lock, Options, Vacancy)> {
    let env = &*options.env;
    let vacancy = vacancy_for_store(env, path)?;
    create_durably(env, path)?;
    let (lock, options) = hold(path, options).inspect_err(|error| {
        // The lock file may exist even if it could not be written.
        if error.kind() != ErrorKind::Locked && vacancy == Vacancy::Absent {
            forget_lock(env, path, &vacancy);
        }
    })?;
    // Another process may have been faster.
    vacancy_for_store(&*options.env, path).inspect_err(|error| {
        if error.kind() != ErrorKind::AlreadyExists {
            forget_lock(&*options.env, path, &vacancy);
        }
    })?;
    Ok((lock, options, vacancy))
}

/// Places the mark [`CREATING`], durably, and removes the leftovers of earlier attempts.
pub(crate) fn begin_creation(env: &dyn Env, path: &Path, state: &ManifestData) -> Result<()> {
    let mark = path.join(CREATING);
    let fail = |error| Error::io("cannot create", &mark, error);
    env.create(&mark).map_err(fail)?.sync().map_err(fail)?;
    env.sync_dir(path).map_err(|error| Error::io("cannot sync", path, error))?;
    remove_leftovers(env, path, state, Some(CREATING))
}

/// Removes the files of a failed creation, the mark after all others. A later attempt removes files that cannot be
/// removed now.
pub(crate) fn undo_creation(env: &dyn Env, path: &Path, state: &ManifestData, vacancy: &Vacancy) {
    if remove_leftovers(env, path, state, Some(CREATING)).is_ok() && env.sync_dir(path).is_ok() {
        let _ = env.remove(&path.join(CREATING));
        forget_lock(env, path, vacancy);
    }
}

/// Removes the lock file of a failed creation, and the directory if the creation made it and it is empty.
fn forget_lock(env: &dyn Env, path: &Path, vacancy: &Vacancy) {
    let _ = env.remove(&path.join(LOCK));
    if *vacancy == Vacancy::Absent {
        let _ = env.remove_dir(path);
    }
}

/// Creates a directory and its missing parents, durably.
fn create_durably(env: &dyn Env, path: &Path) -> Result<()> {
    let missing = |path: &Path| env.list(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let new = path.ancestors().take_while(|path| !path.as_os_str().is_empty() && missing(path)).count();
    env.create_dir(path).map_err(|error| Error::io("cannot create", path, error))?;
    // An earlier attempt may have made the directory and died before it synced the parent.
    for directory in path.ancestors().skip(1).take(new.max(1)) {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        env.sync_dir(directory).map_err(|error| Error::io("cannot sync", directory, error))?;
    }
    Ok(())
}

/// Bytes of the logs in a store's directory, without those that cannot be opened.
pub(crate) fn log_bytes(env: &dyn Env, path: &Path) -> u64 {
    let length = |log| env.open(&path.join(wal::name(log)), ReadMode::Pread).map_or(0, |file| file.length());
    let logs = wal::numbers_from(env, path, 0).unwrap_or_default();
    logs.into_iter().map(length).fold(0, u64::saturating_add)
}

/// Removes unfinished files except `keep`, segments that the manifest does not name with their filters, and logs whose
/// writes are in segments. The caller holds the lock of the directory.
pub(crate) fn remove_leftovers(env: &dyn Env, path: &Path, state: &ManifestData, keep: Option<&str>) -> Result<()> {
    let names = env.list(path).map_err(|error| Error::io("cannot list", path, error))?;
    let known: Vec<String> = state.segments().map(|segment| segment_name(segment.number)).collect();
    for name in names {
        let old_log = wal::number_of(&name).is_some_and(|number| number < state.first_log);
        let segment = segment_of_filters(&name).map_or_else(|| name.clone(), segment_name);
        let orphan = old_log || is_of_segment(&name) && !known.contains(&segment);
        if (is_temporary(&name) || orphan) && keep != Some(&name) {
            let file = path.join(&name);
            match env.remove(&file) {
                // The last reader of a segment may have removed it meanwhile.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("cannot remove", &file, error));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
