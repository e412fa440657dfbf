//! Corrects all checksums of a mutated file, as far as its parts can be located, so that a fuzzer gets past them.

use crate::conventions::{Bytes, crc32, placed, uint, xxh64};
use crate::plan::{Parameters, read_parameters, tables};
use crate::segment::locate_footer;
use crate::{logs, text_ids};

/// Writes the placed checksum at the end of a unit.
pub fn unit(bytes: &mut [u8], stream: u32, number: u64) {
    if let Some(at) = bytes.len().checked_sub(4) {
        let sum = placed(stream, number, &bytes[..at]);
        bytes[at..].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Writes a plain checksum.
pub fn plain(bytes: &mut [u8]) {
    if let Some(at) = bytes.len().checked_sub(4) {
        let sum = crc32(bytes[..at].iter().copied());
        bytes[at..].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Pages of this size, the last one possibly shorter.
pub fn pages(section: &mut [u8], size: usize, stream: u32) {
    for (number, page) in (0..).zip(section.chunks_mut(size)) {
        unit(page, stream, number);
    }
}

/// The directory of a block index of this many blocks, and its chunks.
pub fn index(section: &mut [u8], blocks: u64, table: u8) {
    let (mut rest, mut number, mut left) = (section, 0, blocks.div_ceil(256));
    while blocks > 256 && number <= blocks.div_ceil(256 * 256) {
        let is_last = left == 0;
        let (header, widths) = if is_last { (15, 2..3) } else { (27, 2..5) };
        if rest.len() < header {
            return;
        }
        let rows = uint(&rest[..2]);
        let bits: usize = rest[widths].iter().map(|&bits| usize::from(bits)).sum();
        let length = header + (rows as usize * bits).div_ceil(8);
        if length > rest.len() {
            return;
        }
        let (chunk, after) = rest.split_at_mut(length);
        unit(chunk, 0x700 + u32::from(table), number);
        (number, left, rest) = (number + 1, left.saturating_sub(256), after);
    }
    number = 0;
    while rest.len() >= 23 {
        let bits: usize = rest[2..6].iter().map(|&bits| usize::from(bits)).sum();
        let length = 23 + (uint(&rest[..2]) as usize * bits).div_ceil(8);
        if length > rest.len() {
            return;
        }
        let (chunk, after) = rest.split_at_mut(length);
        unit(chunk, 0x200 + u32::from(table), number);
        number += 1;
        rest = after;
    }
}

/// Chunks of an index of pages of ids.
pub fn id_index(section: &mut [u8]) {
    pages(section, 2 * 1024 + 4, 0x400);
}

/// Chunks of an index of text ids.
pub fn text_index(section: &mut [u8]) {
    let (mut rest, mut number) = (section, 0);
    while rest.len() >= 12 {
        let bits = usize::from(rest[2]) + usize::from(rest[3]);
        let length = 12 + (uint(&rest[..2]) as usize * bits).div_ceil(8);
        if length > rest.len() {
            return;
        }
        let (chunk, after) = rest.split_at_mut(length);
        unit(chunk, 0x400, number);
        number += 1;
        rest = after;
    }
}

/// The three sections of text ids.
pub fn texts(ids: &mut [u8], index: &mut [u8], dictionary: &mut [u8]) {
    text_index(index);
    unit(dictionary, 0x500, 0);
    let mut rest = ids;
    let frames = text_ids::read_index(index, rest.len() as u64).unwrap_or_default();
    for (number, (length, _)) in (0..).zip(frames) {
        let (frame, after) = std::mem::take(&mut rest).split_at_mut(length as usize);
        unit(frame, 0x300, number);
        rest = after;
    }
}

/// The three sections of a table, in this order.
pub fn table([data, codes, section]: [&mut [u8]; 3], blocks: u64, parameters: &Parameters, number: u8) {
    let rows = number == 0 && parameters.width > 64;
    pages(data, if rows { 4096 } else { parameters.block_size.max(4096) }, number.into());
    unit(codes, 0x100 + u32::from(number), 0);
    index(section, blocks, number);
}

/// A log, except the frame with this number, from 1 on: the frames after it hold and it does not.
pub fn log(file: &mut [u8], spared: usize) {
    let Ok(at) = logs::header_sum_at(file) else { return };
    plain(&mut file[..at + 4]);
    let log = uint(&file[at - 16..at - 8]);
    let (mut at, mut number) = ((at + 4).div_ceil(8) * 8, 1);
    while let Some((sum, end)) = logs::frame_sum(file, at, log)
        && uint(&file[at..at + 4]) > 0
    {
        if number != spared {
            file[at + 4..at + 8].copy_from_slice(&sum.to_le_bytes());
        }
        (at, number) = (end, number + 1);
    }
}

/// A segment file.
pub fn segment(file: &mut [u8]) {
    let Ok(at) = locate_footer(file) else { return };
    plain(&mut file[..16]);
    let end = file.len() - 8;
    sections(file, at);
    let hash = xxh64(&file[..at]);
    let mut fields = Bytes::new(&file[at..]);
    if read_parameters(&mut fields).is_ok() && fields.rest.len() >= 24 {
        let place = file.len() - fields.rest.len() + 16;
        file[place..place + 8].copy_from_slice(&hash.to_le_bytes());
    }
    plain(&mut file[at..end]);
}

fn sections(file: &mut [u8], at: usize) {
    let (content, footer) = file.split_at_mut(at);
    let mut fields = Bytes::new(footer);
    let Ok(parameters) = read_parameters(&mut fields) else { return };
    let count = tables(&parameters).len();
    let Ok(blocks) = fields.take(24).and_then(|_| fields.take(8 * count)) else { return };
    let mut end = 0;
    let mut parts: Vec<&mut [u8]> = Vec::new();
    let mut rest = content;
    for _ in 0..3 * count + 3 + usize::from(parameters.keys.is_some()) {
        let (Ok(start), Ok(length)) = (fields.uint(8), fields.uint(8)) else { return };
        let (Some(skipped), Some(stop)) = (start.checked_sub(end), start.checked_add(length)) else { return };
        if stop > end + rest.len() as u64 {
            return;
        }
        rest = &mut std::mem::take(&mut rest)[skipped as usize..];
        let (part, after) = std::mem::take(&mut rest).split_at_mut(length as usize);
        parts.push(part);
        (rest, end) = (after, stop);
    }
    if parameters.keys.is_some() {
        parts.pop().into_iter().for_each(|sketches| pages(sketches, 4096, 0x600));
    }
    for (number, parts) in (0..).zip(parts.chunks_mut(3)) {
        let [first, second, third] = parts else { return };
        if number < count {
            table([first, second, third], uint(&blocks[8 * number..8 * number + 8]), &parameters, number as u8);
        } else if parameters.id_kind == 2 {
            texts(first, second, third);
        } else {
            pages(first, 4096, 0x300);
            id_index(second);
        }
    }
}
