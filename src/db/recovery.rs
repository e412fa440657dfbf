//! From the logs back to memtables.
//!
//! Every batch that was ever promised is read, whole, or it is an error; batches that a crash has cut short are left out and
//! told. Writes nothing. Specified in format-spec/store.md, Contents and What a crash may leave.

use crate::db::version_set::Sealed;
use crate::error::{Error, Result};
use crate::fingerprint::{Entry, Id, IdAssignment, Words};
use crate::format::log::damaged_log;
use crate::format::manifest::{MOST_NUMBER, ManifestData};
use crate::memtable::Memtable;
use crate::version::StoreContext;
use crate::wal::{self, LogReader, Tail};
use std::path::PathBuf;
use std::sync::Arc;

/// What is wrong with a frame that holds, but whose number or counts would come to a run that cannot be.
const NEVER_REACHED: &str = "a sequence number, or counts of records, that no store reaches";

/// What opening a store has found in its logs: writes that were in no segment yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Logs.
    pub logs: u64,
    /// Batches of writes in them that no segment has.
    pub batches: u64,
    /// What these say of records.
    pub operations: u64,
    /// Logs that end with writes that were cut short by a crash. Nobody was promised them, and they are left out.
    pub torn: Vec<TornLog>,
}

/// A log that ends with writes that were cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TornLog {
    /// The log.
    pub path: PathBuf,
    /// Where what holds ends.
    pub offset: u64,
    /// Bytes behind that which do not.
    pub bytes: u64,
}

/// Writes that were read from logs, and where the next ones go.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) sealed: Vec<Sealed>,
    /// The last memtable, which is not full.
    pub(crate) active: Option<Arc<Memtable>>,
    pub(crate) active_first: u64,
    /// Bytes of the active memtable's writes in logs.
    pub(crate) log_bytes: u64,
    pub(crate) next_sequence: u64,
    pub(crate) next_id: u64,
    /// What all counts add up to, those of tombstones too.
    counted: u64,
    /// The logs' numbers, and where their frames end.
    pub(crate) logs: Vec<(u64, u64)>,
    /// Bytes of their files.
    pub(crate) file_bytes: u64,
    pub(crate) next_log: u64,
    pub(crate) found: Recovery,
    /// The last log, for who reads on when there is more.
    pub(crate) last: Option<LogReader>,
}

impl Recovered {
    /// Reads all logs that a manifest leaves to be read. Changes nothing.
    ///
    /// # Errors
    /// `Damaged` if writes are missing that were durable once; `Unsupported`, `Io`.
    pub(crate) fn read(context: &StoreContext, manifest: &ManifestData) -> Result<Self> {
        let logs = logs_of(context, manifest)?;
        let mut recovered = Self::new(manifest, &logs);
        for number in logs {
            recovered.read_log(context, manifest, number)?;
        }
        Ok(recovered)
    }

    /// Nothing so far of the logs with these numbers.
    pub(crate) fn new(manifest: &ManifestData, logs: &[u64]) -> Self {
        Self {
            sealed: Vec::new(),
            active: None,
            active_first: manifest.flushed + 1,
            log_bytes: 0,
            next_sequence: manifest.flushed + 1,
            next_id: manifest.next_id,
            counted: 0,
            next_log: logs.last().map_or(manifest.first_log, |last| last.saturating_add(1)),
            logs: Vec::with_capacity(logs.len()),
            file_bytes: 0,
            found: Recovery { logs: logs.len() as u64, ..Recovery::default() },
            last: None,
        }
    }

    fn read_log(&mut self, context: &StoreContext, manifest: &ManifestData, number: u64) -> Result<()> {
        let mut reader = LogReader::open(&**context.env(), &context.path, number)?;
        if reader.header().parameters != context.parameters {
            return Err(Error::damaged("the log is that of another store").at_path(reader.path()));
        }
        self.file_bytes += reader.length();
        let first = reader.header().first;
        let follows = match &self.last {
            None => first <= self.next_sequence,
            // Of a log that a crash has cut short, segments may have what is missing.
            Some(before) => (before.next_sequence()..=self.next_sequence).contains(&first),
        };
        if !follows {
            let message = format!("writes are missing in front of number {first}");
            return Err(damaged_log(&message).at_path(reader.path()));
        }
        self.read_on(context, manifest, &mut reader)?;
        if let Tail::Torn(bytes) = reader.tail()? {
            self.found.torn.push(TornLog { path: reader.path().to_owned(), offset: reader.position(), bytes });
        }
        self.logs.push((number, reader.position()));
        self.last = Some(reader);
        Ok(())
    }

    /// Takes all further batches of a log.
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
                let taken = self.take(context, manifest, (reader.header().number, sequence, bytes), &operations);
                taken.map_err(|error| error.at_path(reader.path()).at_offset(begin))?;
            }
        }
    }

    /// Takes a batch: the number of its log, its sequence number, its bytes there, and what it says.
    ///
    /// # Errors
    /// `Damaged` if no store reaches its number or its counts, and then nothing is taken; `Io`.
    pub(crate) fn take(
        &mut self,
        context: &StoreContext,
        manifest: &ManifestData,
        (log, sequence, bytes): (u64, u64, u64),
        operations: &[Entry<Words>],
    ) -> Result<()> {
        let counted = counted_after(self.counted, operations).filter(|_| sequence <= MOST_NUMBER);
        self.counted = counted.ok_or_else(|| damaged_log(NEVER_REACHED))?;
        let memtable = match self.active.take() {
            Some(memtable) if memtable.has_room(operations) => memtable,
            full => {
                self.sealed.extend(full.map(|memtable| Sealed {
                    memtable,
                    first: self.active_first,
                    last: sequence - 1,
                    next_log: log,
                    next_id: self.next_id,
                    log_bytes: std::mem::take(&mut self.log_bytes),
                }));
                self.active_first = sequence;
                Arc::new(Memtable::new(&context.shape, operations.len())?)
            }
        };
        memtable.write(operations)?;
        self.next_id = next_id_after(self.next_id, manifest, operations);
        self.active = Some(memtable);
        self.log_bytes += bytes;
        self.next_sequence = sequence + 1;
        self.found.batches += 1;
        self.found.operations += operations.len() as u64;
        Ok(())
    }
}

/// The next number for a record without an id behind these operations, if it was `next` before them.
fn next_id_after(next: u64, manifest: &ManifestData, operations: &[Entry<Words>]) -> u64 {
    if manifest.id_assignment != IdAssignment::Auto {
        return next;
    }
    let numbers = operations.iter().filter_map(|operation| operation.record.id.number());
    numbers.fold(next, |next, number| next.max(number.saturating_add(1)))
}

/// What all counts add up to behind these operations, if it was `sum` before them; none if that is more than any store has.
fn counted_after(sum: u64, operations: &[Entry<Words>]) -> Option<u64> {
    let counts = operations.iter().filter_map(|operation| match operation.record.id {
        Id::Count(count) => Some(count),
        _ => None,
    });
    counts.into_iter().try_fold(sum, u64::checked_add).filter(|&sum| sum <= MOST_NUMBER)
}

/// The numbers of the logs that have to be read: from the first one that the manifest names on, none missing.
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
