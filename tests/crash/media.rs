//! The media below a recorded process: the effect of each operation, and the part of it that a power failure may leave.
//!
//! The rules are those of format-spec/store.md, *Assumptions about the media*; the model shares no code with the
//! library.

use super::file::File;
use super::image::Image;
use super::names::{Change, Names};
use super::recording::Operation;
use crate::support::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All files and names.
#[derive(Debug, Default)]
pub(crate) struct Media {
    names: Names,
    files: Vec<File>,
    /// The file of each inode number.
    inodes: BTreeMap<u64, usize>,
    /// Unfinished syncs: the synced object, and the operation at which they began.
    syncs: BTreeMap<u64, (usize, Synced)>,
    /// Number of operations so far.
    operations: usize,
}

#[derive(Debug)]
enum Synced {
    File { number: usize, data_only: bool },
    Names(PathBuf),
}

impl Media {
    /// Media on which an image is durable. `inodes` has the recording's numbers of its files.
    pub(crate) fn new(image: &Image, inodes: BTreeMap<u64, usize>) -> Self {
        Self {
            names: Names::durable(&image.directories, &image.names),
            files: image.files.iter().map(File::durable).collect(),
            inodes,
            ..Self::default()
        }
    }

    /// Applies an operation.
    ///
    /// # Errors
    ///
    /// A message if the recording is inconsistent, or has an operation that this model does not know.
    pub(crate) fn apply(&mut self, operation: &Operation) -> Result<(), String> {
        let at = self.operations;
        self.operations += 1;
        match operation {
            Operation::Create { inode, name } => {
                self.files.push(File::default());
                let number = self.files.len() - 1;
                self.inodes.insert(*inode, number);
                if let Some(name) = name {
                    self.names.change(at, Change::Link(name.clone(), number));
                }
            }
            Operation::Length { inode, length } => self.file(*inode)?.set_length(at, *length),
            Operation::Allocate { inode, length } => self.file(*inode)?.grow(at, *length),
            Operation::Write { inode, offset, bytes } => self.file(*inode)?.write(at, *offset, bytes),
            Operation::Sync { sync, inode, data_only } => {
                let number = self.number(*inode)?;
                self.syncs.insert(*sync, (at, Synced::File { number, data_only: *data_only }));
            }
            Operation::SyncNames { sync, directory } => {
                self.syncs.insert(*sync, (at, Synced::Names(directory.clone())));
            }
            Operation::Synced { sync } => match self.syncs.remove(sync).ok_or("a sync ends that did not begin")? {
                (begun, Synced::File { number, data_only }) => self.files[number].sync(begun, data_only),
                (begun, Synced::Names(directory)) => self.names.sync(begun, &directory),
            },
            Operation::Rename { from, to } => {
                if from.parent() != to.parent() {
                    return Err(format!("a rename to another directory: {}", to.display()));
                }
                let number = self.named(from)?;
                self.names.change(at, Change::Rename(from.clone(), to.clone(), number));
            }
            Operation::Unlink(name) => {
                self.named(name)?;
                self.names.change(at, Change::Unlink(name.clone()));
            }
            Operation::Link { from, to } => {
                let number = self.named(from)?;
                self.names.change(at, Change::Link(to.clone(), number));
            }
            Operation::MakeDirectory(name) => self.names.change(at, Change::MakeDirectory(name.clone())),
            Operation::RemoveDirectory(name) => self.names.change(at, Change::RemoveDirectory(name.clone())),
            Operation::Mark(_) => {}
            Operation::Unknown(text) => return Err(format!("the recorder has no record for {text}")),
        }
        Ok(())
    }

    fn number(&self, inode: u64) -> Result<usize, String> {
        self.inodes.get(&inode).copied().ok_or_else(|| format!("a file that was not created: inode {inode}"))
    }

    fn file(&mut self, inode: u64) -> Result<&mut File, String> {
        let number = self.number(inode)?;
        Ok(&mut self.files[number])
    }

    fn named(&self, name: &Path) -> Result<usize, String> {
        self.names.file(name).ok_or_else(|| format!("there is no {}", name.display()))
    }

    /// The tree that a reader sees.
    pub(crate) fn current(&self) -> Image {
        let tree = self.names.current().clone();
        Image::new(tree.directories, tree.files, |number| self.files[number].current())
    }

    /// The tree after a power failure. Each failure has new random shares: of some failures nearly everything survives,
    /// of others hardly anything. Names and contents have different shares.
    pub(crate) fn after_crash(&self, random: &mut Random) -> Image {
        let (names, contents) = (random.below(5), random.below(5));
        let tree = self.names.after_crash(random, names);
        Image::new(tree.directories, tree.files, |number| {
            let share = if random.below(4) == 0 { random.below(5) } else { contents };
            self.files[number].after_crash(random, share)
        })
    }
}
