//! Writes the groups of a page of ids (format-spec/ids.md, "Groups").

use super::id_groups::{HEADER, IdEntry, LARGE, MORE_BITS, distance_span};
use super::joined::{Packing, write as write_numbers};
use crate::bits::{BitWriter, bit_length};

/// Records whose gaps decide the low bits of a page's gaps.
const SAMPLE: usize = 2048;

/// The ids of a pair, as excesses: the one from which the way to the other is the shorter one, and its length less 1.
fn pair(low: u64, high: u64, span: u64) -> (u64, u64) {
    let distance = high - low;
    if distance - 1 <= distance_span(span) { (low, distance - 1) } else { (high, span - distance) }
}

/// What the records that were added take.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    records: usize,
    groups: usize,
    /// Pairs of groups of which one has several records, and those of which the first has.
    any: usize,
    first: usize,
    /// Bits of the sizes of groups.
    sizes: usize,
    /// Groups of two records.
    pairs: usize,
    /// Groups of so many records that their size is not told by bits.
    large: usize,
    gaps: usize,
    /// Sum of the high parts of gaps.
    high: usize,
    /// Of the last group: records, the last id, and the gap before it.
    rows: usize,
    id: u64,
    gap: u64,
    /// Whether the group before the last one has several records.
    multiple_before: bool,
}

impl Size {
    fn add(&mut self, entry: IdEntry, low_bits: u32) {
        let high = |gap: u64| usize::try_from(gap >> low_bits).unwrap_or(usize::MAX);
        self.records += 1;
        if entry.begins || self.groups == 0 {
            self.multiple_before = self.rows > 1;
            self.groups += 1;
            self.rows = 1;
        } else {
            self.rows += 1;
            self.sizes += usize::from(self.rows <= LARGE + 2);
            self.large += usize::from(self.rows == LARGE + 2);
            let gap = entry.id.wrapping_sub(self.id).wrapping_sub(1);
            if self.rows == 2 {
                let is_first = self.groups % 2 == 1;
                self.first += usize::from(is_first);
                self.any += usize::from(is_first || !self.multiple_before);
                self.pairs += 1;
            } else {
                if self.rows == 3 {
                    self.pairs -= 1;
                    self.gaps += 1;
                    self.high = self.high.saturating_add(high(self.gap));
                }
                self.gaps += 1;
                self.high = self.high.saturating_add(high(gap));
            }
            self.gap = gap;
        }
        self.id = entry.id;
    }

    /// Bits of all, if the starts and the distances take so many.
    fn bits(&self, starts: usize, distances: usize, low_bits: u32) -> usize {
        let sizes = self.groups.div_ceil(2) + self.any + self.first + self.sizes + self.large * MORE_BITS as usize;
        (starts + sizes + distances + self.gaps * (low_bits as usize + 1)).saturating_add(self.high)
    }
}

/// Records that fill a page, and how they are packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    pub(super) records: usize,
    /// Bytes with the header of groups.
    pub(super) bytes: usize,
    low_bits: u32,
    size: Size,
}

/// How many of `entries`, up to `records`, fit into so many bytes with the header of groups.
pub(super) fn fill(entries: &[IdEntry], records: usize, bytes: usize) -> Filled {
    let low_bits = low_bits(entries);
    let (mut least, mut greatest) = (u64::MAX, 0);
    let (mut starts, mut distances) = (Packing::best(0), Packing::best(0));
    let mut filled = Filled { records: 0, bytes: HEADER, low_bits, size: Size::default() };
    let (mut size, most) = (filled.size, (bytes - HEADER) * 8);
    for &entry in entries.iter().take(records) {
        if entry.id < least || entry.id > greatest {
            (least, greatest) = (least.min(entry.id), greatest.max(entry.id));
            (starts, distances) = (Packing::best(greatest - least), Packing::best(distance_span(greatest - least)));
        }
        size.add(entry, low_bits);
        // Most records fit by a bound that takes no division.
        if size.bits(starts.at_most(size.groups), distances.at_most(size.pairs), low_bits) > most
            && size.bits(starts.length(size.groups), distances.length(size.pairs), low_bits) > most
        {
            break;
        }
        filled.size = size;
    }
    let size = filled.size;
    let bits = size.bits(starts.length(size.groups), distances.length(size.pairs), low_bits);
    Filled { records: size.records, bytes: HEADER + bits.div_ceil(8), ..filled }
}

