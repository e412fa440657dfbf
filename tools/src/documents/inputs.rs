//! Expands the inputs on the command line: files, standard input, and directories, which stand for the files below
//! them.
//!
//! The files of a directory are read in bytewise order of their names, so the order is the same on every system.
//! Symbolic links are followed. Only regular files are documents, and not the markers and checksums that Spark writes.
//! Each file is read as if it had been named itself: as records, or as one document.

use std::ffi::{OsStr, OsString};
use std::iter;
use std::path::Path;

use anyhow::bail;

use super::DocumentOptions;
use super::reader::Reader;
use crate::input::Source;
use crate::input::sources::{named, walk};
use crate::notice;

/// The inputs, none of which has been read.
#[derive(Clone, Debug)]
pub struct Inputs {
    sources: Vec<Source>,
    pub(super) options: DocumentOptions,
    length: Option<u64>,
}

impl Inputs {
    /// Returns the inputs that arguments name, after all checks that need no reading.
    ///
    /// # Errors
    ///
    /// If an input cannot be examined or names nothing, the options do not fit it, or standard input is named twice.
    pub fn new(arguments: &[OsString], options: &DocumentOptions) -> anyhow::Result<Self> {
        let sources = named(arguments)?;
        let mut total = Some(0);
        for source in &sources {
            let length = if let Some(path) = directory(source) {
                if files_below(path).next().is_none() {
                    bail!("{}: the directory holds no files", source.name());
                }
                None
            } else {
                options.check(source)?;
                source.length()?
            };
            total = total.zip(length).map(|(total, length)| total + length);
        }
        Ok(Self { sources, options: options.clone(), length: total })
    }

    /// Stored bytes of all inputs, if known without reading.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns all files to open, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = anyhow::Result<Source>> {
        self.sources.iter().flat_map(|source| -> Box<dyn Iterator<Item = _>> {
            match directory(source) {
                Some(path) => Box::new(files_below(path)),
                None => Box::new(iter::once(Ok(source.clone()))),
            }
        })
    }
}

/// Counts how the files were read.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    records: u64,
    whole: u64,
    /// The first file that was one document.
    example: Option<String>,
    /// Number of such files that look like records of JSON, and the first of them.
    doubtful: u64,
    doubted: Option<String>,
}

impl Kinds {
    /// Counts a file.
    pub(super) fn add(&mut self, reader: &Reader) {
        if let Some(name) = reader.doubtful() {
            self.doubtful += 1;
            self.doubted.get_or_insert_with(|| name.to_owned());
        }
        match reader.whole() {
            None => self.records += 1,
            Some(name) => {
                self.whole += 1;
                self.example.get_or_insert_with(|| name.to_owned());
            }
        }
    }

    /// Reports how files were read if the user cannot know it: for directories with both kinds.
    pub(super) fn tell(&self, inputs: &Inputs) {
        if let Some(name) = &self.doubted {
            let others = match self.doubtful {
                1 => String::new(),
                files => format!(", like {} others", files - 1),
            };
            notice::warn(format_args!(
                "{name} holds JSON objects, but is read as one document{others}; --format ndjson reads one of each \
                 line, \
                 --text-column NAME says where its text is"
            ));
        }
        if let Some(example) = self.example.as_ref().filter(|_| self.records > 0)
            && inputs.sources.iter().any(|source| directory(source).is_some())
        {
            notice::say(format_args!(
                "{} of the files were read as records, {} as whole documents, such as {example}",
                self.records, self.whole
            ));
        }
    }
}

/// Returns the path of an input that is a directory.
fn directory(source: &Source) -> Option<&Path> {
    source.path().filter(|path| path.is_dir())
}

/// Returns the regular files below a directory.
fn files_below(path: &Path) -> impl Iterator<Item = anyhow::Result<Source>> {
    let entries = walk(path, |name| !is_mark(name));
    entries.filter_map(|entry| match entry {
        Ok(entry) => entry.file_type().is_file().then(|| Ok(Source::File(entry.into_path()))),
        Err(error) => Some(Err(error)),
    })
}

