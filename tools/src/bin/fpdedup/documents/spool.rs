//! Intermediate files with an entry for each document, in the order of the input.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

const BUFFER: usize = 1 << 18;

/// Result of hashing a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hashed<'a> {
    /// What documents are compared by (`maker.rs`).
    Made(&'a [u8]),
    /// It has too few features.
    Without,
    /// It cannot be read, and is not written.
    LeftOut,
}

const WITHOUT: u8 = 0;
const MADE: u8 = 1;
const LEFT_OUT: u8 = 2;

/// Appends to a file.
pub(super) struct Appender {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Appender {
    /// Opens a file, cut to its first `length` bytes.
    pub(super) fn open(path: PathBuf, length: u64) -> anyhow::Result<Self> {
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().with_context(|| path.display().to_string())?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER, file), path })
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file.write_all(bytes).with_context(|| self.path.display().to_string())
    }

    /// Makes all entries durable.
    pub(super) fn sync(&mut self) -> anyhow::Result<()> {
        self.file
            .flush()
            .and_then(|()| self.file.get_ref().sync_data())
            .with_context(|| self.path.display().to_string())
    }
}

/// Appends an entry; what was made has `length` bytes.
pub(super) fn push(file: &mut Appender, hashed: Hashed<'_>, length: usize) -> anyhow::Result<()> {
    let (kind, bytes) = match hashed {
        Hashed::Made(bytes) => (MADE, bytes),
        Hashed::Without => (WITHOUT, &[][..]),
        Hashed::LeftOut => (LEFT_OUT, &[][..]),
    };
    file.append(&[kind])?;
    file.append(bytes)?;
    file.append(&vec![0; length - bytes.len()])
}

/// Reads the entries of documents.
pub(super) struct Entries {
    path: PathBuf,
    file: BufReader<File>,
    made: Vec<u8>,
}

impl Entries {
    /// Opens a file of entries in which what was made has `length` bytes.
    pub(super) fn open(path: &Path, length: usize) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| path.display().to_string())?;
        Ok(Self { path: path.to_owned(), file: BufReader::with_capacity(BUFFER, file), made: vec![0; length] })
    }

    /// Returns the next entry; an error at the end.
    pub(super) fn next(&mut self) -> anyhow::Result<Hashed<'_>> {
        let mut kind = [0];
        self.file
            .read_exact(&mut kind)
            .and_then(|()| self.file.read_exact(&mut self.made))
            .with_context(|| self.path.display().to_string())?;
        Ok(match kind {
            [MADE] => Hashed::Made(&self.made),
            [WITHOUT] => Hashed::Without,
            _ => Hashed::LeftOut,
        })
    }
}
