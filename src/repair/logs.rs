//! What can be saved of damaged logs.
//!
//! Ordinary recovery reads batches in the order of their sequence numbers and leaves off at the first that does not hold. If later
//! ones were durable, that is damage, and here they are read all the same: a batch says by itself which records are there and
//! which are not any more, whatever came before it. So the store becomes what it would be had the lost batches never been
//! written, and each of these is reported by its number.
//!
//! **What is believed.** A frame's checksum vouches for its place and its number too. But not every frame that holds was ever
//! promised: behind the end of a log that a crash has cut there may be frames that hold, and recovery has given their
//! numbers to other writes since. A frame behind one that does not hold counts only if a later log begins behind it, or if a
//! frame in the same log says that the bytes of the broken one were durable. The rest is the torn end, and stays lost.

use crate::db::{NEVER_REACHED, TornLog, counted_after, next_id_after};
use crate::error::{ErrorKind, Result};
use crate::fingerprint::{Entry, Fingerprint, IdKind};
use crate::format::log::LogHeader;
use crate::format::manifest::{IdAssignment, MOST_NUMBER, ManifestData};
use crate::memtable::Memtable;
use crate::repair::report::{Loss, Lost};
use crate::segment::Damage;
use crate::version::StoreContext;
use crate::wal::{self, FramePlace, LogReader, Tail};
use std::path::PathBuf;
use std::sync::Arc;

/// What is left of the logs of a store.
#[derive(Debug)]
pub(crate) struct SalvagedLogs<F: Fingerprint> {
    /// Those that are there.
    pub(crate) logs: Vec<PathBuf>,
    pub(crate) damages: Vec<Damage>,
    pub(crate) losses: Vec<Loss>,
    pub(crate) torn: Vec<TornLog>,
    /// All writes that are in no segment yet, oldest first.
    pub(crate) memtables: Vec<Arc<Memtable<F>>>,
    pub(crate) batches: u64,
    pub(crate) operations: u64,
    /// Bytes that they take in logs.
    pub(crate) log_bytes: u64,
    pub(crate) bytes: u64,
    /// The number behind that of the last log.
    pub(crate) next_log: u64,
    /// The sequence number that comes next.
    pub(crate) expected: u64,
    pub(crate) next_id: u64,
    /// What all counts add up to, those of tombstones too.
    counted: u64,
    /// The first of the last logs that are not the store's, and behind which there is none that is.
    absent: Option<PathBuf>,
    /// Where the log before ended.
    end: Option<(PathBuf, u64)>,
}

/// A log of the store.
#[derive(Debug)]
struct One {
    reader: LogReader,
    /// The number of its first frame, if its header holds.
    first: Option<u64>,
    frames: Vec<FramePlace>,
    /// The first of the logs that are missing between it and the one before, or are not the store's.
    absent: Option<PathBuf>,
}

/// Up to which sequence number a log's frames may count.
#[derive(Clone, Copy)]
struct Bound {
    /// Frames from this number on do not.
    sequence: u64,
    /// All before it were durable once: the next log says so.
    is_promised: bool,
}

/// Reads what holds of all logs that a manifest leaves to be read.
///
/// # Errors
/// `Io`.
pub(crate) fn salvage<F: Fingerprint>(common: &StoreContext, manifest: &ManifestData) -> Result<SalvagedLogs<F>> {
    let numbers = wal::numbers_from(&**common.env(), &common.path, manifest.first_log)?;
    let mut salvaged = SalvagedLogs {
        logs: numbers.iter().map(|&number| common.path.join(wal::name(number))).collect(),
        damages: Vec::new(),
        losses: Vec::new(),
        torn: Vec::new(),
        memtables: Vec::new(),
        batches: 0,
        operations: 0,
        log_bytes: 0,
        bytes: 0,
        next_log: numbers.last().map_or(manifest.first_log, |last| last.saturating_add(1)),
        expected: manifest.flushed + 1,
        next_id: manifest.next_id,
        counted: 0,
        absent: None,
        end: None,
    };
    let logs = salvaged.open_all(common, manifest, &numbers)?;
    let bounds: Vec<Bound> = (0..logs.len()).map(|at| bound(logs.get(at + 1..).unwrap_or_default())).collect();
    for (log, bound) in logs.into_iter().zip(bounds) {
        salvaged.take_log(common, manifest, log, bound)?;
    }
    if let Some(path) = salvaged.absent.take() {
        salvaged.lose_unknown(manifest, path);
    }
    Ok(salvaged)
}

