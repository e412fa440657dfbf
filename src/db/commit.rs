//! Appends batches to the log, writes them to the memtable, and seals full memtables.

use crate::db::store_inner::StoreInner;
use crate::db::version_set::{Sealed, VersionSet};
use crate::db::writer::{MOST_SEALED, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{Entry, IdAssignment, Words};
use crate::format::log::{LogHeader, MOST_BYTES, write_operations};
use crate::format::manifest::MOST_NUMBER;
use crate::memtable::Memtable;
use crate::options::Maintenance;
use crate::wal::{self, Durability, Log, Promise};
use std::sync::Arc;
use std::time::Instant;

impl StoreInner {
    /// Writes operations as one batch to the log, then to the memtable, where readers see all of them at once. Fails
    /// with `InvalidInput` if they are too many for a frame, with `Io` if they could not be appended.
    pub(crate) fn commit(&self, writer: &mut Writer, operations: &[Entry<Words>]) -> Result<Option<Promise>> {
        if operations.is_empty() {
            return Ok(writer.promise());
        }
        let mut bytes = Vec::new();
        write_operations(operations, self.context.parameters.words(), &mut bytes);
        if bytes.len() > MOST_BYTES {
            let length = bytes.len();
            let message =
                format!("the operations of the batch take {length} bytes in the log; {MOST_BYTES} is the most");
            return Err(Error::invalid(message)
                .at_path(&self.context.path)
                .with_remedy("write it in several batches, or load or remove in bulk"));
        }
        self.check_numbers(writer)?;
        let active = match self.active(writer).filter(|memtable| memtable.has_space(operations)) {
            Some(active) => active,
            None => self.next_memtable(writer, operations.len())?,
        };
        if active.is_empty() {
            writer.active_first = writer.next_sequence;
        }
        let log = self.log(writer).inspect_err(|error| self.check_place(error))?;
        let begin = log.end();
        let end = log.append(writer.next_sequence, &bytes).inspect_err(|error| {
            if log.is_broken() {
                self.poison(error);
            }
        })?;
        writer.next_sequence += 1;
        writer.log_bytes += end - begin;
        // This does not fail: the memtable has space. If it did, log and memtable would differ.
        active.write(operations).inspect_err(|error| self.poison(error))?;
        Ok(Some(Promise { log, end }))
    }

    /// Refuses a write without a permitted sequence number or log number.
    pub(crate) fn check_numbers(&self, writer: &Writer) -> Result<()> {
        if writer.next_sequence > MOST_NUMBER || writer.next_log >= MOST_NUMBER {
            return Err(Error::invalid("the store has no sequence numbers left").at_path(&self.context.path));
        }
        Ok(())
    }

    fn log(&self, writer: &mut Writer) -> Result<Arc<Log>> {
        if let Some(log) = &writer.log {
            return Ok(Arc::clone(log));
        }
        self.sync_earlier(writer)?;
        let context = &self.context;
        let (number, first) = (writer.next_log, writer.next_sequence);
        let header = LogHeader { parameters: context.parameters.clone(), number, first };
        let log = Arc::new(Log::create(context.env(), &context.path, &header)?);
        (writer.next_log, writer.log) = (number + 1, Some(Arc::clone(&log)));
        Ok(log)
    }

    /// Makes the logs of earlier processes durable, because no later write may survive without their writes.
    fn sync_earlier(&self, writer: &mut Writer) -> Result<()> {
        if writer.unsynced.is_empty() {
            return Ok(());
        }
        // Under this lock no log is removed. The writes of removed logs are in segments.
        let _installing = self.installing.lock();
        let first_log = self.versions().manifest.first_log;
        writer.unsynced.retain(|&(number, _)| number >= first_log);
        while let Some(&(number, end)) = writer.unsynced.first() {
            // Rewritten, because a sync of the same file after a failed one would prove nothing.
            wal::rewrite(self.context.env(), &self.context.path, number, end).inspect_err(|error| {
                if error.kind() == ErrorKind::Damaged || error.is_displaced() {
                    self.poison(error);
                }
            })?;
            writer.unsynced.remove(0);
        }
        Ok(())
    }

    /// Seals the active memtable and publishes another one, for at least this many records.
    fn next_memtable(&self, writer: &mut Writer, records: usize) -> Result<Arc<Memtable>> {
        // Without an active memtable, a load has sealed it; the log continues.
        if self.versions().active.is_some() {
            self.seal(writer)?;
        }
        self.make_space()?;
        let memtable = self.take_next(records)?;
        writer.active_first = writer.next_sequence;
        let mut versions = self.versions();
        versions.active = Some(Arc::clone(&memtable));
        self.publish(versions);
        Ok(memtable)
    }

    /// Ends the log and the active memtable. An error poisons the store.
    pub(crate) fn seal(&self, writer: &mut Writer) -> Result<()> {
        if let Some(log) = writer.log.take() {
            // A log that another one follows must be complete, at every level of durability.
            log.sync(log.end(), Durability::SyncAll).inspect_err(|error| self.poison(error))?;
        }
        self.seal_memtable(writer);
        Ok(())
    }

    /// Ends the active memtable, unless it is empty. The log continues.
    fn seal_memtable(&self, writer: &mut Writer) {
        let mut versions = self.versions();
        let Some(memtable) = versions.active.take_if(|memtable| !memtable.is_empty()) else { return };
        versions.sealed.push_back(Sealed {
            memtable,
            first: writer.active_first,
            last: writer.next_sequence - 1,
            // A log that continues has more writes than this memtable.
            next_log: writer.log.as_ref().map_or(writer.next_log, |log| log.number()),
            next_id: writer.next_id,
            log_bytes: std::mem::take(&mut writer.log_bytes),
        });
        self.publish(versions);
    }

    fn make_space(&self) -> Result<()> {
        match self.context.options.maintenance {
            Maintenance::Manual => Ok(()),
            Maintenance::Foreground => {
                let has_space = self.flush_sealed(usize::MAX).is_ok() || self.versions().sealed.len() < MOST_SEALED;
                // Errors are noted, and the work is tried again.
                let _ = self.compact_due(None);
                self.check_poison()?;
                if has_space { Ok(()) } else { self.refuse(&self.versions()) }
            }
            Maintenance::Background => self.wait_for_space(),
        }
    }

    fn wait_for_space(&self) -> Result<()> {
        let (mut versions, started) = (self.versions(), Instant::now());
        let mut waits = false;
        while versions.sealed.len() >= MOST_SEALED && !versions.closing {
            self.check_poison()?;
            self.refuse(&versions)?;
            waits = true;
            versions = versions.wait(&self.changed, None);
        }
        drop(versions);
        if waits {
            self.pressure.stopped_since(started);
        }
        self.check_poison()
    }

    fn refuse(&self, versions: &VersionSet) -> Result<()> {
        versions.flushing.as_ref().map_or(Ok(()), |failing| Err(failing.refusal(&self.context.path)))
    }

    /// Makes all writes up to now durable.
    pub(crate) fn make_durable(&self, durability: Durability) -> Result<()> {
        if durability == Durability::Buffered {
            return self.writer_lock().and_then(|_| self.check_poison());
        }
        let mut writing = self.writer()?;
        self.sync_earlier(&mut writing)?;
        let promise = writing.promise();
        drop(writing);
        self.wait_durable(promise.as_ref(), durability)
    }

    /// Flushes the writes up to now while other writes go on, as a rule in the same log, so that they wait neither for
    /// memory nor for the device.
    pub(crate) fn flush_beside(&self) -> Result<()> {
        let written = self.writer()?.promise();
        // A log as long as a memtable ends, so that no log grows forever.
        let is_long = |written: &Promise| written.end > self.context.options.memtable_memory;
        let ends = written.as_ref().filter(|written| is_long(written));
        self.prepare_next(ends)?;
        let mut writing = self.writer()?;
        match ends {
            Some(_) => self.seal(&mut writing)?,
            None => self.seal_memtable(&mut writing),
        }
        drop(writing);
        self.flush_sealed(usize::MAX)
    }

    /// Flushes all writes. After an error, the logs have the writes that are in no segment.
    pub(crate) fn flush(&self) -> Result<()> {
        let mut writing = self.writer()?;
        self.seal(&mut writing)?;
        let next_log = writing.next_log;
        drop(writing);
        self.flush_sealed(usize::MAX)?;
        // The memtables of the last log may have been flushed before it ended.
        if self.versions().manifest.first_log < next_log {
            self.install(|manifest, _| manifest.first_log = manifest.first_log.max(next_log), |_| ())?;
        }
        Ok(())
    }

    /// Fixes the id assignment, durably, before the first record is written.
    pub(crate) fn decide_id_assignment(&self, writer: &mut Writer, id_assignment: IdAssignment) -> Result<()> {
        self.install(|manifest, _| manifest.id_assignment = id_assignment, |_| ())?;
        (writer.id_assignment, writer.is_assignment_kept) = (id_assignment, true);
        Ok(())
    }
}
