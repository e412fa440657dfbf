//! Sorted runs in one temporary file.
//!
//! A run of items consists of blocks (`columns.rs`). In a run of records with texts, a record is a fingerprint, the
//! length of the text in four bytes, little-endian, and the text.

use crate::error::{Error, Result};
use crate::executor::{Executor, spawn};
use crate::extsort::memory::{Peak, length};
use crate::extsort::temporary_file::TemporaryFile;
use crate::extsort::workspace::Workspace;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Bytes that are written at once, where the memory allows for it.
const TRANSFER: u64 = 1 << 20;

pub(crate) fn transfer(memory: u64) -> u64 {
    TRANSFER.min(memory / 16)
}

#[derive(Debug)]
pub(crate) struct Runs {
    pub(crate) executor: Arc<Executor>,
    pub(crate) file: TemporaryFile,
    pub(crate) runs: Vec<Range<u64>>,
    pub(crate) records: u64,
    /// Whether equal items are all kept.
    pub(crate) keeps_equal: bool,
    /// Most records that were appended together.
    pub(crate) together: usize,
    pub(crate) peak: Peak,
}

/// Appends the records of one run, `transfer` bytes at once.
pub(crate) struct RunWriter {
    runs: Runs,
    bytes: Vec<u8>,
    transfer: usize,
}

impl RunWriter {
    /// Appends so many records, of which `encode` appends `length` bytes or fewer.
    #[inline]
    pub(crate) fn push(&mut self, records: usize, length: usize, encode: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        if self.bytes.len() + length > self.transfer && !self.bytes.is_empty() {
            self.flush()?;
        }
        encode(&mut self.bytes);
        self.runs.records += records as u64;
        self.runs.together = self.runs.together.max(records);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.runs.file.append(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// The runs of a sorter. A thread appends them, one at a time, while the caller fills the next buffer.
#[derive(Debug)]
pub(crate) struct Spills {
    state: State,
    pub(super) directory: PathBuf,
    transfer: u64,
}

#[derive(Debug)]
enum State {
    Idle(Runs),
    Busy(JoinHandle<Result<Runs>>),
    Failed,
}

impl Spills {
    /// No runs yet. The thread writes `transfer` bytes at once.
    pub(crate) fn new(workspace: &Workspace, transfer: u64) -> Self {
        let (executor, file) = (Arc::clone(&workspace.executor), TemporaryFile::new(workspace));
        let runs = Runs {
            executor,
            file,
            runs: Vec::new(),
            records: 0,
            keeps_equal: false,
            together: 0,
            peak: Peak::default(),
        };
        Self { state: State::Idle(runs), directory: workspace.directory.clone(), transfer }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.state, State::Idle(runs) if runs.runs.is_empty())
    }

    /// Starts to append the run that `write` pushes, once the run before is written.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut RunWriter) -> Result<()> + Send + 'static) -> Result<()> {
        let (mut runs, transfer) = (self.finish()?, length(self.transfer));
        self.state = State::Busy(spawn("fpstore spill", move || {
            let from = runs.file.length();
            let mut writer = RunWriter { runs, bytes: Vec::with_capacity(transfer), transfer };
            write(&mut writer)?;
            writer.flush()?;
            runs = writer.runs;
            runs.runs.push(from..runs.file.length());
            Ok(runs)
        })?);
        Ok(())
    }

    /// Waits until the thread has written the last run. Fails if it, or an earlier one, could not be written.
    pub(crate) fn wait(&mut self) -> Result<()> {
        self.state = State::Idle(self.finish()?);
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> Result<Runs> {
        match std::mem::replace(&mut self.state, State::Failed) {
            State::Idle(runs) => Ok(runs),
            State::Busy(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            State::Failed => {
                let error = io::Error::other("an earlier write has failed");
                Err(Error::temporary("cannot write temporary data to", &self.directory, error))
            }
        }
    }
}

impl Drop for Spills {
    /// Returns when the thread's memory is free.
    fn drop(&mut self) {
        let _ = self.finish();
    }
}
