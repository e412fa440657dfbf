//! The write-ahead log: a header and one frame for each batch of writes (format-spec/wal.md).

use super::fields::{Fields, seal};
use super::manifest::MOST_NUMBER;
use super::parameters::Parameters;
use crate::error::{Error, Result};
use crate::fingerprint::{AnyFingerprint, Entry, Id, IdKind, Record, Words, check_text, read_words, write_words};

const MAGIC: &[u8; 8] = b"fpstrwal";
/// Frames begin at multiples of this.
pub(crate) const ALIGNMENT: u64 = 8;
/// Bytes of a frame before its operations.
pub(crate) const FRAME_HEADER: usize = 24;
/// Fewest bytes of a frame: its header and one unit of operations.
pub(crate) const LEAST_FRAME: u64 = FRAME_HEADER as u64 + ALIGNMENT;
/// Most bytes of a frame's operations.
pub(crate) const MOST_BYTES: usize = 256 << 20;
/// Longest header: parameters with the longest hasher name.
pub(crate) const MOST_HEADER: usize = 2048;

/// The byte before a run of operations of one kind.
const INSERT: u8 = 1;
const REMOVE: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogHeader {
    pub(crate) parameters: Parameters,
    /// The log's number, which gives its name.
    pub(crate) number: u64,
    /// The sequence number of its first frame.
    pub(crate) first: u64,
}

impl LogHeader {
    /// The header's bytes, padded with zeros to where a frame may begin.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&super::VERSION.to_le_bytes());
        self.parameters.write(&mut out);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.first.to_le_bytes());
        seal(&mut out);
        pad(&mut out);
        out
    }

    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        fields.magic(MAGIC)?;
        fields.version()?;
        let parameters = Parameters::parse(fields)?;
        let (number, first) = (fields.u64("log number")?, fields.u64("first sequence number")?);
        fields.checksum()?;
        if number == 0 || first == 0 {
            return Err(fields.damaged("numbers of logs and sequence numbers begin at 1"));
        }
        if number.max(first) > MOST_NUMBER {
            return Err(fields.damaged("a number that no store reaches"));
        }
        let padding = usize::try_from(fields.offset().next_multiple_of(ALIGNMENT) - fields.offset()).unwrap_or(0);
        if fields.bytes("padding", padding, &"")?.iter().any(|&byte| byte != 0) {
            return Err(fields.damaged("padding is not zero"));
        }
        Ok(Self { parameters, number, first })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub(crate) length: u32,
    pub(crate) checksum: u32,
    /// Each frame has the number after that of the frame before.
    pub(crate) sequence: u64,
    /// Bytes of this log that were durable at the time of writing.
    pub(crate) synced: u64,
}

impl FrameHeader {
    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        Ok(Self {
            length: fields.u32("length")?,
            checksum: fields.foreign_checksum("checksum")?,
            sequence: fields.u64("sequence number")?,
            synced: fields.u64("durable bytes")?,
        })
    }

    /// The checksum of a frame of log `log` at `offset`; the same bytes elsewhere have another one.
    pub(crate) fn sum(&self, log: u64, offset: u64, operations: &[u8]) -> u32 {
        let mut hasher = self.begun(log, offset);
        hasher.update(operations);
        hasher.finalize()
    }

    /// The CRC-32 of a range of the file that ends with the operations of this frame, if the frame is sound; `before`
    /// is that of the range up to the operations.
    ///
    /// The CRC-32 of two consecutive strings is `shift(crc(first), bytes of the second) ^ crc(second)`, and `shift` is
    /// linear. The second string is the operations in both cases, so their own checksum cancels out.
    pub(crate) fn sum_behind(&self, log: u64, offset: u64, before: u32) -> u32 {
        let begun = self.begun(log, offset).finalize() ^ before;
        let mut hasher = crc32fast::Hasher::new_with_initial(begun);
        hasher.combine(&crc32fast::Hasher::new_with_initial_len(self.checksum, self.length.into()));
        hasher.finalize()
    }

    fn begun(&self, log: u64, offset: u64) -> crc32fast::Hasher {
        let mut hasher = crc32fast::Hasher::new();
        for value in [log, offset, u64::from(self.length), self.sequence, self.synced] {
            hasher.update(&value.to_le_bytes());
        }
        hasher
    }

    /// Where the next frame begins after one at `offset`.
    pub(crate) fn end(&self, offset: u64) -> u64 {
        (offset + FRAME_HEADER as u64).saturating_add(self.length.into()).next_multiple_of(ALIGNMENT)
    }
}

/// The bytes of a frame with operations of [`write_operations`], padded with zeros to the next frame.
pub(crate) fn write_frame(log: u64, offset: u64, sequence: u64, synced: u64, operations: &[u8]) -> Vec<u8> {
    let length = u32::try_from(operations.len()).unwrap_or(u32::MAX);
    let mut header = FrameHeader { length, checksum: 0, sequence, synced };
    header.checksum = header.sum(log, offset, operations);
    let mut out = Vec::with_capacity(FRAME_HEADER + operations.len() + ALIGNMENT as usize);
    out.extend_from_slice(&header.length.to_le_bytes());
    out.extend_from_slice(&header.checksum.to_le_bytes());
    out.extend_from_slice(&sequence.to_le_bytes());
    out.extend_from_slice(&synced.to_le_bytes());
    out.extend_from_slice(operations);
    pad(&mut out);
    out
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
}

