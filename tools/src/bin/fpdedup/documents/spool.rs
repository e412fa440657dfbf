//! Intermediate files with an entry for each document, in the order of the input.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpstore::Fingerprint;

const BUFFER: usize = 1 << 18;

/// Result of hashing a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hashed<F> {
    Fingerprint(F),
    /// It has too few features.
    Without,
    /// It cannot be read, and is not written.
    LeftOut,
}

const WITHOUT: u8 = 0;
const FINGERPRINT: u8 = 1;
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

/// Bytes of an entry of fingerprints: what is known, and the fingerprint.
pub(super) const fn entry<F: Fingerprint>() -> u64 {
    1 + 8 * F::WORDS as u64
}

/// Appends an entry.
pub(super) fn push<F: Fingerprint>(file: &mut Appender, hashed: Hashed<F>) -> anyhow::Result<()> {
    let (kind, fingerprint) = match hashed {
        Hashed::Fingerprint(fingerprint) => (FINGERPRINT, fingerprint),
        Hashed::Without => (WITHOUT, F::from_words(|_| 0)),
        Hashed::LeftOut => (LEFT_OUT, F::from_words(|_| 0)),
    };
    file.append(&[kind])?;
    (0..F::WORDS).try_for_each(|word| file.append(&fingerprint.word(word).to_le_bytes()))
}

/// Reads the entries of fingerprints.
pub(super) struct Entries {
    path: PathBuf,
    file: BufReader<File>,
}

impl Entries {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| path.display().to_string())?;
        Ok(Self { path: path.to_owned(), file: BufReader::with_capacity(BUFFER, file) })
    }

    /// Returns the next entry; an error at the end.
    pub(super) fn next<F: Fingerprint>(&mut self) -> anyhow::Result<Hashed<F>> {
        let mut kind = [0];
        let mut words = [[0; 8]; 4];
        let bytes = words.get_mut(..F::WORDS).unwrap_or_default().as_flattened_mut();
        self.file
            .read_exact(&mut kind)
            .and_then(|()| self.file.read_exact(bytes))
            .with_context(|| self.path.display().to_string())?;
        Ok(match kind {
            [FINGERPRINT] => {
                let word = |word: usize| words.get(word).map_or(0, |bytes| u64::from_le_bytes(*bytes));
                Hashed::Fingerprint(F::from_words(word))
            }
            [WITHOUT] => Hashed::Without,
            _ => Hashed::LeftOut,
        })
    }
}