/// What the logs behind one say of it.
fn bound(later: &[One]) -> Bound {
    let begins = |log: &One| log.first.or(log.frames.first().map(|frame| frame.sequence));
    let next = later.first().filter(|next| next.absent.is_none()).and_then(|next| next.first);
    match next {
        Some(sequence) => Bound { sequence, is_promised: true },
        None => Bound { sequence: later.iter().find_map(begins).unwrap_or(u64::MAX), is_promised: false },
    }
}

impl<F: Fingerprint> SalvagedLogs<F> {
    /// Opens all logs that are the store's, and finds their frames.
    fn open_all(&mut self, common: &StoreContext, manifest: &ManifestData, numbers: &[u64]) -> Result<Vec<One>> {
        let (mut logs, mut expected, mut absent) = (Vec::new(), manifest.first_log, None);
        for &number in numbers {
            if number > expected {
                let path = common.path.join(wal::name(expected));
                let message = match number - expected {
                    1 => "the log is missing".to_owned(),
                    several => format!("the log is missing, and {} behind it", several - 1),
                };
                absent.get_or_insert_with(|| path.clone());
                self.damage(path, "log", None, message);
            }
            expected = number.saturating_add(1);
            match open(common, number)? {
                Ok((mut reader, first)) => {
                    if first.is_none() {
                        self.damage(
                            reader.path().to_owned(),
                            "log header",
                            Some(0),
                            "the header does not hold".to_owned(),
                        );
                    }
                    self.bytes += reader.length();
                    let frames = reader.scan()?;
                    logs.push(One { reader, first, frames, absent: absent.take() });
                }
                Err(message) => {
                    let path = common.path.join(wal::name(number));
                    absent.get_or_insert_with(|| path.clone());
                    self.damage(path, "log header", Some(0), message.to_owned());
                }
            }
        }
        self.absent = absent;
        Ok(logs)
    }

    fn damage(&mut self, path: PathBuf, section: &str, offset: Option<u64>, message: String) {
        self.damages.push(Damage { path, section: section.to_owned(), offset, message });
    }

    /// Writes before number `next` are not there: those from the one on that was expected.
    fn lose(&mut self, manifest: &ManifestData, next: u64, (path, offset, bytes): (PathBuf, Option<u64>, Option<u64>)) {
        let first = self.expected.max(manifest.flushed + 1);
        self.expected = self.expected.max(next);
        if first >= next {
            return;
        }
        let what = Lost::Batches { first, last: Some(next - 1) };
        let section = if offset.is_some() { "log frame" } else { "log" };
        let (section, tombstones) = (section.to_owned(), false);
        self.losses.push(Loss { path, section, offset, bytes, tombstones, records: None, what });
    }

    /// A log had writes of which not even the number is known.
    fn lose_unknown(&mut self, manifest: &ManifestData, path: PathBuf) {
        let what = Lost::Batches { first: self.expected.max(manifest.flushed + 1), last: None };
        let section = "log".to_owned();
        self.losses.push(Loss { path, section, offset: None, bytes: None, tombstones: false, records: None, what });
    }

    /// Where writes may have been that the log at hand does not have and that came before it.
    fn place_before(&self, log: &One) -> (PathBuf, Option<u64>, Option<u64>) {
        match (&log.absent, &self.end) {
            (Some(path), _) => (path.clone(), None, None),
            (_, Some((path, end))) => (path.clone(), Some(*end), None),
            _ => (log.reader.path().to_owned(), None, None),
        }
    }

