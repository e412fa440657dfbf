//! Reads a log, and tells a torn tail from damage.

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

const WINDOW: u64 = 1 << 20;

/// Reads the frames of a log in order, up to the first one that does not hold.
#[derive(Debug)]
pub(crate) struct LogReader {
    path: PathBuf,
    file: Box<dyn ReadFile>,
    header: LogHeader,
    at: u64,
    next: u64,
    window: Window,
    /// Bytes hashed in search of frames.
    #[cfg(test)]
    pub(super) hashed: u64,
}

#[derive(Debug, Default)]
struct Window {
    bytes: Vec<u8>,
    from: u64,
}

impl Window {
    /// `count` bytes of the file from `at` on; `None` if the file ends before.
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
    pub(crate) fn open(env: &dyn Env, store: &Path, number: u64) -> Result<Self> {
        let path = store.join(name(number));
        let log = Self::open_file(env, &path)?;
        if log.header.number != number {
            return Err(Error::damaged("the log is another one than its name says").at_path(&path));
        }
        Ok(log)
    }

    pub(crate) fn open_file(env: &dyn Env, path: &Path) -> Result<Self> {
        let file = env.open(path, ReadMode::Pread).map_err(|error| Error::io("cannot open", path, error))?;
        let mut window = Window::default();
        let length = usize::try_from(file.length()).unwrap_or(usize::MAX).min(MOST_HEADER);
        let bytes = window.get(&*file, path, 0, length)?.unwrap_or_default();
        let mut fields = Fields::new(bytes, 0);
        let header = LogHeader::parse(&mut fields).map_err(|error| error.at_path(path))?;
        let at = fields.offset();
        Ok(Self { at, window, ..Self::of_file(path.to_owned(), file, header) })
    }

    /// A log with this header, whatever header the file has.
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

    pub(crate) fn seek(&mut self, offset: u64, sequence: u64) {
        (self.at, self.next) = (offset, sequence);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn header(&self) -> &LogHeader {
        &self.header
    }

    /// The offset of the next frame, or of the end.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    pub(crate) fn length(&self) -> u64 {
        self.file.length()
    }

    pub(crate) fn next_sequence(&self) -> u64 {
        self.next
    }

    /// Opens the file again, which may have grown.
    pub(crate) fn refresh(&mut self, env: &dyn Env) -> Result<()> {
        let file = env.open(&self.path, ReadMode::Pread);
        self.file = file.map_err(|error| Error::io("cannot open", &self.path, error))?;
        self.window = Window::default();
        Ok(())
    }

    /// The header and the operations of the next frame; `None` if it does not hold.
    pub(crate) fn next_bytes(&mut self) -> Result<Option<(FrameHeader, &[u8])>> {
        let (at, next) = (self.at, self.next);
        let Some(header) = self.frame(at, next..=next)? else { return Ok(None) };
        self.at = header.end(at);
        self.next += 1;
        let length = header.length as usize;
        let bytes = self.window.get(&*self.file, &self.path, at + FRAME_HEADER as u64, length)?;
        Ok(bytes.map(|bytes| (header, bytes)))
    }

    /// The sequence number and the entries of the next batch; `None` if the next frame does not hold. Fails with
    /// `Damaged` if the frame holds but no writer could have written it.
    pub(crate) fn next_batch(&mut self) -> Result<Option<(u64, Vec<Entry<Words>>)>> {
        let (at, ids, words) = (self.at, self.header.parameters.ids(), self.header.parameters.words());
        let Some((header, bytes)) = self.next_bytes()? else { return Ok(None) };
        let operations = parse_operations(&mut Fields::new(bytes, at + FRAME_HEADER as u64), words, ids);
        Ok(Some((header.sequence, operations.map_err(|error| error.at_path(&self.path))?)))
    }

    pub(super) fn bytes(&mut self, at: u64, count: usize) -> Result<Option<&[u8]>> {
        self.window.get(&*self.file, &self.path, at, count)
    }

    /// The header of the frame that may begin at an offset. Its checksum and padding are not checked.
    pub(super) fn claim(&mut self, at: u64) -> Result<Option<FrameHeader>> {
        let length = self.file.length();
        let Some(bytes) = self.bytes(at, FRAME_HEADER)? else { return Ok(None) };
        let header = FrameHeader::parse(&mut Fields::new(bytes, at))?;
        let is_one = (1..=MOST_BYTES).contains(&(header.length as usize));
        Ok(Some(header).filter(|_| is_one && header.synced <= at && header.end(at) <= length))
    }

    /// The header of the frame at an offset, if it holds and has one of these sequence numbers.
    pub(super) fn frame(&mut self, at: u64, sequences: std::ops::RangeInclusive<u64>) -> Result<Option<FrameHeader>> {
        let header = self.claim(at)?.filter(|header| sequences.contains(&header.sequence));
        let Some(header) = header else { return Ok(None) };
        // With the padding.
        let whole = usize::try_from(header.end(at) - at).unwrap_or(usize::MAX);
        let (log, length) = (self.header.number, header.length as usize);
        self.count_hashed(length as u64);
        let Some(bytes) = self.bytes(at, whole)? else { return Ok(None) };
        let (operations, padding) =
            bytes.get(FRAME_HEADER..).and_then(|b| b.split_at_checked(length)).unwrap_or_default();
        let holds = header.sum(log, at, operations) == header.checksum;
        Ok(Some(header).filter(|_| holds && padding.iter().all(|&byte| byte == 0)))
    }

    /// Number of bytes of unfinished writes after the last frame that holds, once [`LogReader::next_batch`] returned
    /// `None`; none of these writes has returned. Fails with `Damaged` if some of them was durable once.
    pub(crate) fn torn_bytes(&mut self) -> Result<u64> {
        let (start, next) = (self.at, self.next);
        let Some(last) = self.last_used(start)? else { return Ok(0) };
        let states_as_durable = |at: u64, header: &FrameHeader| {
            let most = next.saturating_add((at - start) / LEAST_FRAME);
            header.synced > start && (next..=most).contains(&header.sequence)
        };
        let mut at = start;
        while at < last {
            let chunk = self.search(at, last, CHUNK, states_as_durable)?;
            for later in chunk.offsets {
                // A writer may have completed these frames since they were read.
                self.window = Window::default();
                if self.frame(start, next..=next)?.is_some() {
                    return Ok(0);
                }
                if self.frame(later, next..=u64::MAX)?.is_some() {
                    let message = format!("writes that were durable do not hold; those from byte {later} on do again");
                    return Err(damaged_log(&message).at_path(&self.path).at_offset(start));
                }
            }
            at = chunk.next;
        }
        Ok(last - start)
    }

    /// The end of the last 8 bytes, counted from `start`, that are not all zero.
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

/// Most claims of a chunk, 24 bytes each. A log of claims only is hashed 34 times at most: a chunk spans 8 MiB, and its
/// frames end at most 256 MiB later.
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

    /// A log that is written while it is read: `before` for the first `left` reads, then `after`.
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
    fn a_frame_that_was_written_while_it_was_read_is_no_damage() {
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
            let tail = reader.torn_bytes();
            (tail, std::iter::from_fn(|| reader.next_batch().unwrap()).count())
        };
        assert_eq!(tail(usize::MAX).0.unwrap_err().kind(), crate::error::ErrorKind::Damaged);
        let (tail, more) = tail(1);
        assert_eq!((tail.unwrap(), more), (0, 3));
    }
}
