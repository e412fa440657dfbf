//! Expands the inputs on the command line: files, standard input, directories and patterns.
//!
//! The files of a directory of fingerprints are read in bytewise order of their names, at any depth. As in Spark, names
//! that begin with `_` or `.` (`_SUCCESS`, checksums) are skipped. Symbolic links are followed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, anyhow, bail};
use glob::{MatchOptions, Pattern};
use walkdir::{DirEntry, WalkDir};

use super::format::ending_of;
use super::{Format, InputOptions, Source};
use crate::notice;

/// Characters that make a name a pattern.
const SIGNS: [char; 3] = ['*', '?', '['];

/// Returns the inputs of fingerprints that arguments name.
///
/// # Errors
///
/// If an argument names nothing that can be read, or standard input is named twice.
pub fn sources(arguments: &[OsString], options: &InputOptions) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for source in named(arguments)? {
        match source.path() {
            Some(path) if path.is_dir() => sources.extend(below(path, options)?),
            _ => sources.push(source),
        }
    }
    Ok(sources)
}

/// Returns the sources that arguments name, with patterns expanded.
pub(crate) fn named(arguments: &[impl AsRef<OsStr>]) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for argument in arguments {
        match pattern(argument.as_ref()) {
            Some(pattern) => sources.extend(matching(pattern)?),
            None => sources.push(Source::new(argument.as_ref())),
        }
    }
    if sources.iter().filter(|source| **source == Source::Standard).count() > 1 {
        bail!("standard input can be read only once");
    }
    Ok(sources)
}

/// Returns an argument that is a pattern: it contains such characters, and no file has that name.
fn pattern(argument: &OsStr) -> Option<&str> {
    argument.to_str().filter(|text| text.contains(SIGNS) && !Path::new(text).exists())
}

/// Returns the files that match a pattern, sorted by name. `*` does not match hidden names; `**` matches directories at
/// any depth. `glob::glob` panics on names that are not UTF-8, so this walks the directories itself.
fn matching(pattern: &str) -> anyhow::Result<Vec<Source>> {
    let like_shells =
        MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
    let mut found = vec![PathBuf::new()];
    for part in Path::new(pattern).components().map(|part| part.as_os_str().to_string_lossy()) {
        let wanted = Pattern::new(&part).with_context(|| format!("{pattern}: not a pattern of names"))?;
        let matches = |name: &OsStr| wanted.matches_with(&name.to_string_lossy(), like_shells);
        let mut next = Vec::new();
        for path in found {
            let directory = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
            if part == "**" {
                for entry in walk(directory, |name| !is_hidden(name)) {
                    next.extend(Some(entry?).filter(|entry| entry.file_type().is_dir()).map(DirEntry::into_path));
                }
            } else if !part.contains(SIGNS) {
                next.extend(Some(path.join(&*part)).filter(|path| path.exists()));
            } else if directory.is_dir() {
                let named = || format!("{}", directory.display());
                let entries = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
                let mut names: Vec<OsString> =
                    entries.with_context(named)?.iter().map(fs::DirEntry::file_name).collect();
                names.retain(|name| matches(name));
                names.sort_unstable();
                next.extend(names.into_iter().map(|name| path.join(name)));
            }
        }
        found = next;
    }
    if found.is_empty() {
        bail!("{pattern}: there is no such file, and as a pattern no file matches it; see what `ls` shows");
    }
    Ok(found.into_iter().map(Source::File).collect())
}

/// Returns the files of fingerprints below a directory.
fn below(directory: &Path, options: &InputOptions) -> anyhow::Result<Vec<Source>> {
    let name = directory.display();
    if is_store(directory) {
        bail!("{name} is a store; its records are input when `fpdump scan {name}` has printed them");
    }
    let (mut sources, mut others) = (Vec::new(), Vec::new());
    for entry in walk(directory, |name| !is_hidden(name)) {
        let entry = entry?;
        let (kind, source) = (entry.file_type(), Source::File(entry.into_path()));
        if kind.is_file() && is_input(&source, options) {
            sources.push(source);
        } else if !kind.is_dir() {
            others.push(source.name());
        }
    }
    let first = others.first().map_or("", String::as_str);
    match (sources.is_empty(), others.len()) {
        (true, 0) => bail!("{name}: the directory holds no files that could be input"),
        (true, _) => bail!(
            "{name}: the directory holds no files whose endings or contents are those of fingerprints, only others \
             such as \
             {first}; say what they are with --format"
        ),
        (false, 0) => {}
        (false, number) => notice::warn(format_args!(
            "{name}: {number} of {} files are passed over, as neither ending nor content is that of an input: \
             {first}{}",
            sources.len() + number,
            if number > 1 { ", ..." } else { "" }
        )),
    }
    Ok(sources)
}

/// Whether a file of a directory is an input: by the options, its extension, or its content.
fn is_input(source: &Source, options: &InputOptions) -> bool {
    let named = |path| Format::of(path).is_ok() && !ending_of(path).is_empty();
    options.format.is_some()
        || options.delimiter.is_some()
        || source.path().is_some_and(named)
        || options.format_of(source).is_ok_and(|format| format != Format::Hex)
}

