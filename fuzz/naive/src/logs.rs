//! wal.md

use crate::conventions::{Bytes, VERSION, check_plain, crc32, uint};
use crate::plan::{Parameters, read_parameters};
use crate::segment::{Fingerprint, Id};
use crate::text_ids::check_text;
use crate::{Res, require};
use std::ops::Range;

/// Whether the record is inserted or removed; and the record.
pub type Operation = (bool, Fingerprint, Id);

/// The content of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub header: Header,
    /// The offset and the operations of each frame.
    pub frames: Vec<(u64, Vec<Operation>)>,
    /// The end of the frames.
    pub end: u64,
    /// Bytes of the torn tail.
    pub torn: u64,
}

/// The part before the frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub parameters: Parameters,
    pub number: u64,
    /// The sequence number of the first frame.
    pub first: u64,
    /// Bytes of the header.
    pub length: usize,
}

/// The next multiple of 8.
fn aligned(offset: usize) -> usize {
    offset.div_ceil(8) * 8
}

/// The offset of a header's checksum, if the file is long enough.
pub fn header_sum_at(file: &[u8]) -> Res<usize> {
    require(file.len() >= 28, "shorter than a header")?;
    let at = 28 + uint(&file[26..28]) as usize + 16;
    require(aligned(at + 4) <= file.len(), "ends within the header")?;
    Ok(at)
}

pub fn read_header(file: &[u8]) -> Res<Header> {
    let mut fields = Bytes::new(file);
    require(fields.take(8)? == b"fpstrwal", "magic")?;
    require(fields.uint(4)? == VERSION, "version")?;
    let at = header_sum_at(file)?;
    check_plain(&file[..at + 4])?;
    let parameters = read_parameters(&mut fields)?;
    let (number, first) = (fields.uint(8)?, fields.uint(8)?);
    require((1..=1 << 63).contains(&number), "log number")?;
    require((1..=1 << 63).contains(&first), "first sequence number")?;
    let length = aligned(at + 4);
    require(file[at + 4..length].iter().all(|&byte| byte == 0), "padding of the header")?;
    Ok(Header { parameters, number, first, length })
}

/// The checksum of the frame that would begin at this offset, and its end, padding included; none if it ends after the
/// file.
pub fn frame_sum(file: &[u8], at: usize, log: u64) -> Option<(u32, usize)> {
    let head = file.get(at..at + 24)?;
    let length = uint(&head[..4]) as usize;
    let end = aligned(at + 24 + length);
    let operations = file.get(at..end)?.get(24..24 + length)?;
    let summed = [&log.to_le_bytes(), &(at as u64).to_le_bytes(), &(length as u64).to_le_bytes(), &head[8..]].concat();
    Some((crc32(summed.into_iter().chain(operations.iter().copied())), end))
}

/// Sequence number, durable bytes, range of the operations and end of the frame, if one holds at this offset.
fn frame(file: &[u8], at: usize, log: u64, least: u64, most: u64) -> Option<(u64, u64, Range<usize>, usize)> {
    let mut fields = Bytes::new(file.get(at..at + 24)?);
    let mut number = |size| fields.uint(size).ok();
    let (length, checksum, sequence, durable) = (number(4)?, number(4)?, number(8)?, number(8)?);
    if !(1..=1 << 28).contains(&length) || !(least..=most).contains(&sequence) || durable > at as u64 {
        return None;
    }
    let (sum, end) = frame_sum(file, at, log)?;
    let operations = at + 24..at + 24 + length as usize;
    let holds = checksum == u64::from(sum) && file[operations.end..end].iter().all(|&byte| byte == 0);
    holds.then_some((sequence, durable, operations, end))
}

fn read_operations(bytes: &[u8], parameters: &Parameters) -> Res<Vec<Operation>> {
    let (mut fields, mut operations) = (Bytes::new(bytes), Vec::new());
    while !fields.rest.is_empty() {
        let (what, records) = (fields.uint(1)?, fields.uint(4)?);
        require(what == 1 || what == 2, "an unknown operation")?;
        require(records > 0, "an operation on no records")?;
        for _ in 0..records {
            let words = fields.take(parameters.width / 8)?;
            let fingerprint: Fingerprint = words.chunks(8).rev().map(uint).collect();
            let id = match parameters.id_kind {
                1 => Id::Number(fields.uint(8)?),
                2 => {
                    let length = fields.uint(2)? as usize;
                    let text = std::str::from_utf8(fields.take(length)?).map_err(|_| "an id that is not UTF-8")?;
                    check_text(text)?;
                    Id::Text(text.to_owned())
                }
                _ => Id::Count(fields.uint(8)?),
            };
            require(id != Id::Count(0), "a count of 0")?;
            operations.push((what == 1, fingerprint, id));
        }
    }
    Ok(operations)
}

/// A whole log, without a known file name.
pub fn read_log(file: &[u8]) -> Res<Log> {
    let header = read_header(file)?;
    let (mut at, mut sequence, mut frames) = (header.length, header.first, Vec::new());
    while let Some((_, _, operations, end)) = frame(file, at, header.number, sequence, sequence) {
        frames.push((at as u64, read_operations(&file[operations], &header.parameters)?));
        (at, sequence) = (end, sequence + 1);
    }
    let mut torn = 0;
    for offset in (at..file.len()).step_by(8) {
        let unit = &file[offset..file.len().min(offset + 8)];
        if unit.iter().any(|&byte| byte != 0) {
            torn = offset + unit.len() - at;
        }
        // A later frame that records a loss. The one at `at` itself does not hold.
        let most = sequence + ((offset - at) / 32) as u64;
        let later = frame(file, offset, header.number, sequence, most);
        require(later.is_none_or(|(_, durable, ..)| durable <= at as u64), "durable writes do not hold")?;
    }
    Ok(Log { header, frames, end: at as u64, torn: torn as u64 })
}