/// Whether a file is a marker that Spark and similar systems leave beside data.
fn is_mark(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    matches!(&*name, "_SUCCESS" | "_temporary" | "_metadata" | "_common_metadata")
        || name.starts_with("_committed_")
        || name.starts_with("_started_")
        || name.starts_with('.') && name.ends_with(".crc")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(argument: &Path) -> Vec<String> {
        let inputs = Inputs::new(&[argument.into()], &DocumentOptions::default()).unwrap();
        inputs.files().map(|file| file.unwrap().name()).collect()
    }

    #[test]
    fn files_of_a_directory_in_the_order_of_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("docs");
        let marks = ["_SUCCESS", ".a b.csv.crc", "_temporary/0/x"];
        let names_of_all = ["b/x.txt", "b/.hidden", "a b.csv", "b.txt", "B/y", "c/d/e.gz", "é", "empty/sub"];
        for name in names_of_all.iter().chain(&marks) {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::remove_file(root.join("empty/sub")).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("b.txt"), root.join("link")).unwrap();
            std::os::unix::fs::symlink(&root, root.join("c/d/loop")).unwrap();
        }
        let mut expected = vec!["B/y", "a b.csv", "b/.hidden", "b/x.txt", "b.txt", "c/d/e.gz", "é"];
        if cfg!(unix) {
            expected.insert(6, "link");
        }
        let below = |root: &Path| -> Vec<String> {
            expected.iter().map(|name| root.join(name).display().to_string()).collect()
        };
        assert_eq!(names(&root), below(&root));
        assert_eq!(names(&root.join("a b.csv")), [root.join("a b.csv").display().to_string()]);
        assert_eq!(names(&root.join("b*")).len(), 3, "a pattern, which a directory matches, too");
        assert_eq!(names(Path::new("-")), ["standard input"]);
        let empty = Inputs::new(&[root.join("empty").into()], &DocumentOptions::default()).unwrap_err().to_string();
        assert!(empty.ends_with("empty: the directory holds no files"), "{empty}");
        #[cfg(unix)]
        {
            let link = dir.path().join("link");
            std::os::unix::fs::symlink(&root, &link).unwrap();
            assert_eq!(names(&link), below(&link));
        }
    }

    #[test]
    fn what_is_seen_without_reading() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two, no) = (dir.path().join("1.csv"), dir.path().join("2.txt"), dir.path().join("no.csv"));
        fs::write(&one, "text\n").unwrap();
        fs::write(&two, "two").unwrap();
        let inputs = |paths: &[&Path]| {
            let arguments: Vec<OsString> = paths.iter().map(|path| path.into()).collect();
            Inputs::new(&arguments, &DocumentOptions::default())
        };
        assert_eq!(inputs(&[&one, &two, &one]).unwrap().length(), Some(13));
        assert_eq!(inputs(&[]).unwrap().length(), Some(0));
        assert_eq!(inputs(&[&one, dir.path()]).unwrap().length(), None);
        assert_eq!(inputs(&[&one, Path::new("-")]).unwrap().length(), None);
        let error = inputs(&[Path::new("-"), &one, Path::new("-")]).unwrap_err();
        assert_eq!(error.to_string(), "standard input can be read only once");
        assert!(format!("{:#}", inputs(&[&one, &no]).unwrap_err()).contains("no.csv: No such file"));
    }

    #[cfg(unix)]
    #[test]
    fn directories_that_cannot_be_read_are_named() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let closed = dir.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read it.
        if fs::read_dir(&closed).is_err() {
            let inputs = Inputs::new(&[dir.path().into()], &DocumentOptions::default()).unwrap();
            let error = inputs.files().next().unwrap().unwrap_err().to_string();
            assert!(error.contains("closed: Permission denied"), "{error}");
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    }
}
