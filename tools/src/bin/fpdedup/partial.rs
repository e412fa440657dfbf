//! Pairs of an unfinished run, kept in `--tmp-dir` until all are found, so that a run that was stopped or killed can
//! continue.
//!
//! There are two files, named after the work: the rows so far, and a line with the number of bytes and rows of complete
//! phases and the next phase. The line is replaced atomically after each phase.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpstore_tools::output::Output;

/// Bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// The rows so far.
pub(crate) struct Partial {
    rows: File,
    rows_path: PathBuf,
    state_path: PathBuf,
    state: State,
}

/// The complete part of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// The next phase.
    pub(crate) phase: u32,
    /// Number of rows of the phases before it.
    pub(crate) rows: u64,
    bytes: u64,
}

impl State {
    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        let (phase, rows, bytes) = (u32::try_from(next()?).ok()?, next()?, next()?);
        // A line feed follows the last number, unless the line was cut.
        (text.ends_with('\n') && next().is_none()).then_some(Self { phase, rows, bytes })
    }

    fn line(self) -> String {
        format!("{} {} {}\n", self.phase, self.rows, self.bytes)
    }
}

impl Partial {
    /// Continues with the files that an earlier run of the same work left in the directory, or creates them.
    pub(crate) fn open(directory: &Path, about: u64) -> anyhow::Result<Self> {
        let rows_path = directory.join(format!("fpdedup-{about:016x}.rows"));
        let state_path = directory.join(format!("fpdedup-{about:016x}.phase"));
        let open = || -> io::Result<(File, State)> {
            let rows = OpenOptions::new().read(true).append(true).create(true).open(&rows_path)?;
            rows.try_lock().map_err(|error| match error {
                TryLockError::WouldBlock => io::Error::other("another process does the same work in this directory"),
                TryLockError::Error(error) => error,
            })?;
            let state = fs::read_to_string(&state_path).ok().and_then(|text| State::read(&text));
            let length = rows.metadata()?.len();
            let state = state.filter(|state| state.bytes <= length).unwrap_or_default();
            rows.set_len(state.bytes)?;
            Ok((rows, state))
        };
        let (rows, state) = open().with_context(|| rows_path.display().to_string())?;
        Ok(Self { rows, rows_path, state_path, state })
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    pub(crate) fn write(&mut self, text: &[u8], rows: u64) -> anyhow::Result<()> {
        self.rows.write_all(text).with_context(|| self.rows_path.display().to_string())?;
        self.state.bytes += text.len() as u64;
        self.state.rows += rows;
        Ok(())
    }

    /// Makes all rows so far durable.
    pub(crate) fn before_phase(&mut self, phase: u32) -> anyhow::Result<()> {
        self.state.phase = phase;
        let keep = || -> io::Result<()> {
            self.rows.sync_data()?;
            let fresh = self.state_path.with_extension("phase.tmp");
            let mut file = File::create(&fresh)?;
            file.write_all(self.state.line().as_bytes())?;
            file.sync_data()?;
            fs::rename(fresh, &self.state_path)
        };
        keep().with_context(|| self.state_path.display().to_string())
    }

    /// Copies all rows to the output.
    pub(crate) fn copy(&self, output: &mut Output) -> anyhow::Result<()> {
        let named = || self.rows_path.display().to_string();
        let mut rows = File::open(&self.rows_path).with_context(named)?.take(self.state.bytes);
        let mut piece = vec![0; PIECE];
        loop {
            match rows.read(&mut piece).with_context(named)? {
                0 => return Ok(()),
                count => output.write_text(piece.get(..count).unwrap_or_default())?,
            }
        }
    }

    /// Removes both files after the output is complete. A file that cannot be removed does no harm.
    pub(crate) fn remove(self) {
        let _ = fs::remove_file(&self.state_path);
        let _ = fs::remove_file(&self.rows_path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_after_the_last_whole_phase() {
        let directory = tempfile::tempdir().unwrap();
        let open = || Partial::open(directory.path(), 7).unwrap();
        let mut partial = open();
        assert_eq!(partial.state(), State::default());
        partial.write(b"one\n", 1).unwrap();
        partial.before_phase(1).unwrap();
        partial.write(b"half of tw", 0).unwrap();
        drop(partial);
        let mut partial = open();
        assert_eq!(partial.state(), State { phase: 1, rows: 1, bytes: 4 });
        // Only one run at a time.
        let error = format!("{:#}", Partial::open(directory.path(), 7).map(drop).unwrap_err());
        assert!(error.contains("another process"), "{error}");
        partial.write(b"two\n", 1).unwrap();
        partial.before_phase(2).unwrap();
        assert_eq!(fs::read(&partial.rows_path).unwrap(), b"one\ntwo\n");
        // Missing rows, or an incomplete line: the run starts again.
        partial.rows.set_len(5).unwrap();
        let state_path = partial.state_path.clone();
        drop(partial);
        assert_eq!(open().state(), State::default());
        fs::write(state_path, "1 1").unwrap();
        assert_eq!(open().state(), State::default());
        open().remove();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
