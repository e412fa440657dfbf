//! What a write-ahead log holds.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Mention, Record};
use crate::format::Parameters;
use crate::manifest;
use crate::options::Options;
use crate::store::check_width;
use crate::wal::{self, LogReader, Tail};
use std::path::{Path, PathBuf};

/// A log that is open for reading.
#[derive(Debug)]
pub struct LogView {
    reader: LogReader,
}

/// A batch of writes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameView<F: Fingerprint = u64> {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its bytes, padding included.
    pub bytes: u64,
    /// Its sequence number.
    pub sequence: u64,
    /// What it says of records, in order: that they are there, or, if the flag is set, that they are not any more.
    pub operations: Vec<(Record<F>, bool)>,
}

/// The logs of a store in order, those included whose writes are in segments; or the log at a path.
///
/// # Errors
/// `NotFound`, `Io`.
pub fn logs(path: impl AsRef<Path>, options: &Options) -> Result<Vec<PathBuf>> {
    let path = path.as_ref();
    if options.env.list(path).is_err() {
        return Ok(vec![path.to_owned()]);
    }
    manifest::read_bytes(&*options.env, path)?;
    let numbers = wal::numbers_from(&*options.env, path, 0)?;
    Ok(numbers.into_iter().map(|number| path.join(wal::name(number))).collect())
}

impl LogView {
    /// Opens a log.
    ///
    /// # Errors
    /// `NotFound`; `Damaged` or `Unsupported` if its header is not one; `Io`.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Ok(Self { reader: LogReader::open_file(&*options.env, path.as_ref())? })
    }

    /// Those of its store.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.reader.header().parameters
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.reader.header().number
    }

    /// The sequence number of its first frame.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.reader.header().first
    }

    /// The next batch; none behind the last one that holds.
    ///
    /// # Errors
    /// `InvalidInput` if fingerprints have another width; `Damaged`, `Io`.
    pub fn next_frame<F: Fingerprint>(&mut self) -> Result<Option<FrameView<F>>> {
        check_width::<F>(self.parameters(), self.reader.path())?;
        let offset = self.reader.position();
        let Some((sequence, operations)) = self.reader.next_batch()? else { return Ok(None) };
        let operations = operations.into_iter().map(|Mention { record, removed }| (record, removed)).collect();
        Ok(Some(FrameView { offset, bytes: self.reader.position() - offset, sequence, operations }))
    }

    /// Bytes behind the last frame that holds which a crash has cut short: 0 if all is well. To be asked when there is no further
    /// frame.
    ///
    /// # Errors
    /// `Damaged` if they were durable once; `Io`.
    pub fn torn_bytes(&mut self) -> Result<u64> {
        Ok(match self.reader.tail()? {
            Tail::Clean => 0,
            Tail::Torn(bytes) => bytes,
        })
    }

    /// Where the last frame that was returned ends.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.reader.position()
    }
}

/// Whether a path names a log.
#[must_use]
pub fn is_log(path: &Path) -> bool {
    wal::is_log(path)
}

/// The error of a log that `explain` cannot go on in.
pub(super) fn no_frame(path: &Path, offset: u64) -> Error {
    Error::damaged("there is no frame that holds").at_path(path).at_offset(offset)
}
