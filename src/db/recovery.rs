//! Reads the logs into memtables, without writing.
//!
//! A missing or damaged batch that was durable is an error. Recovery leaves out and reports a torn tail. Specified in
//! format-spec/store.md, Contents and What a crash may leave.

use crate::db::version_set::Sealed;
use crate::db::writer::Writer;
use crate::error::{Error, Result};
use crate::fingerprint::{Entry, Id, IdAssignment, Words};
use crate::format::log::damaged_log;
use crate::format::manifest::{MOST_NUMBER, ManifestData};
use crate::memtable::Memtable;
use crate::version::StoreContext;
use crate::wal::{self, LogReader};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

const NEVER_REACHED: &str = "a sequence number, or counts of records, that no store reaches";

/// The writes that opening a store has found in its logs and in no segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Number of logs.
    pub logs: u64,
    /// Number of batches of writes that are in no segment.
    pub batches: u64,
    /// Number of operations in these batches.
    pub operations: u64,
    /// Logs that end with unfinished writes, which a crash has cut short. None of them was acknowledged; they are left
    /// out.
    pub torn: Vec<TornLog>,
}

/// A log that ends with unfinished writes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TornLog {
    /// The log.
    pub path: PathBuf,
    /// The end of the frames that hold.
    pub offset: u64,
    /// Number of bytes after `offset`.
    pub bytes: u64,
}

impl TornLog {
    /// The torn tail of a log whose frames were read; `None` if it has none.
    pub(crate) fn of(reader: &mut LogReader) -> Result<Option<Self>> {
        let bytes = reader.torn_bytes()?;
        Ok((bytes > 0).then(|| Self { path: reader.path().to_owned(), offset: reader.position(), bytes }))
    }
}

/// The writes of the logs.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) sealed: VecDeque<Sealed>,
    /// The last memtable.
    pub(crate) active: Option<Arc<Memtable>>,
    /// The state of a writer that continues.
    pub(crate) writer: Writer,
    /// The sum of all counts, including those of tombstones.
    counted: u64,
    pub(crate) file_bytes: u64,
    pub(crate) found: Recovery,
    /// The last log, for a follower.
    pub(crate) last: Option<LogReader>,
}

impl Recovered {
    /// Reads all logs that the manifest needs. Fails with `Damaged` if durable writes are missing.
    pub(crate) fn read(context: &StoreContext, manifest: &ManifestData) -> Result<Self> {
        let logs = logs_of(context, manifest)?;
        let mut recovered = Self::new(manifest, &logs);
        for number in logs {
            recovered.read_log(context, manifest, number)?;
        }
        Ok(recovered)
    }

    pub(crate) fn new(manifest: &ManifestData, logs: &[u64]) -> Self {
        let writer = Writer {
            next_log: logs.last().map_or(manifest.first_log, |last| last.saturating_add(1)),
            next_sequence: manifest.flushed + 1,
            active_first: manifest.flushed + 1,
            id_assignment: manifest.id_assignment,
            is_assignment_kept: true,
            next_id: manifest.next_id,
            ..Writer::default()
        };
        let found = Recovery { logs: logs.len() as u64, ..Recovery::default() };
        Self { sealed: VecDeque::new(), active: None, writer, counted: 0, file_bytes: 0, found, last: None }
    }

    fn read_log(&mut self, context: &StoreContext, manifest: &ManifestData, number: u64) -> Result<()> {
        let mut reader = LogReader::open(&**context.env(), &context.path, number)?;
        if reader.header().parameters != context.parameters {
            return Err(Error::damaged("the log is that of another store").at_path(reader.path()));
        }
        self.file_bytes += reader.length();
        let first = reader.header().first;
        let follows = match &self.last {
            None => first <= self.writer.next_sequence,
            // Segments may have the missing end of a log that a crash has cut short.
            Some(before) => (before.next_sequence()..=self.writer.next_sequence).contains(&first),
        };
        if !follows {
            let message = format!("writes are missing in front of number {first}");
            return Err(damaged_log(&message).at_path(reader.path()));
        }
        self.read_on(context, manifest, &mut reader)?;
        self.found.torn.extend(TornLog::of(&mut reader)?);
        self.writer.unsynced.push((number, reader.position()));
        self.last = Some(reader);
        Ok(())
    }

    pub(crate) fn read_on(
        &mut self,
        context: &StoreContext,
        manifest: &ManifestData,
        reader: &mut LogReader,
    ) -> Result<()> {
        loop {
            let begin = reader.position();
            let Some((sequence, operations)) = reader.next_batch()? else { return Ok(()) };
            if sequence > manifest.flushed {
                let bytes = reader.position() - begin;
                let taken = self.take(context, (reader.header().number, sequence, bytes), &operations);
                taken.map_err(|error| error.at_path(reader.path()).at_offset(begin))?;
            }
        }
    }

    /// Adds a batch of `bytes` in a log. Fails with `Damaged`, and adds nothing, if no store reaches its sequence
    /// number or counts.
    pub(crate) fn take(
        &mut self,
        context: &StoreContext,
        (log, sequence, bytes): (u64, u64, u64),
        operations: &[Entry<Words>],
    ) -> Result<()> {
        let counts = operations.iter().filter_map(|operation| match operation.record.id {
            Id::Count(count) => Some(count),
            _ => None,
        });
        let counted = counts.into_iter().try_fold(self.counted, u64::checked_add);
        let counted = counted.filter(|&counted| counted <= MOST_NUMBER && sequence <= MOST_NUMBER);
        self.counted = counted.ok_or_else(|| damaged_log(NEVER_REACHED))?;
        let writer = &mut self.writer;
        let memtable = match self.active.take() {
            Some(memtable) if memtable.has_space(operations) => memtable,
            full => {
                self.sealed.extend(full.map(|memtable| Sealed {
                    memtable,
                    first: writer.active_first,
                    last: sequence - 1,
                    next_log: log,
                    next_id: writer.next_id,
                    log_bytes: std::mem::take(&mut writer.log_bytes),
                }));
                writer.active_first = sequence;
                Arc::new(Memtable::new(&context.shape, operations.len())?)
            }
        };
        memtable.write(operations)?;
        if writer.id_assignment == IdAssignment::Auto {
            let numbers = operations.iter().filter_map(|operation| operation.record.id.number());
            writer.next_id = numbers.fold(writer.next_id, |next, number| next.max(number.saturating_add(1)));
        }
        self.active = Some(memtable);
        writer.log_bytes += bytes;
        writer.next_sequence = sequence + 1;
        self.found.batches += 1;
        self.found.operations += operations.len() as u64;
        Ok(())
    }
}

/// The numbers of the logs from the first one that the manifest names on. None may be missing.
fn logs_of(context: &StoreContext, manifest: &ManifestData) -> Result<Vec<u64>> {
    let logs = wal::numbers_from(&**context.env(), &context.path, manifest.first_log)?;
    for (&found, expected) in logs.iter().zip(manifest.first_log..) {
        if found != expected {
            let missing = context.path.join(wal::name(expected));
            return Err(damaged_log("a log is missing").at_path(&missing));
        }
    }
    Ok(logs)
}
