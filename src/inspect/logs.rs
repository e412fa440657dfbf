//! The content of a write-ahead log.

use crate::error::{ErrorKind, Result};
use crate::fingerprint::{Fingerprint, Record, from_words};
use crate::format::Parameters;
use crate::options::Options;
use crate::version::{check_width, manifest};
pub use crate::wal::is_log;
use crate::wal::{self, LogReader};
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
    /// Its offset in the file.
    pub offset: u64,
    /// Its bytes, padding included.
    pub bytes: u64,
    /// Its sequence number.
    pub sequence: u64,
    /// Its entries in order: records, and whether each is a tombstone.
    pub operations: Vec<(Record<F>, bool)>,
}

/// The logs of a store in order, including those whose writes are in segments; or the log at a path.
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

    /// Opens a log that [`logs`] listed for a store; `None` if a writer has removed it since, because its writes are in
    /// segments now.
    ///
    /// # Errors
    /// Those of [`LogView::open`]; `NotFound` if the manifest still needs the log.
    pub fn open_listed(path: impl AsRef<Path>, options: &Options) -> Result<Option<Self>> {
        let path = path.as_ref();
        let error = match Self::open(path, options) {
            Err(error) if error.kind() == ErrorKind::NotFound => error,
            opened => return opened.map(Some),
        };
        let (Some(number), Some(store)) = (wal::number_at(path), path.parent()) else { return Err(error) };
        // A writer replaces the manifest before it removes logs.
        if number < manifest::read(&*options.env, store)?.first_log { Ok(None) } else { Err(error) }
    }

    /// The parameters of its store.
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

    /// The next batch; `None` after the last one that holds.
    ///
    /// # Errors
    /// `InvalidInput` if fingerprints have another width; `Damaged`, `Io`.
    pub fn next_frame<F: Fingerprint>(&mut self) -> Result<Option<FrameView<F>>> {
        check_width(self.parameters(), self.reader.path(), F::WIDTH)?;
        let offset = self.reader.position();
        let Some((sequence, operations)) = self.reader.next_batch()? else { return Ok(None) };
        let typed = |Record { fingerprint, id }| Record { fingerprint: from_words(fingerprint), id };
        let operations = operations.into_iter().map(|entry| (typed(entry.record), entry.is_tombstone)).collect();
        Ok(Some(FrameView { offset, bytes: self.reader.position() - offset, sequence, operations }))
    }

    /// Number of bytes after the last frame that holds: a frame that a crash has cut short. For use after the last
    /// frame.
    ///
    /// # Errors
    /// `Damaged` if they were durable; `Io`.
    pub fn torn_bytes(&mut self) -> Result<u64> {
        self.reader.torn_bytes()
    }

    /// The end of the last returned frame.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.reader.position()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, Memory};
    use crate::store::Store;
    use crate::wal::Durability;
    use std::sync::Arc;

    #[test]
    fn a_log_that_was_removed_after_listing_is_no_error() {
        let (memory, store) = (Memory::default(), Path::new("s"));
        let options = Options::new().with_env(Arc::new(memory.clone()));
        let open = Store::<u64>::create(store, &Parameters::new(3), &options).unwrap();
        open.insert(1, 1, Durability::SyncData).unwrap();
        let listed = logs(store, &options).unwrap();
        let [log] = listed.as_slice() else { panic!("{listed:?}") };
        assert!(LogView::open_listed(log, &options).unwrap().is_some());
        // The manifest still needs it.
        let bytes = memory.bytes(log).unwrap();
        memory.remove(log).unwrap();
        assert_eq!(LogView::open_listed(log, &options).unwrap_err().kind(), ErrorKind::NotFound);
        memory.set_bytes(log, bytes);
        open.flush().unwrap();
        assert!(memory.bytes(log).is_none(), "the writer has removed it");
        assert!(LogView::open_listed(log, &options).unwrap().is_none());
        assert_eq!(LogView::open(log, &options).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