/// Appends operations on fingerprints of this many words; consecutive operations of one kind share a header.
pub(crate) fn write_operations(operations: &[Entry<Words>], words: usize, out: &mut Vec<u8>) {
    for run in operations.chunk_by(|a, b| a.is_tombstone == b.is_tombstone) {
        out.push(if run.first().is_some_and(|first| first.is_tombstone) { REMOVE } else { INSERT });
        out.extend_from_slice(&u32::try_from(run.len()).unwrap_or(u32::MAX).to_le_bytes());
        for Entry { record, .. } in run {
            write_words(record.fingerprint, words, out);
            match &record.id {
                Id::Number(number) | Id::Count(number) => out.extend_from_slice(&number.to_le_bytes()),
                Id::Text(text) => {
                    out.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
                    out.extend_from_slice(text.as_bytes());
                }
            }
        }
    }
}

/// Reads the operations of a frame whose fingerprints have this many words.
pub(crate) fn parse_operations(fields: &mut Fields<'_>, words: usize, ids: IdKind) -> Result<Vec<Entry<Words>>> {
    let mut operations = Vec::new();
    while fields.remaining() > 0 {
        let is_tombstone = match fields.u8("operation")? {
            INSERT => false,
            REMOVE => true,
            other => return Err(fields.damaged(format!("unknown operation {other}"))),
        };
        let count = fields.u32("records")? as usize;
        // An id takes at least two bytes.
        if count == 0 || count > fields.remaining() / (8 * words + 2) {
            return Err(fields.damaged(format!("{count} records do not fit {} bytes", fields.remaining())));
        }
        operations.reserve(count);
        for _ in 0..count {
            let record = parse_record(fields, words, ids)?;
            operations.push(Entry { record, is_tombstone });
        }
    }
    Ok(operations)
}

fn parse_record(fields: &mut Fields<'_>, words: usize, ids: IdKind) -> Result<Record<Words>> {
    let fingerprint = fields.peek(8 * words).map(read_words).unwrap_or_default();
    fields.bytes("fingerprint", 8 * words, &AnyFingerprint::of_words(fingerprint, words))?;
    let id = match ids {
        IdKind::Number => Id::Number(fields.u64("id")?),
        IdKind::None => Id::Count(fields.u64("count")?),
        IdKind::Text => {
            let length = usize::from(fields.u16("length of the id")?);
            let shown = fields.peek(length).map(String::from_utf8_lossy).unwrap_or_default();
            let bytes = fields.bytes("id", length, &shown)?;
            let text = std::str::from_utf8(bytes).map_err(|_| fields.damaged("an id that is no text"))?;
            check_text(text).map_err(|error| fields.damaged(error.message()))?;
            Id::Text(text.into())
        }
    };
    if id == Id::Count(0) {
        return Err(fields.damaged("a count of no records"));
    }
    Ok(Record { fingerprint, id })
}

/// The error for a log that breaks off where it must not.
pub(crate) fn damaged_log(message: &str) -> Error {
    Error::damaged(message)
        .with_remedy("run `fprepair` on the store: it lists the records that can be saved, and saves them with --yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(ids: IdKind, words: usize) -> Vec<Entry<Words>> {
        let entry = |number: u64| {
            let id = match ids {
                IdKind::Number => Id::Number(number),
                IdKind::None => Id::Count(number + 1),
                IdKind::Text => Id::Text(format!("/a/{number}").into()),
            };
            let bytes: Vec<u8> = (0..words as u64).flat_map(|word| (number << 32 | word).to_le_bytes()).collect();
            Entry { record: Record { fingerprint: read_words(&bytes), id }, is_tombstone: number % 4 == 2 }
        };
        (0..9).map(entry).collect()
    }

    #[test]
    fn cut_operations_are_the_first_ones_or_an_error_with_its_place() {
        for (ids, words) in IdKind::ALL.into_iter().flat_map(|ids| [1, 2, 4].map(|words| (ids, words))) {
            let operations = operations(ids, words);
            let mut bytes = Vec::new();
            write_operations(&operations, words, &mut bytes);
            let read = |end: usize| parse_operations(&mut Fields::new(&bytes[..end], 0), words, ids);
            assert_eq!(read(bytes.len()).unwrap(), operations);
            // Only a cut between two runs of operations leaves some.
            let mut lengths = Vec::new();
            for end in 0..bytes.len() {
                match read(end) {
                    Ok(first) => {
                        assert!(operations.starts_with(&first), "{ids} {words} {end}");
                        lengths.push(first.len());
                    }
                    Err(error) => assert!(error.offset().is_some(), "{ids} {words} {end}: {error}"),
                }
            }
            assert_eq!(lengths, [0, 2, 3, 6, 7], "{ids} {words}");
        }
    }
}
