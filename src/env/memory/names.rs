//! The names of files and directories: as they are found, and as they are on the device.
//!
//! Changes since the last sync are kept as a list. After a crash each may have reached the device or not. Files are
//! numbers here; several names may lead to one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    current: Tree,
    synced: Tree,
    unsynced: Vec<Change>,
}

#[derive(Clone, Debug, Default)]
struct Tree {
    files: BTreeMap<PathBuf, u64>,
    directories: BTreeSet<PathBuf>,
}

/// A change of names, which reaches the device as a whole or not at all.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Link(PathBuf, u64),
    /// The second name instead of the first one. The file's number makes it independent of the first name's creation.
    Rename(PathBuf, PathBuf, u64),
    Unlink(PathBuf),
    MakeDirectory(PathBuf),
    RemoveDirectory(PathBuf),
}

impl Change {
    fn names(&self) -> impl Iterator<Item = &Path> {
        let (first, second) = match self {
            Self::Rename(from, to, _) => (from, Some(to)),
            Self::Link(name, _) | Self::Unlink(name) | Self::MakeDirectory(name) | Self::RemoveDirectory(name) => {
                (name, None)
            }
        };
        [first].into_iter().chain(second).map(PathBuf::as_path)
    }
}

impl Tree {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Link(name, file) => drop(self.files.insert(name, file)),
            Change::Rename(from, to, file) => {
                self.files.remove(&from);
                self.files.insert(to, file);
            }
            Change::Unlink(name) => drop(self.files.remove(&name)),
            Change::MakeDirectory(name) => drop(self.directories.insert(name)),
            Change::RemoveDirectory(name) => drop(self.directories.remove(&name)),
        }
    }
}

impl Names {
    pub(super) fn file(&self, name: &Path) -> Option<u64> {
        self.current.files.get(name).copied()
    }

    /// The files in a directory; `None` if there is no such directory.
    pub(super) fn list(&self, directory: &Path) -> Option<impl Iterator<Item = &Path>> {
        let names = self.current.files.keys().map(PathBuf::as_path);
        self.is_directory(directory).then(|| names.filter(move |name| name.parent() == Some(directory)))
    }

    pub(super) fn is_directory(&self, name: &Path) -> bool {
        self.current.directories.contains(name)
    }

    pub(super) fn has_place_for(&self, name: &Path) -> bool {
        name.parent().is_some_and(|directory| self.is_directory(directory))
    }

    pub(super) fn make_directories(&mut self, path: &Path) {
        let above: Vec<&Path> = path.ancestors().collect();
        for name in above.into_iter().rev().chain([Path::new(".")]) {
            if self.is_directory(name) {
                continue;
            }
            if is_root(name) {
                self.synced.directories.insert(name.to_owned());
                self.current.directories.insert(name.to_owned());
            } else {
                self.change(Change::MakeDirectory(name.to_owned()));
            }
        }
    }

    /// Applies a change, which is durable once the directory is synced.
    pub(super) fn change(&mut self, change: Change) {
        self.current.apply(change.clone());
        self.unsynced.push(change);
    }

    pub(super) fn sync(&mut self, directory: &Path) {
        // A rename may have its other name in another directory. Earlier changes of that name become durable too:
        // otherwise they would come after the rename on the device and undo half of it.
        let mut wanted = BTreeSet::new();
        let mut durable = Vec::new();
        let mut open = Vec::new();
        for change in self.unsynced.drain(..).rev() {
            if change.names().any(|name| is_within(name, directory) || wanted.contains(name)) {
                wanted.extend(change.names().map(Path::to_owned));
                durable.push(change);
            } else {
                open.push(change);
            }
        }
        durable.into_iter().rev().for_each(|change| self.synced.apply(change));
        open.reverse();
        self.unsynced = open;
    }

    /// Loses the unsynced changes that `keep` does not keep, and the content of lost directories.
    pub(super) fn crash(&mut self, keep: &mut dyn FnMut() -> bool) {
        self.unsynced.drain(..).filter(|_| keep()).for_each(|change| self.synced.apply(change));
        let Tree { files, directories } = &mut self.synced;
        let all = directories.clone();
        let is_reachable = |name: &Path| name.ancestors().skip(1).all(|above| all.contains(above));
        directories.retain(|name| is_reachable(name));
        files.retain(|name, _| is_reachable(name));
        self.current = self.synced.clone();
    }

    /// The files that have a name, or may have one after a crash.
    pub(super) fn numbers(&self) -> BTreeSet<u64> {
        let changes = self.unsynced.iter().filter_map(|change| match change {
            Change::Link(_, file) | Change::Rename(_, _, file) => Some(file),
            _ => None,
        });
        self.current.files.values().chain(self.synced.files.values()).chain(changes).copied().collect()
    }
}

/// Whether a directory always exists.
fn is_root(name: &Path) -> bool {
    name.parent().is_none() || name == Path::new(".")
}

/// Whether a name is in a directory; the default is the current one.
fn is_within(name: &Path, directory: &Path) -> bool {
    let current = Path::new(".");
    name.parent().is_some_and(|parent| parent == directory || parent.as_os_str().is_empty() && directory == current)
}
