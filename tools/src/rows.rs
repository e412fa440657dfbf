//! Rows of tab-separated text that are read more than once, such as the matches that another program wrote.
//!
//! A file is read again from its start. Standard input or a pipe, which can be read only once, is copied to an unnamed
//! temporary file. Blank lines and lines that begin with `#` are skipped; a row has at most [`LINE_LIMIT`] bytes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};

use crate::input::lines::Lines;
use crate::input::window::Window;
use crate::input::window::reading;
use crate::input::{LINE_LIMIT, Place, Source};
use crate::progress::Progress;

/// A text of rows that can be read again.
#[derive(Debug)]
pub struct Rows {
    name: Arc<str>,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    File(Source),
    Copy(File),
}

/// Reads the rows from the first one on.
#[derive(Debug)]
pub struct RowReader {
    name: Arc<str>,
    lines: Lines,
}

impl Rows {
    /// Opens the rows that an argument names: a file, which may be compressed, or `-`.
    ///
    /// # Errors
    ///
    /// If there is nothing to read, or the copy fails.
    pub fn open(argument: &OsStr, temp_dir: Option<&Path>) -> anyhow::Result<Self> {
        let source = Source::new(argument);
        let name = source.name();
        if source.length()?.is_some() {
            return Ok(Self { name: name.into(), kept: Kept::File(source) });
        }
        let mut file = temporary(temp_dir).with_context(|| name.clone())?;
        let mut bytes = source.open(&Progress::hidden())?;
        io::copy(&mut bytes, &mut file)
            .map_err(|error| anyhow!("{name}: cannot copy it to a temporary file: {}", reading(&error)))?;
        Ok(Self { name: name.into(), kept: Kept::Copy(file) })
    }

    /// Starts reading at the first row. Only one reader may exist at a time.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened again.
    pub fn read(&self) -> anyhow::Result<RowReader> {
        let bytes = match &self.kept {
            Kept::File(source) => source.open(&Progress::hidden())?,
            Kept::Copy(file) => {
                let mut file = file.try_clone().with_context(|| self.name.to_string())?;
                file.seek(SeekFrom::Start(0)).with_context(|| self.name.to_string())?;
                Box::new(file)
            }
        };
        Ok(RowReader { name: Arc::clone(&self.name), lines: Lines::new(Window::new(bytes), LINE_LIMIT) })
    }
}

impl RowReader {
    /// Returns the next row, without its line end; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the row cannot be read, or is too long; the error names the place.
    pub fn next_row(&mut self) -> anyhow::Result<Option<&[u8]>> {
        match self.lines.next_record() {
            Ok(true) => Ok(Some(self.lines.line())),
            Ok(false) => Ok(None),
            Err(message) => Err(self.here().error(message)),
        }
    }

    /// Returns the place of the last row.
    #[must_use]
    pub fn here(&self) -> Place {
        Place { input: Arc::clone(&self.name), unit: "line", number: self.lines.number() }
    }
}

/// Creates an unnamed temporary file, which the system removes when it is closed.
///
/// # Errors
///
/// If the file cannot be created.
pub fn temporary(directory: Option<&Path>) -> anyhow::Result<File> {
    match directory {
        Some(path) => tempfile::tempfile_in(path).with_context(|| format!("--tmp-dir {}", path.display())),
        None => tempfile::tempfile().context("a temporary file; name a directory for it with --tmp-dir"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(rows: &Rows) -> Vec<(u64, String)> {
        let mut reader = rows.read().unwrap();
        let mut found = Vec::new();
        while let Some(row) = reader.next_row().unwrap() {
            let row = String::from_utf8(row.to_vec()).unwrap();
            found.push((reader.here().number, row));
        }
        found
    }

    #[test]
    fn files_and_copies_are_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let text = b"a\tb\r\n\n# remark\nc\td";
        let (plain, packed) = (dir.path().join("a.tsv"), dir.path().join("a.tsv.zst"));
        std::fs::write(&plain, text).unwrap();
        std::fs::write(&packed, zstd::encode_all(text.as_slice(), 1).unwrap()).unwrap();
        let mut copy = temporary(Some(dir.path())).unwrap();
        io::copy(&mut text.as_slice(), &mut copy).unwrap();
        let expected = [(1, "a\tb".to_owned()), (4, "c\td".to_owned())];
        for rows in [
            Rows::open(plain.as_ref(), None).unwrap(),
            Rows::open(packed.as_ref(), None).unwrap(),
            Rows { name: "copy".into(), kept: Kept::Copy(copy) },
        ] {
            assert_eq!(all(&rows), expected);
            assert_eq!(all(&rows), expected);
        }
        let error = format!("{:#}", Rows::open(dir.path().join("no").as_ref(), None).unwrap_err());
        assert!(error.contains("no: No such file"), "{error}");
        let error = format!("{:#}", temporary(Some(&dir.path().join("no"))).unwrap_err());
        assert!(error.starts_with("--tmp-dir "), "{error}");
    }
}
