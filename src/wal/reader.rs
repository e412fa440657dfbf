//! Reading a log, and telling a torn tail from damage.

use crate::env::{Env, ReadFile, ReadMode};
use crate::error::{Error, Result};
use crate::fingerprint::{Entry, Words};
use crate::format::fields::Fields;
use crate::format::log::{
    ALIGNMENT, FRAME_HEADER, FrameHeader, LEAST_FRAME, LogHeader, MOST_BYTES, MOST_HEADER, damaged_log,
    parse_operations,
};
use crate::wal::names::name;
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const WINDOW: u64 = 1 << 20;

/// Reads the frames of a log one after another, up to the first one that does not hold.
#[derive(Debug)]
pub(crate) struct LogReader {
    path: PathBuf,
    file: Box<dyn ReadFile>,
    header: LogHeader,
    /// Where the next frame begins.
    at: u64,
    /// The sequence number that it has.
    next: u64,
    window: Window,
    /// Bytes that were hashed in search of frames: what a test counts.
    #[cfg(test)]
    pub(super) hashed: u64,
}

/// What follows the last frame that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing but zeros.
    Clean,
    /// Writes that were cut short, or of which some did not survive: so many bytes. Nobody was promised any of them.
    Torn(u64),
}

/// A part of the file in memory.
#[derive(Debug, Default)]
struct Window {
    bytes: Vec<u8>,
    from: u64,
}

impl Window {
    /// The bytes of the file from `at` on, so many; none if it ends before.
    fn get(&mut self, file: &dyn ReadFile, path: &Path, at: u64, count: usize) -> Result<Option<&[u8]>> {
        if at.checked_add(count as u64).is_none_or(|end| end > file.length()) {
            return Ok(None);
        }
        let has = at >= self.from && at - self.from + count as u64 <= self.bytes.len() as u64;
        if !has {
            let length = WINDOW.max(count as u64).min(file.length() - at);
            let mut buffer = std::mem::take(&mut self.bytes);
            let bytes = file.read(at, usize::try_from(length).unwrap_or(count), &mut buffer);
            // A file in memory lends its own bytes.
            let bytes = bytes.map_err(|error| Error::io("cannot read", path, error).at_offset(at))?.to_vec();
            (self.bytes, self.from) = (bytes, at);
        }
        let start = usize::try_from(at - self.from).unwrap_or(usize::MAX);
        Ok(self.bytes.get(start..).and_then(|rest| rest.get(..count)))
    }
}

impl LogReader {
    /// Opens log `number` of a store.
    ///
    /// # Errors
    /// `NotFound`; `Damaged` or `Unsupported` if its header is not one; `Io`.
    pub(crate) fn open(env: &dyn Env, store: &Path, number: u64) -> Result<Self> {
        let path = store.join(name(number));
        let log = Self::open_file(env, &path)?;
        if log.header.number != number {
            return Err(Error::damaged("the log is another one than its name says").at_path(&path));
        }
        Ok(log)
    }

    /// Opens a log by its path.
    ///
    /// # Errors
    /// Those of [`LogReader::open`].
    pub(crate) fn open_file(env: &dyn Env, path: &Path) -> Result<Self> {
        let file = env.open(path, ReadMode::Pread).map_err(|error| Error::io("cannot open", path, error))?;
        let mut window = Window::default();
        let length = usize::try_from(file.length()).unwrap_or(usize::MAX).min(MOST_HEADER);
        let bytes = window.get(&*file, path, 0, length)?.unwrap_or_default();
        let mut fields = Fields::new(bytes, 0);
        let header = LogHeader::parse(&mut fields).map_err(|error| error.at_path(path))?;
        let (at, next) = (fields.offset(), header.first);
        Ok(Self {
            path: path.to_owned(),
            file,
            header,
            at,
            next,
            window,
            #[cfg(test)]
            hashed: 0,
        })
    }

    /// A log whose header is known from elsewhere.
    pub(super) fn of_file(path: PathBuf, file: Box<dyn ReadFile>, header: LogHeader) -> Self {
        let (at, next) = (header.write().len() as u64, header.first);
        Self {
            path,
            file,
            header,
            at,
            next,
            window: Window::default(),
            #[cfg(test)]
            hashed: 0,
        }
    }