    fn take_log(&mut self, common: &StoreContext, manifest: &ManifestData, mut log: One, bound: Bound) -> Result<()> {
        let path = log.reader.path().to_owned();
        let Bound { sequence, is_promised } = bound;
        let frames: Vec<FramePlace> =
            log.frames.iter().copied().take_while(|frame| frame.sequence < sequence.min(MOST_NUMBER + 1)).collect();
        if let Some(beyond) = log.frames.iter().find(|frame| frame.sequence > MOST_NUMBER) {
            self.damage(path.clone(), "log frame", Some(beyond.offset), NEVER_REACHED.to_owned());
        }
        if let Some(first) = log.first {
            let place = self.place_before(&log);
            self.lose(manifest, first, place);
        }
        let mut at = log.reader.position();
        let start = at;
        for (number, &frame) in frames.iter().enumerate() {
            if frame.offset != at {
                let behind = frames.get(number..).unwrap_or_default();
                if !is_promised && !behind.iter().any(|later| later.synced > at) {
                    break;
                }
                self.broken(manifest, &path, at, frame.offset, frame.sequence);
            } else if at == start {
                let place = self.place_before(&log);
                self.lose(manifest, frame.sequence, place);
            }
            at = frame.end;
            if frame.sequence < self.expected {
                continue;
            }
            match log.reader.batch_at::<F>(frame) {
                Ok(operations) => match counted_after(self.counted, &operations) {
                    Some(counted) => {
                        self.counted = counted;
                        self.take(common, manifest, frame, &operations)?;
                    }
                    None => self.broken(manifest, &path, frame.offset, frame.end, frame.sequence + 1),
                },
                Err(error) if error.kind() == ErrorKind::Damaged => {
                    self.broken(manifest, &path, frame.offset, frame.end, frame.sequence + 1);
                }
                Err(error) => return Err(error),
            }
        }
        if is_promised && sequence > self.expected {
            self.broken(manifest, &path, at, log.reader.length(), sequence);
        } else {
            log.reader.seek(at, self.expected);
            // What comes there is no damage any more, whatever a reader would say that knew less.
            let tail = log.reader.tail().unwrap_or(Tail::Clean);
            // A log without a header that holds, and nothing that does, was cut or overwritten.
            if log.first.is_none() && log.frames.is_empty() && (tail != Tail::Clean || log.reader.length() < start) {
                self.lose_unknown(manifest, path.clone());
            } else if let Tail::Torn(bytes) = tail {
                self.torn.push(TornLog { path: path.clone(), offset: at, bytes });
            }
        }
        self.end = Some((path, at));
        Ok(())
    }

    /// Bytes of a log do not hold, and with them the writes before number `next`.
    fn broken(&mut self, manifest: &ManifestData, path: &std::path::Path, from: u64, to: u64, next: u64) {
        let bytes = to.saturating_sub(from);
        let message = format!("{bytes} bytes of writes that were durable do not hold");
        self.damage(path.to_owned(), "log frame", Some(from), message);
        self.lose(manifest, next, (path.to_owned(), Some(from), Some(bytes)));
        if manifest.id_assignment == IdAssignment::Auto && manifest.parameters.ids() == IdKind::Number {
            // So many numbers may have been given there; none is given again.
            self.next_id = self.next_id.saturating_add(bytes / (F::BYTES as u64 + 8));
        }
    }

    fn take(
        &mut self,
        common: &StoreContext,
        manifest: &ManifestData,
        frame: FramePlace,
        operations: &[Entry<F>],
    ) -> Result<()> {
        let memtable = match self.memtables.last().filter(|memtable| memtable.has_room(operations)) {
            Some(memtable) => Arc::clone(memtable),
            None => {
                let memtable = Arc::new(Memtable::new(&common.shape, operations.len())?);
                self.memtables.push(Arc::clone(&memtable));
                memtable
            }
        };
        memtable.write(operations)?;
        self.next_id = next_id_after(self.next_id, manifest, operations);
        self.expected = frame.sequence + 1;
        self.batches += 1;
        self.operations += operations.len() as u64;
        self.log_bytes += frame.end - frame.offset;
        Ok(())
    }
}

/// Opens a log, and tells the number of its first frame if its header holds; or why it is not the store's.
fn open(common: &StoreContext, number: u64) -> Result<std::result::Result<(LogReader, Option<u64>), &'static str>> {
    let env = &**common.env();
    match LogReader::open_file(env, &common.path.join(wal::name(number))) {
        Ok(reader) => {
            let LogHeader { parameters, number: own, first } = reader.header();
            if *parameters != common.parameters {
                return Ok(Err("the log is that of another store"));
            }
            if *own != number {
                return Ok(Err("the log is another one than its name says"));
            }
            let first = *first;
            Ok(Ok((reader, Some(first))))
        }
        Err(error) if matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unsupported) => {
            let reader = LogReader::open_damaged(env, &common.path, number, &common.parameters)?;
            Ok(Ok((reader, None)))
        }
        Err(error) => Err(error),
    }
}
