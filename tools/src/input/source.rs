//! Where bytes of input come from: a file or standard input, decompressed by the ending of the name.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use flate2::read::MultiGzDecoder;

use super::Compression;
use crate::progress::Progress;

/// Buffer in front of a decompressor.
const BUFFER: usize = 128 << 10;

/// One input as named on the command line: `-` is standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Standard,
    /// A file, or whatever else the path names.
    File(PathBuf),
}

impl Source {
    /// What an argument names.
    #[must_use]
    pub fn new(argument: &OsStr) -> Self {
        if argument == "-" { Self::Standard } else { Self::File(argument.into()) }
    }

    /// How messages name it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Standard => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Its length in bytes as stored, if it is an ordinary file; an error if there is nothing that could be read.
    ///
    /// # Errors
    ///
    /// When the path cannot be looked at or is a directory.
    pub fn length(&self) -> anyhow::Result<Option<u64>> {
        let Self::File(path) = self else { return Ok(None) };
        let metadata = path.metadata().with_context(|| self.name())?;
        if metadata.is_dir() {
            bail!("{} is a directory; an input is a file or - for standard input", self.name());
        }
        Ok(metadata.is_file().then_some(metadata.len()))
    }

    /// The length of what is read from it, if it is an ordinary file that is not compressed.
    ///
    /// # Errors
    ///
    /// As [`Source::length`].
    pub fn plain_length(&self) -> anyhow::Result<Option<u64>> {
        match self {
            Self::File(path) if Compression::of(path) == Compression::None => self.length(),
            _ => Ok(None),
        }
    }

    /// Opens it. What is read from the file counts as progress.
    pub(crate) fn open(&self, progress: &Progress) -> anyhow::Result<Box<dyn Read + Send>> {
        match self {
            Self::Standard => Ok(Box::new(progress.count(io::stdin()))),
            Self::File(path) => {
                self.length()?;
                let file = File::open(path).with_context(|| self.name())?;
                decompressed(progress.count(file), path).with_context(|| self.name())
            }
        }
    }
}

/// What the bytes of a compressed file stand for.
fn decompressed(file: impl Read + Send + 'static, path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let compression = Compression::of(path);
    if compression == Compression::None {
        return Ok(Box::new(file));
    }
    let mut file = BufReader::with_capacity(BUFFER, file);
    // A decompressor takes an empty file for an empty stream; it is a file that somebody cut.
    if io::BufRead::fill_buf(&mut file)?.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the compressed file is empty"));
    }
    Ok(match compression {
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
        _ => Box::new(MultiGzDecoder::new(file)),
    })
}
