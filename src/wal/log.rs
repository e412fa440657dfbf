//! Appending to a log, and group commit.

use super::LogReader;
use crate::env::{Env, LogFile, TEMP_SUFFIX, TempFile};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Condvar, Mutex};
use crate::format::log::{LogHeader, write_frame};
use crate::wal::names::name;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The first allocation of a log's file, and the largest one: allocations double.
const FIRST_ALLOCATION: u64 = 64 << 10;
const MOST_ALLOCATION: u64 = 8 << 20;

/// The durability of a write when it returns.
///
/// At every level, all later queries see the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// The operating system has the write: it survives every end of the process, but perhaps not a power failure.
    Buffered,
    /// The device has the bytes: the write survives a power failure too (`fdatasync`).
    SyncData,
    /// The device has the bytes and the file's metadata (`fsync`), for file systems that need it.
    SyncAll,
}

/// The frames that have to be durable before a write returns: those of `log` up to `end`.
#[derive(Debug)]
pub(crate) struct Promise {
    pub(crate) log: Arc<Log>,
    pub(crate) end: u64,
}

/// A log that grows. One thread at a time appends; many may wait for durability. One sync serves all threads that wait
/// while the device is busy (group commit).
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: Box<dyn LogFile>,
    number: u64,
    end: AtomicU64,
    allocated: AtomicU64,
    /// An append failed, and so did cutting off its bytes.
    broken: AtomicBool,
    state: Mutex<Syncing>,
    changed: Condvar,
}

/// Replaces a log of an earlier process by a durable copy of its frames, which end at `end`, without the torn tail.
/// Fails with `Damaged` if some of the frames no longer hold; the log is then unchanged.
pub(crate) fn rewrite(env: &Arc<dyn Env>, store: &Path, number: u64, end: u64) -> Result<()> {
    let mut reader = LogReader::open(&**env, store, number)?;
    let mut file = TempFile::create(env, store, &name(number))?;
    file.write(&reader.header().write())?;
    let mut at = file.written();
    while let Some((header, operations)) = reader.next_bytes()? {
        let frame = write_frame(number, at, header.sequence, header.synced, operations);
        file.write(&frame)?;
        at += frame.len() as u64;
    }
    if at != end {
        let message = format!("frames that held up to byte {end} do not hold any more");
        return Err(Error::damaged(message).at_path(reader.path()).at_offset(at));
    }
    file.commit().map(|_| ())
}

#[derive(Debug, Default)]
struct Syncing {
    /// End of the bytes that survive a power failure.
    data: u64,
    /// The same, with the metadata.
    all: u64,
    busy: bool,
    /// Number of failed appends, whose bytes were cut off. A sync from before a cut does not make it durable.
    cuts: u64,
    /// A sync failed. Another sync would not tell whether the rest is durable.
    failed: bool,
}

impl Syncing {
    fn reached(&self, level: Durability) -> u64 {
        if level == Durability::SyncAll { self.all } else { self.data }
    }
}

impl Log {
    /// Creates an empty log, durably.
    pub(crate) fn create(env: &Arc<dyn Env>, store: &Path, header: &LogHeader) -> Result<Self> {
        let path = store.join(name(header.number));
        let temporary = store.join(format!("{}{TEMP_SUFFIX}", name(header.number)));
        let fail = |action: &'static str| {
            let path = temporary.clone();
            move |error| Error::io(action, &path, error)
        };
        let bytes = header.write();
        let file = env.create_log(&temporary).map_err(fail("cannot create"))?;
        // Allocating ahead only saves time.
        let allocated = file.allocate(FIRST_ALLOCATION).map_or(0, |()| FIRST_ALLOCATION);
        file.write_at(0, &bytes).map_err(fail("cannot write"))?;
        file.sync_all().map_err(fail("cannot sync"))?;
        env.rename(&temporary, &path).map_err(fail("cannot rename"))?;
        env.sync_dir(store).map_err(|error| Error::io("cannot sync", store, error))?;
        let end = bytes.len() as u64;
        let state = Syncing { data: end, all: end, ..Syncing::default() };
        Ok(Self {
            path,
            file,
            number: header.number,
            end: AtomicU64::new(end),
            allocated: AtomicU64::new(allocated),
            broken: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
        })
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Appends a frame and returns its end. One thread at a time. A failed append leaves the log unchanged, unless it
    /// [is broken](Log::is_broken).
    pub(crate) fn append(&self, sequence: u64, operations: &[u8]) -> Result<u64> {
        let offset = self.end();
        let frame = write_frame(self.number, offset, sequence, self.state.lock().data, operations);
        let end = offset + frame.len() as u64;
        let allocated = self.allocated.load(Ordering::Relaxed);
        if end > allocated {
            let wanted = end + allocated.min(MOST_ALLOCATION);
            // If this fails, the frame itself may still fit.
            if self.file.allocate(wanted).is_ok() {
                self.allocated.store(wanted, Ordering::Relaxed);
            }
        }
        if let Err(error) = self.file.write_at(offset, &frame) {
            // The next frame must not follow a part of this one.
            match self.file.cut(offset) {
                Ok(()) => self.allocated.store(offset, Ordering::Relaxed),
                Err(_) => self.broken.store(true, Ordering::Relaxed),
            }
            // The cut is not durable before another sync.
            let mut state = self.state.lock();
            state.cuts += 1;
            (state.data, state.all) = (state.data.min(offset - 1), state.all.min(offset - 1));
            return Err(Error::io("cannot write", &self.path, error));
        }
        self.end.store(end, Ordering::Release);
        Ok(end)
    }

    /// Whether a frame whose append failed may be in the file, so that no frame may follow.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Returns when the first `end` bytes are durable. The first waiter syncs every frame appended so far; the others
    /// find theirs durable. After a failed sync (`Io`), all later calls fail with `Poisoned`.
    pub(crate) fn sync(&self, end: u64, level: Durability) -> Result<()> {
        if level == Durability::Buffered {
            return Ok(());
        }
        let mut state = self.state.lock();
        loop {
            if state.reached(level) >= end {
                return Ok(());
            }
            if state.failed {
                let message = "the log could not be made durable; it is unknown which of the latest writes are durable";
                return Err(Error::new(ErrorKind::Poisoned, message).at_path(&self.path));
            }
            if !state.busy {
                break;
            }
            state = self.changed.wait(state);
        }
        state.busy = true;
        let cuts = state.cuts;
        drop(state);
        let reached = self.end();
        let synced = if level == Durability::SyncAll { self.file.sync_all() } else { self.file.sync_data() };
        let mut state = self.state.lock();
        state.busy = false;
        match &synced {
            Ok(()) if state.cuts == cuts => {
                state.data = state.data.max(reached);
                if level == Durability::SyncAll {
                    state.all = state.all.max(reached);
                }
            }
            Ok(()) => {}
            Err(_) => state.failed = true,
        }
        drop(state);
        self.changed.notify_all();
        synced.map_err(|error| Error::io("cannot sync", &self.path, error))
    }
}