/// The low bits with which the gaps of the first records take the least space, about: those of a geometric
/// distribution with their mean.
fn low_bits(entries: &[IdEntry]) -> u32 {
    let sample = entries.get(..entries.len().min(SAMPLE)).unwrap_or_default();
    let (mut sum, mut count) = (0u128, 0);
    for group in sample.chunk_by(|_, next| !next.begins).filter(|group| group.len() > 2) {
        let ends = group.first().zip(group.last());
        sum += ends.map_or(0, |(first, last)| u128::from(last.id.wrapping_sub(first.id)));
        count += group.len() as u128 - 1;
    }
    let most = (sum * 12).checked_div(count * 25).unwrap_or(0);
    bit_length(u64::try_from(most).unwrap_or(u64::MAX)).min(63)
}

/// Appends the header of groups and the groups of these records, which [`fill`] returned.
pub(super) fn write(entries: &[IdEntry], filled: Filled, least: u64, span: u64, out: &mut Vec<u8>) {
    let groups: Vec<&[IdEntry]> = entries.chunk_by(|_, next| !next.begins).collect();
    let size = filled.size;
    for count in [size.groups, size.any, size.first, size.sizes, size.large, size.pairs] {
        out.extend_from_slice(&u16::try_from(count).unwrap_or(0).to_le_bytes());
    }
    out.push(u8::try_from(filled.low_bits).unwrap_or(0));
    let (mut starts, mut distances, mut gaps) = (Vec::with_capacity(groups.len()), Vec::new(), Vec::new());
    for group in &groups {
        match **group {
            [low, high] => {
                let (start, distance) = pair(low.id - least, high.id - least, span);
                starts.push(start);
                distances.push(distance);
            }
            [first, ..] => {
                starts.push(first.id - least);
                gaps.extend(group.windows(2).filter_map(|two| match two {
                    [before, id] => Some(id.id.wrapping_sub(before.id).wrapping_sub(1)),
                    _ => None,
                }));
            }
            [] => {}
        }
    }
    let mut bits = BitWriter::new(out);
    write_numbers(starts.into_iter(), span, &mut bits);
    let of_two = groups.chunks(2).map(|two| {
        let is_multiple = |at: usize| two.get(at).is_some_and(|group| group.len() > 1);
        (is_multiple(0), is_multiple(1))
    });
    let of_two: Vec<(bool, bool)> = of_two.collect();
    of_two.iter().for_each(|&(first, second)| bits.push(u64::from(first || second), 1));
    of_two.iter().filter(|two| two.0 || two.1).for_each(|two| bits.push(u64::from(two.0), 1));
    of_two.iter().filter(|two| two.0).for_each(|two| bits.push(u64::from(two.1), 1));
    let beyond_two = || groups.iter().filter_map(|group| group.len().checked_sub(2));
    beyond_two().for_each(|more| unary(more.min(LARGE), &mut bits));
    let more = beyond_two().filter_map(|more| more.checked_sub(LARGE));
    more.for_each(|more| bits.push(more as u64, MORE_BITS));
    write_numbers(distances.into_iter(), distance_span(span), &mut bits);
    gaps.iter().for_each(|&gap| bits.push(gap, filled.low_bits));
    gaps.iter().for_each(|&gap| unary(usize::try_from(gap >> filled.low_bits).unwrap_or(0), &mut bits));
    bits.finish();
}

/// Appends so many zeros and a one.
fn unary(zeros: usize, bits: &mut BitWriter<'_>) {
    (0..zeros / 64).for_each(|_| bits.push(0, 64));
    bits.push(0, u32::try_from(zeros % 64).unwrap_or(0));
    bits.push(1, 1);
}
