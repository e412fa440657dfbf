//! What the command line names as inputs: files, standard input, and directories, which stand for the files below them.
//!
//! The files of a directory are met in the order of their names, byte by byte, so that it is the same everywhere.
//! Symbolic links in it are not followed, and what is neither file nor directory is no document.

use std::ffi::OsString;
use std::iter;
use std::path::Path;

use anyhow::{anyhow, bail};
use walkdir::WalkDir;

use super::{DocumentFormat, DocumentOptions};
use crate::input::Source;

/// Inputs that are there, none of them read.
#[derive(Clone, Debug)]
pub struct Inputs {
    sources: Vec<Source>,
    pub(super) options: DocumentOptions,
    length: Option<u64>,
}

impl Inputs {
    /// The inputs that arguments name. What can be seen to be wrong without reading is found here.
    ///
    /// # Errors
    ///
    /// When one cannot be looked at, the options do not fit it, or standard input is named twice.
    pub fn new(arguments: &[OsString], options: &DocumentOptions) -> anyhow::Result<Self> {
        let sources: Vec<Source> = arguments.iter().map(|argument| Source::new(argument)).collect();
        if sources.iter().filter(|source| **source == Source::Standard).count() > 1 {
            bail!("standard input can be read only once");
        }
        let mut total = Some(0);
        for source in &sources {
            let length = if directory(source).is_some() {
                options.check_directory(source)?;
                None
            } else {
                options.format_of(source)?;
                source.length()?
            };
            total = total.zip(length).map(|(total, length)| total + length);
        }
        Ok(Self { sources, options: options.clone(), length: total })
    }

    /// Bytes of all inputs as they are stored, where that is known without reading.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Everything that is to be opened, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = anyhow::Result<(Source, DocumentFormat)>> {
        self.sources.iter().flat_map(|source| -> Box<dyn Iterator<Item = _>> {
            match directory(source) {
                Some(path) => Box::new(files_below(path)),
                None => {
                    let format = self.options.format_of(source);
                    Box::new(iter::once(format.map(|format| (source.clone(), format))))
                }
            }
        })
    }
}

/// The path of an input that is a directory.
fn directory(source: &Source) -> Option<&Path> {
    match source {
        Source::File(path) if path.is_dir() => Some(path),
        _ => None,
    }
}

/// The ordinary files below a directory.
fn files_below(path: &Path) -> impl Iterator<Item = anyhow::Result<(Source, DocumentFormat)>> {
    WalkDir::new(path).sort_by_file_name().into_iter().filter_map(|entry| match entry {
        Ok(entry) if entry.file_type().is_file() => Some(Ok((Source::File(entry.into_path()), DocumentFormat::File))),
        Ok(_) => None,
        Err(error) => Some(Err(match (error.path(), error.io_error()) {
            (Some(path), Some(cause)) => anyhow!("{}: {cause}", path.display()),
            _ => anyhow!(error),
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(argument: &Path) -> Vec<String> {
        let inputs = Inputs::new(&[argument.into()], &DocumentOptions::default()).unwrap();
        let files = inputs.files().map(|file| file.unwrap());
        files.map(|(source, format)| format!("{} {format:?}", source.name())).collect()
    }

    #[test]
    fn files_of_a_directory_in_the_order_of_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("docs");
        for name in ["b/x.txt", "b/.hidden", "a b.csv", "b.txt", "B/y", "c/d/e.gz", "é", "empty/sub"] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::remove_file(root.join("empty/sub")).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("b.txt"), root.join("link")).unwrap();
            std::os::unix::fs::symlink(&root, root.join("b/loop")).unwrap();
        }
        let expected = ["B/y", "a b.csv", "b/.hidden", "b/x.txt", "b.txt", "c/d/e.gz", "é"];
        let below = |root: &Path| expected.map(|name| format!("{} File", root.join(name).display()));
        assert_eq!(names(&root), below(&root));
        assert_eq!(names(&root.join("a b.csv")), [format!("{} Csv", root.join("a b.csv").display())]);
        assert_eq!(names(Path::new("-")), ["standard input Ndjson"]);
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
        // The superuser may.
        if fs::read_dir(&closed).is_err() {
            let inputs = Inputs::new(&[dir.path().into()], &DocumentOptions::default()).unwrap();
            let error = inputs.files().next().unwrap().unwrap_err().to_string();
            assert!(error.contains("closed: Permission denied"), "{error}");
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    }
}
