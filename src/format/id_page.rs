//! A page of document ids (format-spec/ids.md).
//!
//! Ids stand in the order of the primary table: all ids of the first fingerprint, ascending, then those of the second.
//! A page stores its least id and every id's excess over it. If a fingerprint has several ids, the page has either a
//! bitmap that says which records begin a new fingerprint, or groups, whichever takes less.

use super::fields::Fields;
use super::id_groups::{Group, Groups, Header};
use super::id_groups_writer::{self, Filled};
use super::joined::{self, Joined, MAX_JOINED, Packing};
use super::page;
use crate::bits::{BitWriter, count_ones, find_one, load_bits};
use crate::error::{Error, Result};
use std::ops::{ControlFlow, Range};

pub(crate) use super::id_groups::IdEntry;

pub(crate) const SIZE: usize = 4096;
pub(crate) const HEADER: usize = 21;
/// Most records in a page, which counts them in 16 bits.
pub(crate) const MAX_RECORDS: usize = 65_535;

/// The flags of a page: how it tells which records begin a fingerprint.
const PLAIN: u8 = 0;
const BITMAP: u8 = 1;
const GROUPS: u8 = 2;
/// The first group continues one of an earlier page.
const CONTINUED_GROUPS: u8 = 3;

/// Bytes of the records of a page.
const ROOM: usize = SIZE - super::CHECKSUM - HEADER;
/// A page takes so many records with a bitmap, whatever their ids.
const ALWAYS_FIT: usize = 64;

fn bitmap_bytes(records: usize, packing: Packing) -> usize {
    records.div_ceil(8) + packing.length(records).div_ceil(8)
}

/// How many of `entries` (at least one) fit one page with a bitmap, or without one if each begins a fingerprint.
fn fill(entries: &[IdEntry]) -> usize {
    let (mut least, mut greatest, mut plain) = (u64::MAX, 0, true);
    let mut packing = Packing::best(0);
    for (count, entry) in entries.iter().take(MAX_RECORDS).enumerate() {
        if entry.id < least || entry.id > greatest {
            (least, greatest) = (least.min(entry.id), greatest.max(entry.id));
            packing = Packing::best(greatest - least);
        }
        plain &= entry.begins;
        let records = count + 1;
        let bytes = if plain { packing.length(records).div_ceil(8) } else { bitmap_bytes(records, packing) };
        if bytes > ROOM {
            return count.max(1);
        }
    }
    entries.len().min(MAX_RECORDS)
}

/// Appends a page with as many of `entries` (at least one) as fit, without padding and checksum. Returns their number.
/// The ids of each fingerprint ascend.
pub(crate) fn write(entries: &[IdEntry], out: &mut Vec<u8>) -> usize {
    let grouped = || id_groups_writer::fill(entries, MAX_RECORDS, ROOM);
    // Where a group of several records comes soon, groups are tried first, and a bitmap only if it may take as many.
    let tried = entries.iter().take(ALWAYS_FIT).any(|entry| !entry.begins).then(grouped);
    if let Some(filled) = tried {
        let (_, span) = range(entries.get(..filled.records).unwrap_or(entries));
        if bitmap_bytes(filled.records, Packing::best(span)) > ROOM {
            return write_groups(entries, filled, out);
        }
    }
    let marked = entries.get(..fill(entries)).unwrap_or(entries);
    if marked.iter().all(|entry| entry.begins) {
        let (least, span) = write_header(marked, PLAIN, out);
        write_ids(marked, least, span, out);
        return marked.len();
    }
    let filled = tried.unwrap_or_else(grouped);
    let (_, span) = range(marked);
    let saves = || filled.bytes < bitmap_bytes(marked.len(), Packing::best(span));
    if filled.records > marked.len() || filled.records == marked.len() && saves() {
        return write_groups(entries, filled, out);
    }
    let (least, span) = write_header(marked, BITMAP, out);
    let mut bitmap = BitWriter::new(out);
    marked.iter().for_each(|entry| bitmap.push(u64::from(entry.begins), 1));
    bitmap.finish();
    write_ids(marked, least, span, out);
    marked.len()
}

