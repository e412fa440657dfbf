//! Segments taken apart, changed, and reassembled with correct checksums.

use crate::support::*;
use fpstore::{Fingerprint, Parameters, ReadMode, Record};
use std::path::PathBuf;

/// The checksum of a unit, including stream and number.
pub(crate) fn placed(stream: u32, number: u64, bytes: &[u8]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&stream.to_le_bytes());
    hasher.update(&number.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize().to_le_bytes()
}

pub(super) fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The length of parameters with the hasher's name; their last field gives its length.
pub(super) fn parameters_length(bytes: &[u8]) -> usize {
    PARAMETERS + usize::from(u16::from_le_bytes([bytes[14], bytes[15]]))
}

/// Bytes of parameters without a hasher.
pub(crate) const PARAMETERS: usize = 16;

/// Writes a unit's checksum into its last four bytes.
fn close(unit: &mut [u8], stream: u32, number: u64) {
    if let Some(end) = unit.len().checked_sub(4) {
        let checksum = placed(stream, number, &unit[..end]);
        unit[end..].copy_from_slice(&checksum);
    }
}

/// A segment's parts, except those that can be computed from others.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) header: Vec<u8>,
    pub(crate) parameters: Vec<u8>,
    pub(crate) records: u64,
    pub(crate) fingerprints: u64,
    pub(crate) blocks: Vec<u64>,
    /// Data, codes and index of each table, ids, id index, id dictionary.
    pub(crate) sections: Vec<Vec<u8>>,
    /// Bytes before each section.
    pub(crate) padding: Vec<Vec<u8>>,
    /// Bytes after the last section.
    pub(crate) tail: Vec<u8>,
    /// Bytes to overwrite in the footer before it is sealed.
    pub(crate) patches: Vec<(usize, Vec<u8>)>,
}

impl Parts {
    /// The segment that the library writes.
    pub(crate) fn of(parameters: &Parameters, records: &[Record]) -> Self {
        Self::wide(parameters, records)
    }

    /// The same with fingerprints of any width.
    pub(crate) fn wide<F: Fingerprint>(parameters: &Parameters, records: &[Record<F>]) -> Self {
        let fixture = Fixture::new(ReadMode::Mmap);
        drop(fixture.load_wide(parameters, records, 1));
        Self::take(&fixture.env.bytes(&segment()).unwrap())
    }

    pub(crate) fn take(bytes: &[u8]) -> Self {
        let trailer = bytes.len() - 16;
        let length = u32::from_le_bytes(bytes[trailer..trailer + 4].try_into().unwrap()) as usize;
        let footer = &bytes[trailer - length..trailer];
        let after = parameters_length(footer);
        let tables = (length - after - 72) / 56;
        let places = (0..3 * tables + 3).map(|section| after + 24 + 8 * tables + 16 * section);
        let sections = places.map(|at| {
            let start = number(footer, at) as usize;
            bytes[start..start + number(footer, at + 8) as usize].to_vec()
        });
        Self {
            header: bytes[..16].to_vec(),
            parameters: footer[..after].to_vec(),
            records: number(footer, after),
            fingerprints: number(footer, after + 8),
            blocks: (0..tables).map(|table| number(footer, after + 24 + 8 * table)).collect(),
            sections: sections.collect(),
            padding: vec![Vec::new(); 3 * tables + 3],
            tail: Vec::new(),
            patches: Vec::new(),
        }
    }

    pub(crate) fn ids(&mut self) -> &mut Vec<u8> {
        let ids = self.sections.len() - 3;
        &mut self.sections[ids]
    }

    pub(crate) fn id_index(&mut self) -> &mut Vec<u8> {
        let index = self.sections.len() - 2;
        &mut self.sections[index]
    }

    pub(crate) fn id_dictionary(&mut self) -> &mut Vec<u8> {
        self.sections.last_mut().unwrap()
    }

    /// The position in the footer of a section's offset; its length follows 8 bytes later.
    pub(crate) fn place(&self, section: usize) -> usize {
        self.parameters.len() + 24 + 8 * self.blocks.len() + 16 * section
    }

    /// The offset of a section.
    pub(crate) fn start(&self, section: usize) -> usize {
        let before = self.sections[..section].iter().chain(&self.padding[..=section]);
        16 + before.map(Vec::len).sum::<usize>()
    }

    /// Moves a section to the next multiple of 4,096.
    pub(crate) fn align(&mut self, section: usize) {
        let start = self.start(section);
        self.padding[section].resize(start.next_multiple_of(4096) - start, 0);
    }

    pub(crate) fn patch(&mut self, at: usize, bytes: impl Into<Vec<u8>>) {
        self.patches.push((at, bytes.into()));
    }

    /// Pages of rows have a fixed size.
    fn page_size(&self, table: u32) -> usize {
        let width = u16::from_le_bytes([self.parameters[0], self.parameters[1]]);
        let block_size = u32::from_le_bytes(self.parameters[10..14].try_into().unwrap()) as usize;
        if table == 0 && width > 64 { 4096 } else { block_size.clamp(4096, 65536) }
    }

    /// Computes the checksums of all units.
    fn close(&mut self) {
        let tables = self.blocks.len();
        let sizes: Vec<usize> = (0..tables as u32).map(|table| self.page_size(table)).collect();
        for (table, sections) in (0u32..).zip(self.sections[..3 * tables].chunks_mut(3)) {
            (0..).zip(sections[0].chunks_mut(sizes[table as usize])).for_each(|(page, unit)| close(unit, table, page));
            close(&mut sections[1], 0x100 + table, 0);
            close_index(&mut sections[2], self.blocks[table as usize], table);
        }
        (0..).zip(self.ids().chunks_mut(4096)).for_each(|(page, unit)| close(unit, 0x300, page));
        (0..).zip(self.id_index().chunks_mut(2052)).for_each(|(chunk, unit)| close(unit, 0x400, chunk));
        close(self.id_dictionary(), 0x500, 0);
        let seal = crc32fast::hash(&self.header[..12]).to_le_bytes();
        self.header.truncate(12);
        self.header.extend(seal);
    }

