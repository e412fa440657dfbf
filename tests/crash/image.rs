//! The content of a directory tree, as bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file: its bytes without the zeros at its end, and its length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: usize,
}

impl Content {
    pub(crate) fn new(mut bytes: Vec<u8>) -> Self {
        let length = bytes.len();
        bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
        Self { bytes, length }
    }
}

/// Directories and files by their paths below the root. Names of the same file have the same number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Image {
    pub(crate) directories: BTreeSet<PathBuf>,
    pub(crate) names: BTreeMap<PathBuf, usize>,
    pub(crate) files: Vec<Content>,
}

impl Image {
    /// Renumbers the files in the order of their names, and drops those without a name.
    pub(crate) fn new(
        directories: BTreeSet<PathBuf>,
        mut names: BTreeMap<PathBuf, usize>,
        mut content: impl FnMut(usize) -> Content,
    ) -> Self {
        let (mut files, mut numbers) = (Vec::new(), BTreeMap::new());
        for number in names.values_mut() {
            *number = *numbers.entry(*number).or_insert_with(|| {
                files.push(content(*number));
                files.len() - 1
            });
        }
        Self { directories, names, files }
    }

    /// Reads the tree below a directory; also returns the inode number of each file.
    pub(crate) fn read(root: &Path) -> io::Result<(Self, BTreeMap<u64, usize>)> {
        let (mut image, mut inodes) = (Self::default(), BTreeMap::new());
        let mut open = vec![PathBuf::new()];
        while let Some(directory) = open.pop() {
            let mut entries: Vec<_> = fs::read_dir(root.join(&directory))?.collect::<io::Result<_>>()?;
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let name = directory.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    image.directories.insert(name.clone());
                    open.push(name);
                    continue;
                }
                let inode = entry.metadata()?.ino();
                let number = *inodes.entry(inode).or_insert(image.files.len());
                if number == image.files.len() {
                    image.files.push(Content::new(fs::read(entry.path())?));
                }
                image.names.insert(name, number);
            }
        }
        Ok((image, inodes))
    }

    /// Writes the whole tree below a new directory.
    pub(crate) fn write(&self, root: &Path) -> io::Result<()> {
        fs::create_dir_all(root)?;
        self.directories.iter().try_for_each(|directory| fs::create_dir(root.join(directory)))?;
        let mut first = BTreeMap::new();
        for (name, &number) in &self.names {
            let path = root.join(name);
            match first.get(&number) {
                Some(other) => fs::hard_link(other, &path)?,
                None => {
                    let Content { bytes, length } = &self.files[number];
                    fs::write(&path, bytes)?;
                    if *length > bytes.len() {
                        fs::OpenOptions::new().write(true).open(&path)?.set_len(*length as u64)?;
                    }
                    first.insert(number, path);
                }
            }
        }
        Ok(())
    }

    /// The first difference to another image, in words.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.directories != other.directories {
            return Some(format!("directories {:?}, {:?}", self.directories, other.directories));
        }
        if !self.names.keys().eq(other.names.keys()) {
            return Some(format!("names {:?}, {:?}", self.names.keys(), other.names.keys()));
        }
        let differs = |name: &&PathBuf| self.files[self.names[*name]] != other.files[other.names[*name]];
        self.names.keys().find(differs).map(|name| {
            let length = |image: &Self| image.files[image.names[name]].length;
            format!("the content of {} ({} bytes, {})", name.display(), length(self), length(other))
        })
    }
}
