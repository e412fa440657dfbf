//! The names of files and directories: as they are found, and what of them is on the device.
//!
//! What is not synced is kept as a list of changes, so that after a crash each of them can have reached the device or
//! not. Files are numbers here; several names may lead to one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All names.
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

/// What is done to names; it reaches the device as a whole or not at all.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A name for a file, new or not.
    Link(PathBuf, u64),
    /// Another name instead of the first one; the number makes it independent of how the first one came about.
    Rename(PathBuf, PathBuf, u64),
    /// A file's name less.
    Unlink(PathBuf),
    /// A new directory.
    MakeDirectory(PathBuf),
    /// A directory less.
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
    /// The number of the file that a name leads to.
    pub(super) fn file(&self, name: &Path) -> Option<u64> {
        self.current.files.get(name).copied()
    }

    /// The names of the files in a directory, if there is such a directory.
    pub(super) fn list(&self, directory: &Path) -> Option<impl Iterator<Item = &Path>> {
        let names = self.current.files.keys().map(PathBuf::as_path);
        self.is_directory(directory).then(|| names.filter(move |name| name.parent() == Some(directory)))
    }

    /// Whether a name is that of a directory.
    pub(super) fn is_directory(&self, name: &Path) -> bool {
        self.current.directories.contains(name)
    }

    /// Whether the directory is there that a name would be in.
    pub(super) fn has_place_for(&self, name: &Path) -> bool {
        name.parent().is_some_and(|directory| self.is_directory(directory))
    }

    /// Makes a directory and those above it.
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

    /// Does something to names, which lasts once their directory is synced.
    pub(super) fn change(&mut self, change: Change) {
        self.current.apply(change.clone());
        self.unsynced.push(change);
    }

    /// Makes durable what was done to names in a directory.
    pub(super) fn sync(&mut self, directory: &Path) {
        // A rename may have its other name elsewhere. What was done to that name earlier goes with it: otherwise it
        // would come after the rename on the device, and undo a half of it.
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

    /// Loses what was not synced and `keep` does not keep, and what is in directories that are lost.
    pub(super) fn crash(&mut self, keep: &mut dyn FnMut() -> bool) {
        self.unsynced.drain(..).filter(|_| keep()).for_each(|change| self.synced.apply(change));
        let Tree { files, directories } = &mut self.synced;
        let all = directories.clone();
        let is_reachable = |name: &Path| name.ancestors().skip(1).all(|above| all.contains(above));
        directories.retain(|name| is_reachable(name));
        files.retain(|name, _| is_reachable(name));
        self.current = self.synced.clone();
    }

    /// The numbers of all files that a name leads to, or may lead to after a crash.
    pub(super) fn numbers(&self) -> BTreeSet<u64> {
        let changes = self.unsynced.iter().filter_map(|change| match change {
            Change::Link(_, file) | Change::Rename(_, _, file) => Some(file),
            _ => None,
        });
        self.current.files.values().chain(self.synced.files.values()).chain(changes).copied().collect()
    }
}

/// Whether a directory is there from the beginning.
fn is_root(name: &Path) -> bool {
    name.parent().is_none() || name == Path::new(".")
}

/// Whether a name is in a directory; one without a directory is in the current one.
fn is_within(name: &Path, directory: &Path) -> bool {
    let current = Path::new(".");
    name.parent().is_some_and(|parent| parent == directory || parent.as_os_str().is_empty() && directory == current)
}