    /// The content and the footer, without the trailer.
    fn halves(&self) -> (Vec<u8>, Vec<u8>) {
        let mut parts = self.clone();
        parts.close();
        let mut content = parts.header.clone();
        let mut footer = parts.parameters.clone();
        for value in [parts.records, parts.fingerprints, 0].iter().chain(&parts.blocks) {
            footer.extend(value.to_le_bytes());
        }
        for (padding, section) in parts.padding.iter().zip(&parts.sections) {
            content.extend(padding);
            footer.extend((content.len() as u64).to_le_bytes());
            footer.extend((section.len() as u64).to_le_bytes());
            content.extend(section);
        }
        content.extend(&parts.tail);
        (content, footer)
    }

    /// The segment's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.bytes_with(|_| {}, |_| {})
    }

    /// The segment's bytes with changes after the units' checksums, or after the hash of the content.
    pub(crate) fn bytes_with(&self, content: impl FnOnce(&mut [u8]), footer: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let (mut bytes, mut end) = self.halves();
        content(&mut bytes);
        let hash = self.parameters.len() + 16;
        end[hash..hash + 8].copy_from_slice(&xxhash_rust::xxh64::xxh64(&bytes, 0).to_le_bytes());
        for (at, patch) in &self.patches {
            end[*at..at + patch.len()].copy_from_slice(patch);
        }
        footer(&mut end);
        bytes.extend(trailed(end));
        bytes
    }
}

/// The footer with its trailer.
pub(crate) fn trailed(mut footer: Vec<u8>) -> Vec<u8> {
    footer.extend(u32::try_from(footer.len()).unwrap().to_le_bytes());
    let seal = crc32fast::hash(&footer).to_le_bytes();
    footer.extend(seal);
    footer.extend(b"fpsegend");
    footer
}

/// Bytes of an index chunk before its packed columns.
pub(crate) const CHUNK: usize = 19;

/// Bytes of a directory chunk before its packed columns, and of the boundaries before theirs.
pub(crate) const DIRECTORY: usize = 23;
const BOUNDARIES: usize = 11;

fn close_index(section: &mut [u8], blocks: u64, table: u32) {
    let mut at = 0;
    if blocks > 256 {
        let directories = blocks.div_ceil(256 * 256);
        for number in 0..directories {
            let Some(end) = close_chunk(section, at, (DIRECTORY, 3), (0x700 + table, number)) else { return };
            at = end;
        }
        let Some(end) = close_chunk(section, at, (BOUNDARIES, 1), (0x700 + table, directories)) else { return };
        at = end;
    }
    for number in 0.. {
        let Some(end) = close_chunk(section, at, (CHUNK, 4), (0x200 + table, number)) else { return };
        at = end;
    }
}

/// Closes the chunk that begins at a place, with a header of this size and so many columns; the end of it.
fn close_chunk(section: &mut [u8], at: usize, header: (usize, usize), place: (u32, u64)) -> Option<usize> {
    let front = section.get(at..at + header.0)?;
    let rows = usize::from(u16::from_le_bytes([front[0], front[1]]));
    let widths: usize = front[2..2 + header.1].iter().map(|&width| usize::from(width)).sum();
    let end = at + header.0 + (rows * widths).div_ceil(8) + 4;
    close(section.get_mut(at..end)?, place.0, place.1);
    Some(end)
}

/// The gap, count, length and kind of a block in an index.
pub(crate) type Entry = (u64, u16, u16, u8);

/// The index of up to 256 blocks, in as many bits as each column may have.
pub(crate) fn index(entries: &[Entry]) -> Vec<u8> {
    let least = entries.iter().map(|entry| entry.3).min().unwrap_or(0);
    let column = |value: fn(&Entry) -> u64, bits| entries.iter().map(move |entry| (value(entry), bits));
    let columns = column(|entry| entry.0, 64)
        .chain(column(|entry| entry.1.into(), 16))
        .chain(column(|entry| entry.2.into(), 16))
        .chain(entries.iter().map(|entry| (u64::from(entry.3 - least), 6)));
    let bits: Vec<bool> = columns.flat_map(|(value, bits)| (0..bits).map(move |bit| value >> bit & 1 == 1)).collect();
    let bytes: Vec<u8> =
        bits.chunks(8).map(|bits| (0..).zip(bits).map(|(at, &bit)| u8::from(bit) << at).sum()).collect();
    chunk(entries.len() as u16, [64, 16, 16, 6], (0, 0, 0, least), &bytes)
}

/// One chunk of a block index: `widths` and `least` are those of gap, count, length and kind; `columns` are consecutive
/// bits.
pub(crate) fn chunk(blocks: u16, widths: [u8; 4], least: (u64, u16, u16, u8), columns: &[u8]) -> Vec<u8> {
    let mut out = blocks.to_le_bytes().to_vec();
    out.extend(widths);
    out.extend(least.0.to_le_bytes());
    out.extend([least.1.to_le_bytes(), least.2.to_le_bytes()].concat());
    out.push(least.3);
    out.extend(columns);
    out.extend([0; 4]);
    out
}

/// The name of the first segment.
pub(crate) fn segment() -> PathBuf {
    PathBuf::from("store/00000001.segment")
}
