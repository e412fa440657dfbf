//! A page of document ids (format-spec/ids.md).
//!
//! Ids stand in the order of the primary table: all ids of the first fingerprint, ascending, then those of the second.
//! A page stores its least id and every id's excess over it. It joins several excesses into one mixed-radix number, so
//! that a range that is no power of two wastes only a fraction of a bit an id. If a fingerprint has several ids, a
//! bitmap says which records begin a new fingerprint.

use super::fields::Fields;
use super::page;
use crate::bits::{BitWriter, bit_length, load_bits};
use crate::error::{Error, Result};
use std::ops::{ControlFlow, Range};

pub(crate) const SIZE: usize = 4096;
pub(crate) const HEADER: usize = 21;
/// Most records in a page, which counts them in 16 bits.
pub(crate) const MAX_RECORDS: usize = 65_535;
/// Most ids joined into one number.
const MAX_JOINED: u32 = 5;

/// How the ids of a page are joined and packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packing {
    /// Ids a number.
    joined: u32,
    /// Bits a number.
    bits: u32,
}

impl Packing {
    /// The packing with the fewest bits an id for excesses up to `span`; the shortest of equal ones.
    fn best(span: u64) -> Self {
        let mut best = Self { joined: 1, bits: bit_length(span) };
        for joined in 2..=MAX_JOINED {
            match Self::of(span, joined) {
                Some(packing) if packing.bits * best.joined < best.bits * joined => best = packing,
                _ => {}
            }
        }
        best
    }

    /// Joins excesses up to `span` into one number, if it has at most 128 bits.
    fn of(span: u64, joined: u32) -> Option<Self> {
        // The greatest number is radix^joined - 1; this sum computes it without leaving 128 bits.
        let radix = u128::from(span) + 1;
        let mut greatest = 0u128;
        for _ in 0..joined {
            greatest = greatest.checked_mul(radix)?.checked_add(u128::from(span))?;
        }
        Some(Self { joined, bits: 128 - greatest.leading_zeros() })
    }

    fn bytes(self, records: usize) -> usize {
        (records.div_ceil(self.joined as usize) * self.bits as usize).div_ceil(8)
    }
}

/// A record to be written: its id, and whether it begins a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdEntry {
    pub(crate) id: u64,
    /// Whether the record begins a fingerprint.
    pub(crate) begins: bool,
}

/// How many of `entries` (at least one) fit one page.
pub(crate) fn fill(entries: &[IdEntry]) -> usize {
    let (mut least, mut greatest, mut plain) = (u64::MAX, 0, true);
    let mut packing = Packing::best(0);
    for (count, entry) in entries.iter().take(MAX_RECORDS).enumerate() {
        if entry.id < least || entry.id > greatest {
            (least, greatest) = (least.min(entry.id), greatest.max(entry.id));
            packing = Packing::best(greatest - least);
        }
        plain &= entry.begins;
        let bitmap = if plain { 0 } else { (count + 1).div_ceil(8) };
        if HEADER + bitmap + packing.bytes(count + 1) > SIZE - super::CHECKSUM {
            return count.max(1);
        }
    }
    entries.len().min(MAX_RECORDS)
}

/// Appends the page with these entries to `out`, without padding and checksum.
pub(crate) fn write(entries: &[IdEntry], out: &mut Vec<u8>) {
    let least = entries.iter().map(|entry| entry.id).min().unwrap_or(0);
    let span = entries.iter().map(|entry| entry.id).max().unwrap_or(0) - least;
    let packing = Packing::best(span);
    let plain = entries.iter().all(|entry| entry.begins);
    out.extend_from_slice(&u16::try_from(entries.len()).unwrap_or(0).to_le_bytes());
    let small = |value: u32| u8::try_from(value).unwrap_or(0);
    out.extend_from_slice(&[small(packing.joined), small(packing.bits), u8::from(!plain)]);
    out.extend_from_slice(&least.to_le_bytes());
    out.extend_from_slice(&span.to_le_bytes());
    if !plain {
        let mut bitmap = BitWriter::new(out);
        entries.iter().for_each(|entry| bitmap.push(u64::from(entry.begins), 1));
        bitmap.finish();
    }
    let mut writer = BitWriter::new(out);
    for group in entries.chunks(packing.joined as usize) {
        let radix = u128::from(span) + 1;
        let number = group.iter().rev().fold(0u128, |number, entry| number * radix + u128::from(entry.id - least));
        #[expect(clippy::cast_possible_truncation, reason = "the low and the high half")]
        let (low, high) = (number as u64, (number >> 64) as u64);
        writer.push(low, packing.bits.min(64));
        writer.push(high, packing.bits.saturating_sub(64));
    }
    writer.finish();
}

