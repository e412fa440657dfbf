//! The batches that damaged logs still hold.
//!
//! Opening a store stops at the first damaged batch. A repair reads every batch that holds, including later ones: the
//! entries of a batch do not depend on other batches. The store then has the records that it would have if the lost
//! batches had never been written. The report lists their sequence numbers.
//!
//! The checksum of a frame covers its place, its log's number and its sequence number. A frame that holds counts,
//! unless a later log begins with its number or a smaller one: then a crash had cut the frame off, and its number was
//! reused.

use super::Repairing;
use super::report::{Loss, Lost, RepairAction};
use crate::db::{Recovered, TornLog};
use crate::env::ReadMode;
use crate::error::{ErrorKind, Result};
use crate::fingerprint::{Fingerprint, IdAssignment, IdKind};
use crate::format::manifest::MOST_NUMBER;
use crate::segment::Damage;
use crate::wal::{self, FramePlace, LogReader};
use std::path::{Path, PathBuf};

/// A log, and its frames that hold.
struct Log {
    reader: LogReader,
    frames: Vec<FramePlace>,
    /// The sequence number of its first frame, from its header or from the first frame that holds. `None` without
    /// either, and for the log of another store.
    first: Option<u64>,
}

impl<F: Fingerprint> Repairing<'_, F> {
    /// Reads the logs. Returns their content unless all of them are sound.
    pub(super) fn look_at_logs(&mut self) -> Result<Option<Recovered>> {
        let numbers = wal::numbers_from(&**self.env(), &self.context.path, self.manifest.first_log)?;
        let (damages, losses) = (self.report.damages.len(), self.report.losses.len());
        let mut recovered = match Recovered::read(&self.context, self.manifest) {
            Ok(recovered) => recovered,
            Err(error) if matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unsupported) => {
                self.report.damages.push(Damage::from_error(&self.context.path, "log", error)?);
                self.salvage_logs(&numbers)?
            }
            Err(error) => return Err(error),
        };
        self.report.files += numbers.len() as u64;
        self.report.bytes += recovered.file_bytes;
        let logs: Vec<PathBuf> = numbers.iter().map(|&number| self.path_of_log(number)).collect();
        if let Some(TornLog { path, offset, bytes, .. }) = recovered.found.torn.last()
            && logs.last() == Some(path)
            && !self.can_read(path, *offset, *bytes)
        {
            // No later log shows whether these bytes were durable.
            let (path, offset) = (path.clone(), Some(*offset));
            let message = format!("{bytes} bytes at the end of the last log cannot be read");
            self.report.damages.push(Damage { path: path.clone(), section: "log frame".to_owned(), offset, message });
            self.lose_batches((recovered.writer.next_sequence, None), path, offset);
        }
        self.report.torn.append(&mut recovered.found.torn);
        if self.report.damages.len() == damages && self.report.torn.is_empty() {
            return Ok(None);
        }
        let is_lossy = self.report.losses.len() > losses;
        if is_lossy
            && self.manifest.id_assignment == IdAssignment::Auto
            && self.context.parameters.ids() == IdKind::Number
        {
            // Lost batches may have used this many numbers; none is used again.
            let most = recovered.file_bytes / (F::BYTES as u64 + 8);
            recovered.writer.next_id = recovered.writer.next_id.saturating_add(most);
        }
        self.retired.extend(logs.iter().map(|path| (path.clone(), is_lossy)));
        let (batches, operations) = (recovered.found.batches, recovered.found.operations);
        self.report.actions.push(RepairAction::FlushLogs { logs, batches, operations });
        Ok(Some(recovered))
    }

    fn can_read(&self, path: &Path, offset: u64, bytes: u64) -> bool {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let file = self.media.open(path, ReadMode::Pread);
        file.is_ok_and(|file| file.read(offset, length, &mut Vec::new()).is_ok())
    }

    fn path_of_log(&self, number: u64) -> PathBuf {
        self.context.path.join(wal::name(number))
    }

    /// Reads every batch that holds, and reports the others.
    fn salvage_logs(&mut self, numbers: &[u64]) -> Result<Recovered> {
        let mut salvaged = Recovered::new(self.manifest, numbers);
        let logs = numbers.iter().map(|&number| self.open_log(number)).collect::<Result<Vec<_>>>()?;
        let firsts: Vec<Option<u64>> = logs.iter().map(|log| log.first).collect();
        for (at, log) in (1..).zip(logs) {
            let end = firsts.iter().skip(at).find_map(|&first| first);
            self.salvage_log(log, end, &mut salvaged)?;
        }
        if let (Some(&number), Some(None)) = (numbers.last(), firsts.last()) {
            self.lose_batches((salvaged.writer.next_sequence, None), self.path_of_log(number), None);
        }
        Ok(salvaged)
    }

    /// Opens a log and finds its frames, also if its header does not hold.
    fn open_log(&self, number: u64) -> Result<Log> {
        let (env, parameters) = (&**self.env(), &self.context.parameters);
        let (mut reader, first) = match LogReader::open_file(env, &self.path_of_log(number)) {
            Ok(reader) if reader.header().parameters != *parameters || reader.header().number != number => {
                return Ok(Log { reader, frames: Vec::new(), first: None });
            }
            Ok(reader) => {
                let first = reader.header().first;
                (reader, Some(first))
            }
            Err(error) if matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unsupported) => {
                (LogReader::open_damaged(env, &self.context.path, number, parameters)?, None)
            }
            Err(error) => return Err(error),
        };
        let mut frames = reader.scan()?;
        frames.retain(|frame| frame.sequence <= MOST_NUMBER);
        let first = first.or(frames.first().map(|frame| frame.sequence));
        Ok(Log { reader, frames, first })
    }

    /// Takes the batches of a log, only those before number `end` if a later log begins with that number.
    fn salvage_log(&mut self, mut log: Log, end: Option<u64>, salvaged: &mut Recovered) -> Result<()> {
        salvaged.file_bytes += log.reader.length();
        let (path, mut at) = (log.reader.path().to_owned(), log.reader.position());
        let Some(first) = log.first else { return Ok(()) };
        self.lose_before(first, salvaged, &path, at);
        for frame in log.frames {
            let FramePlace { offset, sequence, .. } = frame;
            if end.is_some_and(|end| sequence >= end) {
                break;
            }
            if sequence >= salvaged.writer.next_sequence {
                self.lose_before(sequence, salvaged, &path, at);
                let place = (log.reader.header().number, sequence, frame.end - offset);
                let batch = log.reader.batch_at(frame);
                match batch.and_then(|batch| salvaged.take(&self.context, place, &batch)) {
                    Err(error) if error.kind() == ErrorKind::Damaged => {
                        self.lose_before(sequence + 1, salvaged, &path, offset);
                    }
                    taken => taken?,
                }
            }
            at = frame.end;
        }
        if !self.lose_before(end.unwrap_or(0), salvaged, &path, at) {
            log.reader.seek(at, salvaged.writer.next_sequence);
            let bytes = log.reader.torn_bytes().unwrap_or(log.reader.length().saturating_sub(at));
            if bytes > 0 {
                salvaged.found.torn.push(TornLog { path, offset: at, bytes });
            }
        }
        Ok(())
    }

    /// Reports the batches from the next expected one up to number `next`, exclusive, as lost; whether there are any.
    fn lose_before(&mut self, next: u64, salvaged: &mut Recovered, path: &Path, offset: u64) -> bool {
        let first = salvaged.writer.next_sequence;
        let is_loss = first < next;
        if is_loss {
            salvaged.writer.next_sequence = next;
            self.lose_batches((first, Some(next - 1)), path.to_owned(), Some(offset));
        }
        is_loss
    }

    fn lose_batches(&mut self, (first, last): (u64, Option<u64>), path: PathBuf, offset: Option<u64>) {
        let (section, what) = ("log frame".to_owned(), Lost::Batches { first, last });
        self.report.losses.push(Loss { path, section, offset, role: None, records: None, what });
    }
}