fn write_groups(entries: &[IdEntry], filled: Filled, out: &mut Vec<u8>) -> usize {
    let grouped = entries.get(..filled.records).unwrap_or(entries);
    let is_continued = grouped.first().is_some_and(|entry| !entry.begins);
    let (least, span) = write_header(grouped, if is_continued { CONTINUED_GROUPS } else { GROUPS }, out);
    id_groups_writer::write(grouped, filled, least, span, out);
    grouped.len()
}

/// The least id, and the greatest one less that.
fn range(entries: &[IdEntry]) -> (u64, u64) {
    let least = entries.iter().map(|entry| entry.id).min().unwrap_or(0);
    (least, entries.iter().map(|entry| entry.id).max().unwrap_or(0) - least)
}

/// Returns the range of the ids.
fn write_header(entries: &[IdEntry], flags: u8, out: &mut Vec<u8>) -> (u64, u64) {
    let (least, span) = range(entries);
    let packing = Packing::best(span);
    out.extend_from_slice(&u16::try_from(entries.len()).unwrap_or(0).to_le_bytes());
    let small = |value: u32| u8::try_from(value).unwrap_or(0);
    out.extend_from_slice(&[small(packing.joined), small(packing.bits), flags]);
    out.extend_from_slice(&least.to_le_bytes());
    out.extend_from_slice(&span.to_le_bytes());
    (least, span)
}

fn write_ids(entries: &[IdEntry], least: u64, span: u64, out: &mut Vec<u8>) {
    let mut writer = BitWriter::new(out);
    joined::write(entries.iter().map(|entry| entry.id - least), span, &mut writer);
    writer.finish();
}

/// A page whose header is sound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdPage<'a> {
    records: usize,
    packing: Packing,
    least: u64,
    span: u64,
    starts: Starts<'a>,
    packed: &'a [u8],
    /// Whether zero bytes follow the ids.
    padded: bool,
}

/// Which records begin a fingerprint.
#[derive(Clone, Copy, Debug)]
enum Starts<'a> {
    All,
    Bitmap(&'a [u8]),
    Groups { groups: Groups<'a>, is_continued: bool },
}

/// The records of a fingerprint, as far as they are in a page.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Records(Range<usize>),
    Group(Group),
}

impl Part {
    pub(crate) fn records(&self) -> usize {
        match self {
            Self::Records(records) => records.len(),
            Self::Group(group) => group.records,
        }
    }
}

impl<'a> IdPage<'a> {
    /// Reads the payload of a page; `Damaged` if no writer makes it.
    pub(crate) fn parse(fields: &mut Fields<'a>) -> Result<Self> {
        let records = usize::from(fields.u16("records")?);
        let packing = Packing { joined: fields.u8("ids joined")?.into(), bits: fields.u8("bits joined")?.into() };
        let flags = fields.u8("flags")?;
        let (least, span) = (fields.u64("least id")?, fields.u64("span of ids")?);
        let legal = records > 0 && flags <= CONTINUED_GROUPS && least.checked_add(span).is_some();
        if !legal || packing != Packing::best(span) {
            return Err(fields.damaged("the header of a page of ids is not possible"));
        }
        let (starts, bits) = match flags {
            PLAIN => (Starts::All, packing.length(records)),
            BITMAP => {
                let bitmap = fields.bytes("first records", records.div_ceil(8), &"bitmap")?;
                (Starts::Bitmap(bitmap), packing.length(records))
            }
            _ => {
                let header = Header::parse(fields, records)?;
                let bytes = fields.peek(fields.remaining()).unwrap_or_default();
                let groups = Groups { bytes, records, header, span, starts: packing };
                let bits = groups.check_shape();
                let bits = bits.ok_or_else(|| fields.damaged("the groups of a page of ids are not possible"))?;
                (Starts::Groups { groups, is_continued: flags == CONTINUED_GROUPS }, bits)
            }
        };
        let packed = fields.bytes("ids", bits.div_ceil(8), &format_args!("{records} ids"))?;
        let padding = fields.bytes("padding", fields.remaining(), &"")?;
        let page = Self { records, packing, least, span, starts, packed, padded: !padding.is_empty() };
        let bitmap_is_sound = match starts {
            Starts::Bitmap(bitmap) => zeros_follow(bitmap, records),
            _ => true,
        };
        if padding.iter().any(|&byte| byte != 0) || !zeros_follow(packed, bits) || !bitmap_is_sound {
            return Err(fields.damaged("padding of a page of ids is not zero"));
        }
        Ok(page)
    }

