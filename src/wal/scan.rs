//! Lists all frames of a damaged log that hold.

use super::reader::LogReader;
use crate::env::{Env, ReadMode};
use crate::error::{Error, Result};
use crate::fingerprint::{Entry, Words};
use crate::format::Parameters;
use crate::format::log::{LEAST_FRAME, LogHeader};
use crate::wal::names::name;
use crate::wal::reader::CHUNK;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FramePlace {
    pub(crate) offset: u64,
    /// The end of its padding.
    pub(crate) end: u64,
    pub(crate) sequence: u64,
}

impl LogReader {
    /// Opens a log without reading its header; the sequence number of its first frame is unknown.
    pub(crate) fn open_damaged(env: &dyn Env, store: &Path, number: u64, parameters: &Parameters) -> Result<Self> {
        let path = store.join(name(number));
        let file = env.open(&path, ReadMode::Pread).map_err(|error| Error::io("cannot open", &path, error))?;
        Ok(Self::of_file(path, file, LogHeader { parameters: parameters.clone(), number, first: 1 }))
    }

    /// All frames that hold, at every possible offset, with ascending sequence numbers. A sequence number counts only
    /// if the bytes since the last frame have space for the frames between.
    pub(crate) fn scan(&mut self) -> Result<Vec<FramePlace>> {
        let mut frames: Vec<FramePlace> = Vec::new();
        let (start, first) = (self.position(), self.header().first);
        let mut at = start;
        while at < self.length() {
            let chunk = self.search(at, self.length(), CHUNK, |_, _| true)?;
            for offset in chunk.offsets {
                let between = |end: u64| (offset - end) / LEAST_FRAME;
                let sequences = match frames.last() {
                    Some(last) if offset < last.end => continue,
                    // The header did not hold.
                    None if first == 1 => 1..=u64::MAX,
                    None => first..=first.saturating_add(between(start)),
                    Some(last) => {
                        let next = last.sequence.saturating_add(1);
                        next..=next.saturating_add(between(last.end))
                    }
                };
                let header = self.claim(offset)?.filter(|header| sequences.contains(&header.sequence));
                if let Some(header) = header {
                    frames.push(FramePlace { offset, end: header.end(offset), sequence: header.sequence });
                }
            }
            at = frames.last().map_or(chunk.next, |last| last.end.max(chunk.next));
        }
        Ok(frames)
    }

    /// The entries of a frame that [`LogReader::scan`] returned.
    pub(crate) fn batch_at(&mut self, place: FramePlace) -> Result<Vec<Entry<Words>>> {
        self.seek(place.offset, place.sequence);
        let batch = self.next_batch()?;
        let batch = batch.ok_or_else(|| Error::damaged("a frame does not hold any more").at_path(self.path()))?;
        Ok(batch.1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Log;
    use super::*;
    use crate::env::Memory;
    use crate::fingerprint::{Record, to_words};
    use crate::format::log::write_operations;
    use std::sync::Arc;

    #[test]
    fn frames_are_found_after_damage_and_without_a_header() {
        let memory = Memory::default();
        let (env, store): (Arc<dyn Env>, _) = (Arc::new(memory.clone()), Path::new("s"));
        env.create_dir(store).unwrap();
        let parameters = Parameters::new(3);
        let header = LogHeader { parameters: parameters.clone(), number: 4, first: 10 };
        let log = Log::create(&env, store, &header).unwrap();
        let batch = |number: u64| {
            (0..1 + number % 3)
                .map(|id| Entry { record: Record::new(to_words(number), id), is_tombstone: id == 1 })
                .collect::<Vec<_>>()
        };
        for number in 10..20 {
            let mut bytes = Vec::new();
            write_operations(&batch(number), 1, &mut bytes);
            log.append(number, &bytes).unwrap();
        }
        let path = store.join("00000004.wal");
        let bytes = memory.bytes(&path).unwrap();
        let scan = |bytes: Vec<u8>| {
            memory.set_bytes(&path, bytes);
            let mut reader = LogReader::open_damaged(&memory, store, 4, &parameters).unwrap();
            let frames = reader.scan().unwrap();
            for &frame in &frames {
                assert_eq!(reader.batch_at(frame).unwrap(), batch(frame.sequence));
            }
            frames
        };
        let all = scan(bytes.clone());
        assert_eq!(all.iter().map(|frame| frame.sequence).collect::<Vec<_>>(), (10..20).collect::<Vec<_>>());
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].offset));
        for (number, frame) in all.iter().enumerate() {
            for at in [frame.offset, frame.offset + 9, frame.end - 1] {
                let mut bytes = bytes.clone();
                bytes[at as usize] ^= 0x10;
                bytes[3] ^= 1;
                let mut expected = all.clone();
                expected.remove(number);
                assert_eq!(scan(bytes), expected);
            }
        }
    }
}