/// Whether a directory is a store.
#[must_use]
pub fn is_store(directory: &Path) -> bool {
    directory.join("MANIFEST").is_file()
}

/// Whether files of that name in a directory are no data.
fn is_hidden(name: &OsStr) -> bool {
    matches!(name.as_encoded_bytes().first(), Some(b'_' | b'.'))
}

/// Walks a directory in order of names, the directory itself first. Links are followed; `keeps` decides by name which
/// entries are visited.
pub(crate) fn walk(directory: &Path, keeps: impl Fn(&OsStr) -> bool) -> impl Iterator<Item = anyhow::Result<DirEntry>> {
    let entries = WalkDir::new(directory).follow_links(true).sort_by_file_name().into_iter();
    let kept = entries.filter_entry(move |entry| entry.depth() == 0 || keeps(entry.file_name()));
    kept.filter_map(|entry| match entry {
        Ok(entry) => Some(Ok(entry)),
        // The target of the link is visited where it is.
        Err(error) if error.loop_ancestor().is_some() => None,
        Err(error) => Some(Err(match (error.path(), error.io_error()) {
            (Some(path), Some(cause)) => anyhow!("{}: {cause}", path.display()),
            _ => anyhow!("{error}"),
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn made(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        dir
    }

    fn found(dir: &Path, argument: &str, options: &InputOptions) -> Result<Vec<String>, String> {
        let prefix = format!("{}/", dir.display());
        let sources = sources(&[dir.join(argument).into()], options).map_err(|error| error.to_string());
        let names = sources.map(|sources| sources.iter().map(|source| source.name().replace(&prefix, "")).collect());
        names.map_err(|error| error.replace(&prefix, ""))
    }

    #[test]
    fn files_of_a_directory_in_the_order_of_their_names() {
        let dir = made(&[
            "d/part-1.parquet",
            "d/part-0.snappy.parquet",
            "d/.part-0.snappy.parquet.crc",
            "d/_SUCCESS",
            "d/_temporary/0/part-9.parquet",
            "d/b/x.hex.gz",
            "d/B.csv",
            "d/README",
            "d/x.log",
            "other/README",
            "empty/_SUCCESS",
            "store/MANIFEST",
        ]);
        let plain = InputOptions::default();
        let expected = ["d/B.csv", "d/b/x.hex.gz", "d/part-0.snappy.parquet", "d/part-1.parquet"];
        assert_eq!(found(dir.path(), "d", &plain).unwrap(), expected);
        let dec = InputOptions { format: Some(Format::Dec), ..InputOptions::default() };
        assert_eq!(found(dir.path(), "d", &dec).unwrap().len(), 6);
        assert!(found(dir.path(), "empty", &plain).unwrap_err().contains("empty: the directory holds no files"));
        assert!(found(dir.path(), "other", &plain).unwrap_err().contains("such as other/README; say what"));
        assert!(found(dir.path(), "store", &plain).unwrap_err().contains("is a store"));
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path().join("d"), dir.path().join("d/b/loop")).unwrap();
        assert_eq!(found(dir.path(), "d", &plain).unwrap(), expected);
        // Recognised content needs no extension.
        fs::write(dir.path().join("other/part-0"), "{\"fingerprint\":1}").unwrap();
        assert_eq!(found(dir.path(), "other", &plain).unwrap(), ["other/part-0"]);
    }

    #[test]
    fn patterns() {
        let dir = made(&["b.tsv", "a.tsv", ".c.tsv", "sub/d.tsv", "[x].tsv", "parts/0/e.csv"]);
        let found = |pattern| found(dir.path(), pattern, &InputOptions::default());
        assert_eq!(found("*.tsv").unwrap(), ["[x].tsv", "a.tsv", "b.tsv"]);
        assert_eq!(found("**/*.tsv").unwrap().len(), 4);
        assert_eq!(found("[ab].tsv").unwrap(), ["a.tsv", "b.tsv"]);
        assert_eq!(found("[x].tsv").unwrap(), ["[x].tsv"], "a file of that name");
        assert_eq!(found("part?").unwrap(), ["parts/0/e.csv"]);
        assert!(found("*.hex").unwrap_err().contains("*.hex: there is no such file, and as a pattern no file matches"));
        assert!(found("a[").unwrap_err().contains("not a pattern"));
        assert_eq!(found("no.tsv").unwrap(), ["no.tsv"], "opening it says that it is not there");
    }

    #[test]
    fn standard_input_is_read_once() {
        let arguments = |names: &[&str]| names.iter().map(Into::into).collect::<Vec<OsString>>();
        assert_eq!(named(&arguments(&["-", "a"])).unwrap().len(), 2);
        for twice in [["-", "-"], ["-", "/dev/stdin"]] {
            let error = named(&arguments(&twice)).unwrap_err().to_string();
            assert_eq!(error, "standard input can be read only once");
        }
    }
}