    /// Reads a payload that [`IdPage::parse`] accepted before. Checks only what the other methods rely on: a mapped
    /// file may have changed since.
    #[inline]
    pub(crate) fn parsed(payload: &'a [u8]) -> Option<Self> {
        let (header, rest) = payload.split_first_chunk::<HEADER>()?;
        let &[r0, r1, joined, bits, flags, l0, l1, l2, l3, l4, l5, l6, l7, s0, s1, s2, s3, s4, s5, s6, s7] = header;
        let records = usize::from(u16::from_le_bytes([r0, r1]));
        let packing = Packing { joined: u32::from(joined).clamp(1, MAX_JOINED), bits: u32::from(bits).min(128) };
        let least = u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]);
        let span = u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]);
        let (starts, packed) = if flags & GROUPS != 0 {
            let (&header, bytes) = rest.split_first_chunk()?;
            let groups = Groups { bytes, records, header: Header::limited(header, records), span, starts: packing };
            (Starts::Groups { groups, is_continued: flags == CONTINUED_GROUPS }, bytes)
        } else {
            let (bitmap, rest) = rest.split_at_checked(if flags == BITMAP { records.div_ceil(8) } else { 0 })?;
            let starts = if bitmap.is_empty() { Starts::All } else { Starts::Bitmap(bitmap) };
            (starts, rest.get(..packing.length(records).div_ceil(8))?)
        };
        Some(Self { records, packing, least, span, starts, packed, padded: false })
    }

    /// Checks what reading single ids does not: that no number is greater than its ids make it, and that the last page
    /// of a section ends after its ids.
    pub(crate) fn check(&self, last: bool) -> Result<()> {
        if last && self.padded {
            return Err(Error::damaged("the last page of ids is longer than its ids"));
        }
        match self.starts {
            Starts::Groups { groups, .. } => groups.check_numbers(),
            _ => self.excesses().check(self.records),
        }
    }

    /// The ids of a page without groups.
    fn excesses(&self) -> Joined<'a> {
        Joined { bytes: self.packed, start: 0, span: self.span, packing: self.packing }
    }

    /// Number of fingerprints that begin here.
    pub(crate) fn begun(&self) -> usize {
        match self.starts {
            Starts::All => self.records,
            Starts::Bitmap(bitmap) => count_ones(bitmap, 0, self.records),
            Starts::Groups { groups, is_continued } => {
                groups.header.groups - usize::from(is_continued && groups.header.groups > 0)
            }
        }
    }

    /// The records of the `nth` fingerprint (from 0) that begins in this page, as far as they are here.
    #[inline]
    pub(crate) fn part(&self, nth: usize) -> Option<Part> {
        match self.starts {
            Starts::All => (nth < self.records).then_some(Part::Records(nth..nth + 1)),
            Starts::Bitmap(bitmap) => {
                let start = find_one(bitmap, 0, self.records, nth)?;
                Some(Part::Records(start..self.end_of(bitmap, start + 1)))
            }
            Starts::Groups { groups, is_continued } => groups.group(nth + usize::from(is_continued)).map(Part::Group),
        }
    }

    /// The records before the first one that begins a fingerprint.
    pub(crate) fn continued(&self) -> Option<Part> {
        match self.starts {
            Starts::Bitmap(bitmap) => Some(Part::Records(0..self.end_of(bitmap, 0))),
            Starts::Groups { groups, is_continued: true } => groups.group(0).map(Part::Group),
            _ => Some(Part::Records(0..0)),
        }
    }

    /// The first record from `record` on that begins a fingerprint; the number of records if there is none.
    fn end_of(&self, bitmap: &[u8], record: usize) -> usize {
        find_one(bitmap, record, self.records.saturating_sub(record), 0).map_or(self.records, |at| record + at)
    }

    /// Whether the page has no records behind these.
    pub(crate) fn ends_with(&self, part: &Part) -> bool {
        match (part, self.starts) {
            (Part::Group(group), Starts::Groups { groups, .. }) => groups.is_last(*group),
            (Part::Records(records), _) => records.end == self.records,
            (Part::Group(_), _) => true,
        }
    }

    /// Calls `visit` with the ids of these records, ascending, until it breaks; `Damaged` if an id exceeds the page's
    /// range.
    #[inline]
    pub(crate) fn visit(&self, part: Part, mut visit: impl FnMut(u64) -> ControlFlow<()>) -> Result<ControlFlow<()>> {
        match (part, self.starts) {
            (Part::Group(group), Starts::Groups { groups, .. }) => {
                groups.visit(group, |excess| visit(self.least.wrapping_add(excess)))
            }
            (Part::Records(records), _) => self.visit_records(records, |_, id| visit(id)),
            (Part::Group(_), _) => Ok(ControlFlow::Continue(())),
        }
    }

    /// Whether its records can be read one by one, in any order.
    pub(crate) fn is_divisible(&self) -> bool {
        !matches!(self.starts, Starts::Groups { .. })
    }

    pub(crate) fn records(&self) -> usize {
        self.records
    }

    /// Calls `visit` with all ids, and whether each begins a fingerprint, until it breaks.
    pub(crate) fn visit_all(&self, visit: impl FnMut(bool, u64) -> ControlFlow<()>) -> Result<ControlFlow<()>> {
        self.visit_ids(0..self.records, visit)
    }

    /// Calls `visit` with these ids, and whether each begins a fingerprint, until it breaks; with all, if the page is
    /// not divisible.
    pub(crate) fn visit_ids(
        &self,
        records: Range<usize>,
        mut visit: impl FnMut(bool, u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        match self.starts {
            Starts::Groups { groups, is_continued } => {
                let mut is_continued = is_continued;
                groups.visit_all(|begins, excess| {
                    let begins = begins && !std::mem::take(&mut is_continued);
                    visit(begins, self.least.wrapping_add(excess))
                })
            }
            Starts::Bitmap(bitmap) => {
                self.visit_records(records, |record, id| visit(load_bits(bitmap, record, 1) == 1, id))
            }
            Starts::All => self.visit_records(records, |_, id| visit(true, id)),
        }
    }

    /// Calls `visit` with consecutive records of a page without groups, and their ids, until it breaks.
    #[inline]
    fn visit_records(
        &self,
        records: Range<usize>,
        mut visit: impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let mut excesses = self.excesses().from(records.start);
        for record in records {
            if visit(record, self.least.wrapping_add(excesses.next()?)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Whether the bits behind the first `used` ones are zero, fewer than 32.
fn zeros_follow(bytes: &[u8], used: usize) -> bool {
    let behind = u32::try_from(bytes.len() * 8 - used).unwrap_or(0);
    load_bits(bytes, used, behind) == 0
}

/// Adds padding and checksum to a page; the last page of the section has no padding.
pub(crate) fn close(page: &mut Vec<u8>, number: u64, last: bool) {
    page::close(page, if last { 0 } else { SIZE }.max(super::CHECKSUM), page::Stream::Ids, number);
}

#[cfg(test)]
mod tests;
