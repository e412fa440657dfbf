//! The names of files and directories: the durable ones, and the changes that a power failure may lose.

use crate::support::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All names. Numbers stand for files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    current: Tree,
    durable: Tree,
    /// Changes that are not durable, each with the number of its operation.
    pending: Vec<(usize, Change)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: BTreeMap<PathBuf, usize>,
    pub(crate) directories: BTreeSet<PathBuf>,
}

/// A change that survives as a whole or not at all. All names of a change are in one directory.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Link(PathBuf, usize),
    Rename(PathBuf, PathBuf, usize),
    Unlink(PathBuf),
    MakeDirectory(PathBuf),
    RemoveDirectory(PathBuf),
}

impl Change {
    fn directory(&self) -> Option<&Path> {
        match self {
            Self::Link(name, _) | Self::Rename(_, name, _) | Self::Unlink(name) => name.parent(),
            Self::MakeDirectory(name) | Self::RemoveDirectory(name) => name.parent(),
        }
    }
}

impl Tree {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Link(name, file) => _ = self.files.insert(name.clone(), *file),
            Change::Rename(from, to, file) => {
                self.files.remove(from);
                self.files.insert(to.clone(), *file);
            }
            Change::Unlink(name) => _ = self.files.remove(name),
            Change::MakeDirectory(name) => _ = self.directories.insert(name.clone()),
            Change::RemoveDirectory(name) => _ = self.directories.remove(name),
        }
    }

    /// Drops names in directories that do not exist.
    fn lose_unreachable(&mut self) {
        let all = self.directories.clone();
        let is_reachable = |name: &Path| {
            name.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).all(|above| all.contains(above))
        };
        self.directories.retain(|name| is_reachable(name));
        self.files.retain(|name, _| is_reachable(name));
    }
}

impl Names {
    /// Durable names.
    pub(crate) fn durable(directories: &BTreeSet<PathBuf>, files: &BTreeMap<PathBuf, usize>) -> Self {
        let tree = Tree { files: files.clone(), directories: directories.clone() };
        Self { current: tree.clone(), durable: tree, pending: Vec::new() }
    }

    /// The file of a name.
    pub(crate) fn file(&self, name: &Path) -> Option<usize> {
        self.current.files.get(name).copied()
    }

    /// The names as a reader sees them.
    pub(crate) fn current(&self) -> &Tree {
        &self.current
    }

    pub(crate) fn change(&mut self, at: usize, change: Change) {
        self.current.apply(&change);
        self.pending.push((at, change));
    }

    /// Makes changes of names in a directory before operation `begun` durable.
    pub(crate) fn sync(&mut self, begun: usize, directory: &Path) {
        let (durable, left) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|(at, change)| *at < begun && change.directory() == Some(directory));
        self.pending = left;
        let durable: Vec<(usize, Change)> = durable;
        durable.iter().for_each(|(_, change)| self.durable.apply(change));
    }

    /// The names after a power failure: each pending change survives with a probability of `share` in 4.
    pub(crate) fn after_crash(&self, random: &mut Random, share: u64) -> Tree {
        let mut tree = self.durable.clone();
        let survivors = self.pending.iter().filter(|_| random.below(4) < share);
        survivors.for_each(|(_, change)| tree.apply(change));
        tree.lose_unreachable();
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_last_when_their_directory_is_synced() {
        let mut names = Names::default();
        names.change(1, Change::MakeDirectory("d".into()));
        names.change(2, Change::Link("d/a.tmp".into(), 7));
        names.sync(3, Path::new("d"));
        assert!(names.after_crash(&mut Random(1), 0).files.is_empty(), "the directory itself is lost");
        names.sync(3, Path::new(""));
        assert_eq!(names.after_crash(&mut Random(1), 0).files.keys().next().unwrap(), Path::new("d/a.tmp"));
        names.change(4, Change::Rename("d/a.tmp".into(), "d/a".into(), 7));
        assert_eq!(names.after_crash(&mut Random(1), 0).files.keys().next().unwrap(), Path::new("d/a.tmp"));
        let all = names.after_crash(&mut Random(1), 4).files;
        assert!(all.len() == 1 && all.contains_key(Path::new("d/a")));
    }
}
