//! What else may lie in a store's directory: unfinished files, the lock, and what an interrupted load has left.

use super::LOCK;
use crate::bulk::{SEGMENT_SUFFIX, segment_name};
use crate::env::{Env, TEMP_SUFFIX};
use crate::error::{Error, ErrorKind, Result};
use crate::format::manifest::ManifestData;
use crate::manifest;
use std::io;
use std::path::Path;

/// Stands in a directory in which a store is being created. Without a manifest beside it, all that a store may hold is
/// what an interrupted creation has left, segments included.
pub(super) const CREATING: &str = "creating.tmp";

/// Whether a store may be created in a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// There is no such directory.
    Absent,
    /// The directory has nothing in it but what may be removed.
    Free,
}

/// Looks at a directory in which a store is to be created.
///
/// # Errors
/// `AlreadyExists` if there is a store, or anything that is not fpstore's; `Io`.
pub(super) fn room_for_store(env: &dyn Env, path: &Path) -> Result<Room> {
    let names = match env.list(path) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Room::Absent),
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
        return refuse("there is a store already".to_owned(), "add to it without `--create`, or choose another path");
    }
    let interrupted = names.iter().any(|name| name == CREATING);
    let ours =
        |name: &str| name == LOCK || name.ends_with(TEMP_SUFFIX) || (interrupted && name.ends_with(SEGMENT_SUFFIX));
    match names.iter().find(|name| !ours(name)) {
        Some(name) => refuse(
            format!("the directory is no store and not empty: it has '{name}'"),
            "choose an empty or new directory",
        ),
        None => Ok(Room::Free),
    }
}

/// Removes unfinished files, and segments that the manifest does not name. The caller holds the lock.
pub(super) fn remove_leftovers(env: &dyn Env, path: &Path, state: &ManifestData) -> Result<()> {
    let known: Vec<String> = state.segments.iter().map(|segment| segment_name(segment.number)).collect();
    for name in env.list(path).map_err(|error| Error::io("cannot list", path, error))? {
        let orphan = name.ends_with(SEGMENT_SUFFIX) && !known.contains(&name);
        if name.ends_with(TEMP_SUFFIX) || orphan {
            let file = path.join(&name);
            env.remove(&file).map_err(|error| Error::io("cannot remove", &file, error))?;
        }
    }
    Ok(())
}
