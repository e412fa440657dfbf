//! Random access to the bytes of a Parquet file, with progress.

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

/// A file with random access.
#[derive(Debug)]
pub(super) struct ParquetFile {
    file: File,
    length: u64,
    progress: Progress,
    /// Bytes of the longest piece read at once: a stored page.
    longest: Arc<AtomicU64>,
}

impl ParquetFile {
    /// Opens the file itself, or copies an input without random access to a temporary file.
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
        // The copy counted as progress already.
        Ok(Self { file, length, progress: Progress::hidden(), longest: Arc::default() })
    }

    /// Starts counting the longest piece anew.
    pub(super) fn watch(&mut self) -> Arc<AtomicU64> {
        self.longest = Arc::default();
        Arc::clone(&self.longest)
    }

    /// Returns the file from an offset on.
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
        // A damaged file may claim any length, so the buffer is never larger than the rest of the file. It is exact,
        // because pages may be large.
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
