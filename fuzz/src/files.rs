//! The structures of segments and manifests, each alone.

use crate::{Take, naive_parameters, parameters};
use fpstore::ReadMode;
use fpstore::fuzzing;
use naive::seal;

/// A table from a target's bytes: parameters, number, blocks, fingerprints, and the three sections, sealed on request.
pub(crate) struct TableCase {
    pub(crate) parameters: fpstore::Parameters,
    pub(crate) number: u8,
    pub(crate) blocks: u64,
    pub(crate) fingerprints: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) lengths: [u64; 3],
    pub(crate) mode: ReadMode,
}

impl TableCase {
    pub(crate) fn take(take: &mut Take<'_>) -> Self {
        let (byte, number) = (take.u8(), take.u8());
        let (sealed, mode, number) = (number & 128 == 0, number & 64 == 0, number & 1);
        let parameters = parameters(byte);
        let (blocks, fingerprints) = (take.u16().into(), take.u64() >> (take.u8() & 63));
        let (mut codes, mut index) = (take.part().to_vec(), take.part().to_vec());
        let mut data = take.rest().to_vec();
        if sealed {
            seal::table([&mut data, &mut codes, &mut index], blocks, &naive_parameters(&parameters), number);
        }
        let lengths = [&data, &codes, &index].map(|section| section.len() as u64);
        let mode = if mode { ReadMode::Mmap } else { ReadMode::Pread };
        Self { parameters, number, blocks, fingerprints, bytes: [data, codes, index].concat(), lengths, mode }
    }

    pub(crate) fn read(&self) -> Result<Vec<Vec<u64>>, fpstore::Error> {
        let Self { parameters, number, blocks, fingerprints, bytes, lengths, mode } = self;
        fuzzing::table(bytes, *lengths, *blocks, *fingerprints, parameters, *number, *mode)
    }
}

/// A closed page opens, one with a wrong checksum does not. A table is refused or read, with the same result by both
/// ways of reading.
pub fn page(data: &[u8]) {
    let mut take = Take(data);
    if take.u8() & 1 == 0 {
        let (stream, table, number) = (take.u8() % 6, take.u8(), take.u64());
        let mut page = take.rest().to_vec();
        let opened = fuzzing::page(&page, stream, table, number).is_ok();
        let stream_number = match stream {
            0..=2 => u32::from(stream) << 8 | u32::from(table),
            _ => u32::from(stream) << 8,
        };
        let before = page.clone();
        seal::unit(&mut page, stream_number, number);
        assert_eq!(opened, page.len() >= 4 && page == before);
        assert_eq!(fuzzing::page(&page, stream, table, number).is_ok(), page.len() >= 4);
        return;
    }
    let mut case = TableCase::take(&mut take);
    let keys = case.read();
    case.mode = if case.mode == ReadMode::Mmap { ReadMode::Pread } else { ReadMode::Mmap };
    match (keys, case.read()) {
        (Ok(keys), Ok(again)) => {
            assert_eq!(keys, again);
            let keys = keys.concat();
            let rows = case.number == 0 && case.parameters.width() > 64;
            assert!(rows || keys.is_sorted_by(|a, b| a < b) || keys.windows(2).all(|two| two[0] <= two[1]));
        }
        (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string()),
        (one, other) => panic!("{one:?} {other:?}"),
    }
}

/// An index section with its parameters.
pub(crate) fn index_case(take: &mut Take<'_>) -> (fpstore::Parameters, u8, u64, Vec<u8>) {
    let (byte, table) = (take.u8(), take.u8());
    let (sealed, table) = (table & 128 == 0, table & 1);
    let blocks = take.u16().into();
    let mut section = take.rest().to_vec();
    if sealed {
        seal::index(&mut section, blocks, table);
    }
    (parameters(byte), table, blocks, section)
}

/// The index has as many entries as requested, with ascending keys.
pub fn index(data: &[u8]) {
    let (parameters, table, blocks, section) = index_case(&mut Take(data));
    let Ok(entries) = fuzzing::index(&section, blocks, &parameters, table) else { return };
    assert_eq!(entries.len() as u64, blocks);
    let rows = table == 0 && parameters.width() > 64;
    assert!(entries.windows(2).all(|two| two[0].0 < two[1].0 || rows && two[0].0 == two[1].0));
    assert!(entries.iter().all(|entry| entry.1 > 0));
}

/// A header or footer with its offset.
pub(crate) fn footer_case(take: &mut Take<'_>) -> (Vec<u8>, u64) {
    let mode = take.u8();
    let mut bytes = take.rest().to_vec();
    let offset = take_offset(&bytes, mode);
    if mode & 1 == 0
        && let Some(end) = bytes.len().checked_sub(8)
    {
        if mode & 2 == 0 && end >= 8 {
            bytes[end..].copy_from_slice(b"fpsegend");
            let length = u32::try_from(end - 8).unwrap_or(0);
            bytes[end - 8..end - 4].copy_from_slice(&length.to_le_bytes());
        }
        seal::plain(&mut bytes[..end]);
    }
    (bytes, offset)
}

/// The end of the last section, if the bytes give it, so that most footers are in the right place. File offsets fit 63
/// bits.
fn take_offset(bytes: &[u8], mode: u8) -> u64 {
    let number = |at: usize| bytes.get(at..at + 8).map_or(0, naive::conventions::uint);
    let end = bytes.len().saturating_sub(32);
    let offset = if mode & 4 == 0 { number(end).wrapping_add(number(end + 8)) } else { number(0) };
    offset & (u64::MAX >> 1)
}