    /// Goes to a frame with this sequence number.
    pub(crate) fn seek(&mut self, offset: u64, sequence: u64) {
        (self.at, self.next) = (offset, sequence);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn header(&self) -> &LogHeader {
        &self.header
    }

    /// Where the next frame begins, or would.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Bytes of the file.
    pub(crate) fn length(&self) -> u64 {
        self.file.length()
    }

    /// The sequence number of the next frame.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.next
    }

    /// Looks at the file anew, which may have grown since it was opened.
    ///
    /// # Errors
    /// `NotFound` if it is not there any more; `Io`.
    pub(crate) fn refresh(&mut self, env: &dyn Env) -> Result<()> {
        let file = env.open(&self.path, ReadMode::Pread);
        self.file = file.map_err(|error| Error::io("cannot open", &self.path, error))?;
        self.window = Window::default();
        Ok(())
    }

    /// The header of the next frame, and its operations' bytes; nothing if there is none that holds.
    pub(crate) fn next_bytes(&mut self) -> Result<Option<(FrameHeader, &[u8])>> {
        let (at, next) = (self.at, self.next);
        let Some(header) = self.frame(at, next..=next)? else { return Ok(None) };
        self.at = header.end(at);
        self.next += 1;
        let length = header.length as usize;
        let bytes = self.window.get(&*self.file, &self.path, at + FRAME_HEADER as u64, length)?;
        Ok(bytes.map(|bytes| (header, bytes)))
    }

    /// The next batch of writes and its sequence number; nothing if there is no further frame that holds.
    ///
    /// # Errors
    /// `Damaged` if a frame holds but says nothing that a writer writes; `Io`.
    pub(crate) fn next_batch(&mut self) -> Result<Option<(u64, Vec<Entry<Words>>)>> {
        let (at, ids, path) = (self.at, self.header.parameters.ids(), self.path.clone());
        let words = self.header.parameters.words();
        let Some((header, bytes)) = self.next_bytes()? else { return Ok(None) };
        let operations = parse_operations(&mut Fields::new(bytes, at + FRAME_HEADER as u64), words, ids);
        Ok(Some((header.sequence, operations.map_err(|error| error.at_path(&path))?)))
    }

    /// The bytes of the file from `at` on, so many; none if it ends before.
    pub(super) fn bytes(&mut self, at: u64, count: usize) -> Result<Option<&[u8]>> {
        self.window.get(&*self.file, &self.path, at, count)
    }

    /// The header of a frame at an offset, of which all but the checksum and the padding has been checked.
    pub(super) fn claim(&mut self, at: u64) -> Result<Option<FrameHeader>> {
        let length = self.file.length();
        let Some(bytes) = self.bytes(at, FRAME_HEADER)? else { return Ok(None) };
        let header = FrameHeader::parse(&mut Fields::new(bytes, at))?;
        let is_one = (1..=MOST_BYTES).contains(&(header.length as usize));
        Ok(Some(header).filter(|_| is_one && header.synced <= at && header.end(at) <= length))
    }

    /// The header of a frame at an offset, if one is there that holds and whose sequence number is one of these.
    pub(super) fn frame(&mut self, at: u64, sequences: std::ops::RangeInclusive<u64>) -> Result<Option<FrameHeader>> {
        let header = self.claim(at)?.filter(|header| sequences.contains(&header.sequence));
        let Some(header) = header else { return Ok(None) };
        // With the zeros behind it.
        let whole = usize::try_from(header.end(at) - at).unwrap_or(usize::MAX);
        let (log, length) = (self.header.number, header.length as usize);
        self.count_hashed(length as u64);
        let Some(bytes) = self.bytes(at, whole)? else { return Ok(None) };
        let (operations, padding) =
            bytes.get(FRAME_HEADER..).and_then(|b| b.split_at_checked(length)).unwrap_or_default();
        let holds = header.sum(log, at, operations) == header.checksum;
        Ok(Some(header).filter(|_| holds && padding.iter().all(|&byte| byte == 0)))
    }

