//! The bytes of a Parquet file, at any place, and how far the reading of them has come.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::Context;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::input::Source;
use crate::input::source::Opened;
use crate::input::window::reading;
use crate::progress::{Counted, Progress};

/// A file that can be read at any place.
#[derive(Debug)]
pub(super) struct ParquetFile {
    file: File,
    length: u64,
    progress: Progress,
    /// Bytes of the longest piece that was read at once: a page, as it is stored.
    longest: Arc<AtomicU64>,
}

impl ParquetFile {
    /// Opens the file itself, or copies to a temporary one what cannot be read at any place.
    pub(super) fn open(
        source: &Source,
        Opened { window, plain }: Opened,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        if let Some(path) = plain {
            let file = File::open(path).with_context(|| source.name())?;
            let length = file.metadata().with_context(|| source.name())?.len();
            return Ok(Self { file, length, progress: progress.clone(), longest: Arc::default() });
        }
        let mut bytes = window.into_read();
        let mut file = match temp_dir {
            Some(dir) => tempfile::tempfile_in(dir),
            None => tempfile::tempfile(),
        }
        .with_context(|| format!("{}: a temporary file for it", source.name()))?;
        let length = io::copy(&mut bytes, &mut file).map_err(|error| {
            anyhow::anyhow!("{}: cannot copy it to a temporary file: {}", source.name(), reading(&error))
        })?;
        // It has been counted.
        Ok(Self { file, length, progress: Progress::hidden(), longest: Arc::default() })
    }

    /// Counts the longest piece that is read from now on.
    pub(super) fn watch(&mut self) -> Arc<AtomicU64> {
        self.longest = Arc::default();
        Arc::clone(&self.longest)
    }

    /// The file from an offset on.
    fn at(&self, start: u64) -> Result<Counted<File>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(self.progress.count(file))
    }
}

impl Length for ParquetFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for ParquetFile {
    type T = BufReader<Counted<File>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // What a damaged file says of its lengths is not yet a reason to ask for more memory than the file has bytes. Exactly
        // as much as it takes: pages may be large.
        self.longest.fetch_max(length as u64, Relaxed);
        let rest = usize::try_from(self.length.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(length.min(rest));
        self.at(start)?.take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() == length {
            Ok(bytes.into())
        } else {
            Err(ParquetError::EOF(format!("expected {length} bytes at {start}, found {}", bytes.len())))
        }
    }
}