/// A page whose header is sound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdPage<'a> {
    records: usize,
    packing: Packing,
    least: u64,
    span: u64,
    /// Bits that say which records begin a fingerprint; empty if all do.
    bitmap: &'a [u8],
    packed: &'a [u8],
    /// Whether zero bytes follow the ids.
    padded: bool,
}

impl<'a> IdPage<'a> {
    /// Reads the payload of a page; `Damaged` if no writer makes it.
    pub(crate) fn parse(fields: &mut Fields<'a>) -> Result<Self> {
        let records = usize::from(fields.u16("records")?);
        let packing = Packing { joined: fields.u8("ids joined")?.into(), bits: fields.u8("bits joined")?.into() };
        let flags = fields.u8("flags")?;
        let (least, span) = (fields.u64("least id")?, fields.u64("span of ids")?);
        let legal = records > 0 && flags <= 1 && least.checked_add(span).is_some();
        if !legal || packing != Packing::best(span) {
            return Err(fields.damaged("the header of a page of ids is not possible"));
        }
        let bitmap_bytes = if flags == 1 { records.div_ceil(8) } else { 0 };
        let bitmap = fields.bytes("first records", bitmap_bytes, &"bitmap")?;
        let packed = fields.bytes("ids", packing.bytes(records), &format_args!("{records} ids"))?;
        let padding = fields.bytes("padding", fields.remaining(), &"")?;
        let page = Self { records, packing, least, span, bitmap, packed, padded: !padding.is_empty() };
        if padding.iter().any(|&byte| byte != 0) || !page.bits_behind_are_zero() {
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
        let (bitmap, rest) = rest.split_at_checked(if flags == 1 { records.div_ceil(8) } else { 0 })?;
        Some(Self {
            records,
            packing,
            least: u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]),
            span: u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
            bitmap,
            packed: rest.get(..packing.bytes(records))?,
            padded: false,
        })
    }

    fn bits_behind_are_zero(&self) -> bool {
        let behind = |bytes: &[u8], used: usize| {
            bytes.len() * 8 == used || load_bits(bytes, used, u32::try_from(bytes.len() * 8 - used).unwrap_or(0)) == 0
        };
        let numbers = self.records.div_ceil(self.packing.joined as usize);
        behind(self.packed, numbers * self.packing.bits as usize)
            && (self.bitmap.is_empty() || behind(self.bitmap, self.records))
    }

    pub(crate) fn records(&self) -> usize {
        self.records
    }

    /// Checks what reading single ids does not: that no number is greater than its ids make it, and that the last page
    /// of a section ends after its ids.
    pub(crate) fn check(&self, last: bool) -> Result<()> {
        if last && self.padded {
            return Err(Error::damaged("the last page of ids is longer than its ids"));
        }
        let joined = self.packing.joined as usize;
        for number in 0..self.records.div_ceil(joined) {
            let digits = joined.min(self.records - number * joined);
            let radix = u128::from(self.span) + 1;
            if (0..digits).fold(self.number(number), |value, _| value / radix) != 0 {
                return Err(Error::damaged("a number is greater than the ids that it joins"));
            }
        }
        Ok(())
    }

    fn number(&self, number: usize) -> u128 {
        let bits = self.packing.bits;
        let position = number * bits as usize;
        let piece = |from: u32| load_bits(self.packed, position + from as usize, bits.saturating_sub(from).min(32));
        let low = u128::from(piece(0) | (piece(32) << 32));
        low | (u128::from(piece(64) | (piece(96) << 32)) << 64)
    }

    pub(crate) fn begins(&self, record: usize) -> bool {
        self.bitmap.is_empty() || load_bits(self.bitmap, record, 1) == 1
    }

    pub(crate) fn begun(&self) -> usize {
        if self.bitmap.is_empty() {
            return self.records;
        }
        self.bitmap.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// The records of the `nth` fingerprint (from 0) that begins in this page, as far as they are here.
    pub(crate) fn range_of(&self, nth: usize) -> Option<Range<usize>> {
        let start = self.start_of(nth)?;
        Some(start..self.end_of(start))
    }

    /// The records before the first one that begins a fingerprint.
    pub(crate) fn continued(&self) -> Range<usize> {
        0..if self.begins(0) { 0 } else { self.end_of(0) }
    }

    fn start_of(&self, nth: usize) -> Option<usize> {
        if self.bitmap.is_empty() {
            return (nth < self.records).then_some(nth);
        }
        let mut left = nth;
        for (at, &byte) in self.bitmap.iter().enumerate() {
            let ones = byte.count_ones() as usize;
            if left < ones {
                let cleared = (0..left).fold(byte, |byte, _| byte & byte.wrapping_sub(1));
                return Some(at * 8 + cleared.trailing_zeros() as usize);
            }
            left -= ones;
        }
        None
    }

    /// The first record after `record` that begins a fingerprint; the number of records if there is none.
    fn end_of(&self, record: usize) -> usize {
        if self.bitmap.is_empty() {
            return (record + 1).min(self.records);
        }
        let mut words = (record + 1..self.records).step_by(32).map(|at| (at, load_bits(self.bitmap, at, 32)));
        let begin = words.find(|&(_, word)| word != 0).map(|(at, word)| at + word.trailing_zeros() as usize);
        begin.unwrap_or(self.records).min(self.records)
    }

    pub(crate) fn ids(&self, records: Range<usize>) -> Result<Vec<u64>> {
        let mut ids = Vec::new();
        _ = self.visit_ids(records, |id| {
            ids.push(id);
            ControlFlow::Continue(())
        })?;
        Ok(ids)
    }

    /// The id of one record.
    ///
    /// # Errors
    /// `Damaged` if it exceeds the page's range.
    pub(crate) fn id(&self, record: usize) -> Result<u64> {
        let mut found = 0;
        _ = self.visit_ids(record..record + 1, |id| {
            found = id;
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// Calls `visit` with the ids of consecutive records, until it breaks; `Damaged` if an id exceeds the page's range.
    #[inline]
    pub(crate) fn visit_ids(
        &self,
        records: Range<usize>,
        mut visit: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let joined = self.packing.joined as usize;
        // A number of one id is taken as it stands, which reveals an id beyond the span.
        let radix = if joined == 1 { 0 } else { self.span.wrapping_add(1) };
        let mut record = records.start;
        while record < records.end {
            let end = records.end.min((record / joined + 1) * joined);
            let mut number = Digits { value: self.number(record / joined), radix };
            (0..record % joined).for_each(|_| _ = number.next());
            for _ in record..end {
                let excess = number.next();
                if excess > self.span {
                    return Err(Error::damaged("an id exceeds its page's range"));
                }
                if visit(self.least.wrapping_add(excess)).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            record = end;
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The excesses that one number joins, lowest first.
struct Digits {
    value: u128,
    /// 0 stands for 2^64: the value is one digit.
    radix: u64,
}

impl Digits {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "remainders of a 64-bit divisor; values below 2^64")]
    fn next(&mut self) -> u64 {
        let digit;
        if self.radix == 0 {
            (digit, self.value) = (self.value as u64, self.value >> 64);
        } else if self.value >> 64 == 0 {
            let value = self.value as u64;
            (digit, self.value) = (value % self.radix, u128::from(value / self.radix));
        } else {
            let radix = u128::from(self.radix);
            let quotient = self.value / radix;
            (digit, self.value) = ((self.value - quotient * radix) as u64, quotient);
        }
        digit
    }
}

/// Adds padding and checksum to a page; the last page of the section has no padding.
pub(crate) fn close(page: &mut Vec<u8>, number: u64, last: bool) {
    page::close(page, if last { 0 } else { SIZE }.max(super::CHECKSUM), page::Stream::Ids, number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(entries: &[IdEntry]) -> usize {
        let (mut rest, mut pages) = (entries, 0);
        while !rest.is_empty() {
            let (now, behind) = rest.split_at(fill(rest));
            let mut bytes = Vec::new();
            write(now, &mut bytes);
            close(&mut bytes, pages as u64, behind.is_empty());
            assert!(bytes.len() <= SIZE);
            let payload = page::open(&bytes, page::Stream::Ids, pages as u64).unwrap();
            let page = IdPage::parse(&mut Fields::new(payload, 0)).unwrap();
            assert_eq!(page.records(), now.len());
            let mut begun = 0;
            let again = IdPage::parsed(payload).unwrap();
            let all = again.ids(0..again.records()).unwrap();
            for (record, entry) in now.iter().enumerate() {
                assert_eq!(all[record], entry.id);
                let from = record.saturating_sub(record % 4);
                assert_eq!(page.ids(from..record + 1).unwrap(), all[from..=record]);
                assert_eq!((page.begins(record), again.begins(record)), (entry.begins, entry.begins));
                let next = now[record + 1..].iter().position(|entry| entry.begins);
                assert_eq!(page.end_of(record), next.map_or(now.len(), |next| record + 1 + next));
                if entry.begins {
                    assert_eq!(page.start_of(begun), Some(record));
                    begun += 1;
                }
            }
            assert_eq!((page.begun(), page.start_of(begun)), (begun, None));
            (rest, pages) = (behind, pages + 1);
        }
        pages
    }

    /// Reads everything of a page that may be anything, if it is taken for one.
    fn read_all(bytes: &[u8]) {
        let pages = [IdPage::parse(&mut Fields::new(bytes, 0)).ok(), IdPage::parsed(bytes)];
        for page in pages.into_iter().flatten() {
            let records = page.records();
            _ = (page.check(true), page.ids(0..records), page.begun(), page.continued());
            for record in (0..=records).step_by(1 + records / 100) {
                _ = (page.id(record), page.begins(record), page.range_of(record));
            }
        }
    }

    #[test]
    fn ids_that_number_the_records_cost_a_fraction_of_a_bit_more_than_they_must() {
        for records in [20_000_000u64, 100_000_000, 16_777_216, 16_777_217] {
            let entries: Vec<IdEntry> =
                (0..100_000u64).map(|i| IdEntry { id: (i * 982_451_653) % records, begins: true }).collect();
            let bits = round_trip(&entries) as f64 * SIZE as f64 * 8.0 / entries.len() as f64;
            assert!(bits <= (records as f64).log2() + 0.6, "{records}: {bits} bits an id");
        }
    }

    #[test]
    fn a_page_takes_no_more_records_than_it_can_count() {
        // Equal ids take no bits, so only the limit ends the page, even if another id comes late.
        let mut entries = vec![IdEntry { id: 5, begins: true }; MAX_RECORDS + 10];
        assert_eq!(fill(&entries), MAX_RECORDS);
        entries.push(IdEntry { id: 6, begins: true });
        assert_eq!(fill(&entries), MAX_RECORDS);
        round_trip(&entries);
    }

    proptest! {
        #[test]
        fn any_ids_round_trip(
            ids in prop::collection::vec((prop_oneof![any::<u64>(), 0u64..10, 5_000_000_000u64..5_000_100_000], any::<bool>()), 1..3000),
            plain: bool, narrow in 0u32..64,
        ) {
            let entries: Vec<IdEntry> =
                ids.into_iter().map(|(id, begins)| IdEntry { id: id >> narrow, begins: begins || plain }).collect();
            round_trip(&entries);
        }

        #[test]
        fn any_pages_are_read_without_a_panic(
            records in prop_oneof![0u16..2000, any::<u16>()],
            packing in prop_oneof![(0u8..8, 0u8..140), any::<(u8, u8)>()],
            flags in 0u8..3,
            (least, span) in (any::<u64>(), prop_oneof![any::<u64>(), Just(u64::MAX), Just(0)]),
            rest in prop::collection::vec(any::<u8>(), 0..SIZE),
            end in prop_oneof![Just(SIZE), 0..SIZE],
        ) {
            let mut bytes = records.to_le_bytes().to_vec();
            bytes.extend([packing.0, packing.1, flags]);
            bytes.extend([least, span].map(u64::to_le_bytes).concat());
            bytes.extend(rest);
            bytes.truncate(end);
            read_all(&bytes);
        }

        #[test]
        fn pages_that_change_after_their_check_are_read_without_a_panic(
            ids in prop::collection::vec((any::<u64>(), any::<bool>()), 1..400),
            narrow in 0u32..64,
            changes in prop::collection::vec((prop_oneof![0..HEADER, 0..SIZE], any::<u8>()), 1..5),
        ) {
            let entries: Vec<IdEntry> =
                ids.into_iter().map(|(id, begins)| IdEntry { id: id >> narrow, begins }).collect();
            let mut bytes = Vec::new();
            write(&entries[..fill(&entries)], &mut bytes);
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            read_all(&bytes);
        }
    }
}
