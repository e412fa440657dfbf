//! Where bytes of input come from: a file or standard input, decompressed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::compression::decompressed;
use super::window::Window;
use super::{Compression, ToldBy};
use crate::notice;
use crate::progress::Progress;

/// One input as named on the command line: `-` is standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Standard,
    /// A file, or whatever else the path names.
    File(PathBuf),
}

/// The bytes of an open input, decompressed.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) window: Window,
    /// The ordinary file that holds them as they are, so that they can be read at any place.
    pub(crate) plain: Option<PathBuf>,
}

impl Source {
    /// What an argument names.
    #[must_use]
    pub fn new(argument: &OsStr) -> Self {
        let standard = ["-", "/dev/stdin", "/dev/fd/0"].iter().any(|name| argument == *name);
        if standard { Self::Standard } else { Self::File(argument.into()) }
    }

    /// How messages name it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Standard => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Its path, unless it is standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Standard => None,
            Self::File(path) => Some(path),
        }
    }

    /// Whether it is a stream, which can be read only once: standard input, an open file by its number, a pipe, a device.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        let Self::File(path) = self else { return true };
        let open = ["/dev/fd", "/proc"].iter().any(|directory| path.starts_with(directory));
        open || path.metadata().is_ok_and(|metadata| !metadata.is_file())
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
    /// As [`Source::length`], and when it cannot be opened.
    pub fn plain_length(&self, by: ToldBy) -> anyhow::Result<Option<u64>> {
        match self.length()? {
            Some(length) if self.decompressed(&Progress::hidden(), by)?.0 == Compression::None => Ok(Some(length)),
            _ => Ok(None),
        }
    }

    /// Opens it. What is read from the file counts as progress.
    pub(crate) fn open(&self, progress: &Progress) -> anyhow::Result<Box<dyn Read + Send>> {
        Ok(self.decompressed(progress, ToldBy::Content)?.1)
    }

    /// Opens it, so that it can be looked at before it is known what it holds.
    pub(crate) fn bytes(&self, progress: &Progress, by: ToldBy) -> anyhow::Result<Opened> {
        let (compression, stream) = self.decompressed(progress, by)?;
        let plain = (compression == Compression::None && !self.is_stream()).then(|| self.path().map(Path::to_owned));
        Ok(Opened { window: Window::new(stream), plain: plain.flatten() })
    }

    fn decompressed(&self, progress: &Progress, by: ToldBy) -> anyhow::Result<(Compression, Box<dyn Read + Send>)> {
        match self {
            Self::Standard => decompressed(progress.count(io::stdin()), Compression::None, by),
            Self::File(path) => {
                self.length()?;
                let file = File::open(path).with_context(|| self.name())?;
                decompressed(progress.count(file), Compression::of(path), by)
            }
        }
        .with_context(|| self.name())
    }

    /// Says what is waited for if it is typed.
    pub(crate) fn hint(&self, what: &str) {
        if *self == Self::Standard && io::stdin().is_terminal() {
            notice::say(format_args!("reading {what} from the terminal; end with Ctrl-D"));
        }
    }
}
