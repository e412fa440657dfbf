//! Opens and decompresses files and standard input.

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
    /// A file, or any other object at the path.
    File(PathBuf),
}

/// The bytes of an open input, decompressed.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) window: Window,
    /// The regular file, if the bytes are stored uncompressed, for reads at any offset.
    pub(crate) plain: Option<PathBuf>,
}

impl Source {
    /// Returns the source that an argument names.
    #[must_use]
    pub fn new(argument: &OsStr) -> Self {
        let standard = ["-", "/dev/stdin", "/dev/fd/0"].iter().any(|name| argument == *name);
        if standard { Self::Standard } else { Self::File(argument.into()) }
    }

    /// Name for messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Standard => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Path of the file; `None` for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Standard => None,
            Self::File(path) => Some(path),
        }
    }

    /// Whether it can be read only once: standard input, a numbered open file, a pipe, a device.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        let Self::File(path) = self else { return true };
        let open = ["/dev/fd", "/proc"].iter().any(|directory| path.starts_with(directory));
        open || path.metadata().is_ok_and(|metadata| !metadata.is_file())
    }

    /// Stored length in bytes, if it is a regular file.
    ///
    /// # Errors
    ///
    /// If the path cannot be examined or is a directory.
    pub fn length(&self) -> anyhow::Result<Option<u64>> {
        let Self::File(path) = self else { return Ok(None) };
        let metadata = path.metadata().with_context(|| self.name())?;
        if metadata.is_dir() {
            bail!("{} is a directory; an input is a file or - for standard input", self.name());
        }
        Ok(metadata.is_file().then_some(metadata.len()))
    }

    /// Length of the content, if it is a regular file and not compressed.
    ///
    /// # Errors
    ///
    /// Errors of [`Source::length`], and of opening it.
    pub fn plain_length(&self, by: ToldBy) -> anyhow::Result<Option<u64>> {
        match self.length()? {
            Some(length) if self.decompressed(&Progress::hidden(), by)?.0 == Compression::None => Ok(Some(length)),
            _ => Ok(None),
        }
    }

    /// Opens it; bytes read from the file count as progress.
    pub(crate) fn open(&self, progress: &Progress) -> anyhow::Result<Box<dyn Read + Send>> {
        Ok(self.decompressed(progress, ToldBy::Content)?.1)
    }

    /// Opens it, so that its content can be examined first.
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

    /// Tells a user at a terminal what to type.
    pub(crate) fn hint(&self, what: &str) {
        if *self == Self::Standard && io::stdin().is_terminal() {
            notice::say(format_args!("reading {what} from the terminal; end with Ctrl-D"));
        }
    }
}
