//! Appending to a log, and making it durable for many at once.

use super::LogReader;
use crate::env::{Env, LogFile, TEMP_SUFFIX, TempFile};
use crate::error::{Error, ErrorKind, Result};
use crate::format::log::{LogHeader, write_frame};
use crate::wal::durability::Durability;
use crate::wal::names::name;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The first room that is taken on the device, and the most that is taken at once after it has doubled some times.
const FIRST_ROOM: u64 = 64 << 10;
const MOST_ROOM: u64 = 8 << 20;

/// A log that grows. One thread at a time appends; any number wait for what they appended to be durable, and those that
/// wait while the device is busy are done with one sync (group commit).
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: Box<dyn LogFile>,
    number: u64,
    /// Where the next frame begins.
    end: AtomicU64,
    /// Bytes that the file has.
    room: AtomicU64,
    /// Part of a frame could neither be written nor taken back.
    broken: AtomicBool,
    state: Mutex<Syncing>,
    changed: Condvar,
}

/// Writes the frames of a log of an earlier process anew, so that they are durable, under the same name; they end at `end`. What
/// was cut short behind them is gone then.
///
/// # Errors
/// `Damaged` if some of them do not hold any more, and the log is as before; `Io`.
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

/// How much is durable.
#[derive(Debug, Default)]
struct Syncing {
    /// Bytes that a power failure leaves.
    data: u64,
    /// The same, with all that the file system knows.
    all: u64,
    /// Somebody is waiting for the device.
    busy: bool,
    /// A sync has failed: what of the rest is durable nobody knows, and asking again would not tell.
    failed: bool,
}

impl Syncing {
    fn reached(&self, level: Durability) -> u64 {
        if level == Durability::SyncAll { self.all } else { self.data }
    }
}

impl Log {
    /// Places an empty log with this header in a store's directory.
    pub(crate) fn create(env: &Arc<dyn Env>, store: &Path, header: &LogHeader) -> Result<Self> {
        let path = store.join(name(header.number));
        let temporary = store.join(format!("{}{TEMP_SUFFIX}", name(header.number)));
        let fail = |action: &'static str| {
            let path = temporary.clone();
            move |error| Error::io(action, &path, error)
        };
        let bytes = header.write();
        let file = env.create_log(&temporary).map_err(fail("cannot create"))?;
        // Room ahead only saves time.
        let room = file.allocate(FIRST_ROOM).map_or(0, |()| FIRST_ROOM);
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
            room: AtomicU64::new(room),
            broken: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
        })
    }

    /// Its number.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Bytes that were written.
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Appends a frame and returns where it ends. One thread at a time.
    ///
    /// # Errors
    /// `Io`: nothing of the frame is there then, unless the log [is broken](Log::is_broken).
    pub(crate) fn append(&self, sequence: u64, operations: &[u8]) -> Result<u64> {
        let fail = |error| Error::io("cannot write", &self.path, error);
        let offset = self.end();
        let frame = write_frame(self.number, offset, sequence, self.state().data, operations);
        let end = offset + frame.len() as u64;
        let room = self.room.load(Ordering::Relaxed);
        if end > room {
            let wanted = end + room.min(MOST_ROOM);
            // Room ahead only saves time: where there is none, the frame itself may still fit.
            if self.file.allocate(wanted).is_ok() {
                self.room.store(wanted, Ordering::Relaxed);
            }
        }
        if let Err(error) = self.file.write_at(offset, &frame) {
            // A part of it may be there, or all: the next frame must not follow that.
            match self.file.cut(offset) {
                Ok(()) => self.room.store(offset, Ordering::Relaxed),
                Err(_) => self.broken.store(true, Ordering::Relaxed),
            }
            // That it was cut is not durable before another sync.
            let mut state = self.state();
            (state.data, state.all) = (state.data.min(offset - 1), state.all.min(offset - 1));
            return Err(fail(error));
        }
        self.end.store(end, Ordering::Release);
        Ok(end)
    }

    /// Whether a frame that could not be appended may be there all the same, so that nothing may follow.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Returns when the first `end` bytes are durable: at once, where they are, or after one sync for all who wait.
    ///
    /// # Errors
    /// `Io` if a sync has failed, and `Poisoned` ever after.
    pub(crate) fn sync(&self, end: u64, level: Durability) -> Result<()> {
        if level == Durability::Buffered {
            return Ok(());
        }
        let mut state = self.state();
        loop {
            if state.reached(level) >= end {
                return Ok(());
            }
            if state.failed {
                let message = "the log could not be made durable; what of the latest writes is, is not known";
                return Err(Error::new(ErrorKind::Poisoned, message).at_path(&self.path));
            }
            if !state.busy {
                break;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.busy = true;
        drop(state);
        // Everything that was appended up to now comes with it.
        let reached = self.end();
        let synced = if level == Durability::SyncAll { self.file.sync_all() } else { self.file.sync_data() };
        let mut state = self.state();
        state.busy = false;
        match &synced {
            Ok(()) => {
                state.data = state.data.max(reached);
                if level == Durability::SyncAll {
                    state.all = state.all.max(reached);
                }
            }
            Err(_) => state.failed = true,
        }
        drop(state);
        self.changed.notify_all();
        synced.map_err(|error| Error::io("cannot sync", &self.path, error))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Syncing> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