    /// What follows the last frame that [`LogReader::next_batch`] has returned, when it returns none.
    ///
    /// # Errors
    /// `Damaged` if it was durable once; `Io`.
    pub(crate) fn tail(&mut self) -> Result<Tail> {
        let (start, next) = (self.at, self.next);
        let Some(last) = self.last_used(start)? else { return Ok(Tail::Clean) };
        let knows_better = |at: u64, header: &FrameHeader| {
            let most = next.saturating_add((at - start) / LEAST_FRAME);
            header.synced > start && (next..=most).contains(&header.sequence)
        };
        let mut at = start;
        while at < last {
            let chunk = self.search(at, last, CHUNK, knows_better)?;
            for later in chunk.offsets {
                // Frames may have been written since they were looked at.
                self.window = Window::default();
                if self.frame(start, next..=next)?.is_some() {
                    return Ok(Tail::Clean);
                }
                if self.frame(later, next..=u64::MAX)?.is_some() {
                    let message = format!("writes that were durable do not hold; those from byte {later} on do again");
                    return Err(damaged_log(&message).at_path(&self.path).at_offset(start));
                }
            }
            at = chunk.next;
        }
        Ok(Tail::Torn(last - start))
    }

    /// Where the last 8 bytes end, counted from `start`, of which one is not zero; none if all are zero.
    fn last_used(&mut self, start: u64) -> Result<Option<u64>> {
        let (length, mut last, mut at) = (self.file.length(), None, start);
        while at < length {
            let count = (length - at).min(WINDOW);
            let bytes = self.bytes(at, usize::try_from(count).unwrap_or(0))?.unwrap_or_default();
            if let Some(used) = bytes.iter().rposition(|&byte| byte != 0) {
                let end = (at - start + used as u64 + 1).next_multiple_of(ALIGNMENT);
                last = Some((start + end).min(length));
            }
            at += count;
        }
        Ok(last)
    }

    #[cfg(test)]
    pub(super) fn count_hashed(&mut self, bytes: u64) {
        self.hashed += bytes;
    }

    #[cfg(not(test))]
    pub(super) fn count_hashed(&mut self, _: u64) {}
}

/// Most claims of a chunk, 24 bytes each. A log of nothing but claims is hashed 34 times at most: a chunk begins within 8 MiB,
/// and its frames end at most 256 MiB later.
pub(super) const CHUNK: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::super::{Durability, Log};
    use super::*;
    use crate::env::{Memory, slice};
    use crate::fingerprint::{Record, to_words};
    use crate::format::Parameters;
    use crate::format::log::write_operations;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A log that somebody writes while it is read: what it was for so many reads, and what it is then.
    #[derive(Debug)]
    struct Growing {
        before: Vec<u8>,
        after: Vec<u8>,
        left: AtomicUsize,
    }

    impl ReadFile for Growing {
        fn length(&self) -> u64 {
            self.after.len() as u64
        }

        fn read<'a>(&'a self, offset: u64, length: usize, _: &'a mut Vec<u8>) -> std::io::Result<&'a [u8]> {
            let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            slice(if left.is_ok() { &self.before } else { &self.after }, offset, length)
        }

        fn is_stable(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_frame_that_was_written_while_it_was_looked_at_is_no_damage() {
        let memory = Memory::default();
        let (env, store): (Arc<dyn Env>, _) = (Arc::new(memory.clone()), Path::new("s"));
        env.create_dir(store).unwrap();
        let header = LogHeader { parameters: Parameters::new(3), number: 1, first: 1 };
        let log = Log::create(&env, store, &header).unwrap();
        for number in 1..=3 {
            let mut bytes = Vec::new();
            write_operations(
                &[Entry { record: Record::new(to_words(number), number), is_tombstone: false }],
                1,
                &mut bytes,
            );
            let end = log.append(number, &bytes).unwrap();
            log.sync(end, Durability::SyncData).unwrap();
        }
        let after = memory.bytes(&store.join(name(1))).unwrap();
        let begin = header.write().len();
        let mut before = after.clone();
        before[begin + FRAME_HEADER..begin + FRAME_HEADER + 8].fill(0);
        let tail = |left| {
            let file = Growing { before: before.clone(), after: after.clone(), left: AtomicUsize::new(left) };
            let mut reader = LogReader::of_file(store.join(name(1)), Box::new(file), header.clone());
            assert_eq!(reader.next_batch().unwrap(), None);
            let tail = reader.tail();
            (tail, std::iter::from_fn(|| reader.next_batch().unwrap()).count())
        };
        assert_eq!(tail(usize::MAX).0.unwrap_err().kind(), crate::error::ErrorKind::Damaged);
        let (tail, more) = tail(1);
        assert_eq!((tail.unwrap(), more), (Tail::Clean, 3));
    }
}