/// Writing a footer that was read gives the same bytes; a trace of a refused one shows bytes of it in order.
pub fn header_footer(data: &[u8]) {
    let mut take = Take(data);
    if take.u8() & 1 == 0 {
        let mut bytes = take.rest().to_vec();
        let _ = fuzzing::header(&bytes);
        seal::plain(&mut bytes);
        if fuzzing::header(&bytes).is_ok() {
            assert_eq!(bytes[..12], *b"fpsegmnt\x06\0\0\0");
        }
        return;
    }
    let (bytes, offset) = footer_case(&mut take);
    let trailer = &bytes[bytes.len().saturating_sub(16)..];
    // A caller that locates a footer has read the whole trailer.
    let lengths = [bytes.len() as u64, offset.saturating_add(bytes.len() as u64), offset];
    for length in lengths.into_iter().filter(|&length| length >= 16 && trailer.len() == 16) {
        if let Ok((start, size)) = fuzzing::locate_footer(trailer, length) {
            assert_eq!(start + size, length);
        }
    }
    if let Ok(again) = fuzzing::footer(&bytes, offset) {
        assert_eq!(again, bytes);
    }
    traced(&bytes, offset, fuzzing::footer_fields(&bytes, offset));
}

pub(crate) fn traced(bytes: &[u8], offset: u64, fields: Vec<fpstore::inspect::Field>) {
    let mut at = 0;
    for field in fields {
        assert_eq!(field.offset, offset.wrapping_add(at as u64));
        assert_eq!(field.bytes, bytes[at..at + field.bytes.len()]);
        at += field.bytes.len();
    }
}

/// A manifest, sealed on request.
pub(crate) fn manifest_case(take: &mut Take<'_>) -> Vec<u8> {
    let sealed = take.u8() & 1 == 0;
    let mut bytes = take.rest().to_vec();
    if sealed {
        seal::plain(&mut bytes);
    }
    bytes
}

/// Writing a manifest that was read gives the same bytes.
pub fn manifest(data: &[u8]) {
    let bytes = manifest_case(&mut Take(data));
    if let Ok(again) = fuzzing::manifest(&bytes) {
        assert_eq!(again, bytes);
    }
    traced(&bytes, 0, fuzzing::manifest_fields(&bytes));
}

/// Pages of ids: ids of single fingerprints equal those of the whole page. Indexes of pages: ranks ascend.
pub fn id_page(data: &[u8]) {
    let mut take = Take(data);
    let mode = take.u8();
    if mode & 1 == 1 {
        let pages = u64::from(take.u16()) << (mode >> 4 & 7);
        let mut section = take.rest().to_vec();
        seal::id_index(&mut section);
        if let Ok(ranks) = fuzzing::id_index(&section, pages) {
            assert!(ranks.len() as u64 == pages + 1 && ranks.is_sorted());
        }
        return;
    }
    let payload = take.rest();
    let single = fuzzing::single_ids(payload);
    let Ok((begins, ids)) = fuzzing::id_page(payload, mode & 2 != 0) else { return };
    let mut groups: Vec<Vec<u64>> = Vec::new();
    for (begins, id) in begins.into_iter().zip(ids) {
        if begins {
            groups.push(Vec::new());
        }
        groups.last_mut().into_iter().for_each(|group| group.push(id));
    }
    groups.truncate(100);
    assert_eq!(single.unwrap(), groups);
}

/// The three sections of text ids, sealed on request.
pub(crate) fn text_case(take: &mut Take<'_>) -> (Vec<u8>, [u64; 3]) {
    let sealed = take.u8() & 1 == 0;
    let (mut index, mut dictionary) = (take.part().to_vec(), take.part().to_vec());
    let mut ids = take.rest().to_vec();
    if sealed {
        seal::texts(&mut ids, &mut index, &mut dictionary);
    }
    let lengths = [&ids, &index, &dictionary].map(|section| section.len() as u64);
    ([ids, index, dictionary].concat(), lengths)
}

/// Writing a payload that was read gives the same bytes; texts of single fingerprints equal those of all.
pub fn text_frame(data: &[u8]) {
    let mut take = Take(data);
    match take.u8() % 3 {
        0 => {
            if let Ok((_, again)) = fuzzing::text_payload(take.0) {
                assert_eq!(again, take.0);
            }
        }
        1 => {
            let length = take.u64() >> 40;
            let mut section = take.rest().to_vec();
            seal::text_index(&mut section);
            if let Ok(frames) = fuzzing::text_index(&section, length) {
                assert_eq!(frames.iter().map(|frame| u64::from(frame.0)).sum::<u64>(), length);
            }
        }
        _ => {
            let ranks: Vec<u64> = (0..20).chain([1000, u64::MAX]).collect();
            let (bytes, lengths) = text_case(&mut take);
            let all = fuzzing::text_ids(&bytes, lengths, ReadMode::Pread);
            let _ = fuzzing::single_text_ids(&bytes, lengths, &ranks);
            let Ok(all) = all else { return };
            let mut groups: Vec<Vec<Box<str>>> = Vec::new();
            for (begins, text) in all {
                if begins {
                    groups.push(Vec::new());
                }
                groups.last_mut().unwrap().push(text.into());
            }
            let ranks: Vec<u64> = (0..groups.len().min(50) as u64).collect();
            groups.truncate(50);
            assert_eq!(fuzzing::single_text_ids(&bytes, lengths, &ranks).unwrap(), groups);
            assert!(fuzzing::single_text_ids(&bytes, lengths, &[u64::MAX]).is_err());
        }
    }
}
