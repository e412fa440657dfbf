//! Ids of fingerprints of which many have several (format-spec/ids.md, "Groups").
//!
//! The ids of a fingerprint are a set, so their order needs no bits: two ids are one of them and a distance of at most
//! half the range, more are the least one and gaps. What each group takes of a section follows from counting ones in
//! the sections before it, so a lookup decodes no other group.

use super::fields::Fields;
use super::joined::{Joined, Numbers, Packing};
use crate::bits::{Forward, count_ones, find_one, load_bits};
use crate::error::{Error, Result};
use std::ops::ControlFlow;

/// Bytes of the header behind that of the page.
pub(super) const HEADER: usize = 13;
/// Most zeros of a size. A group of as many records and two, or more, is large: its size does not tell all of them.
pub(super) const LARGE: usize = 15;
/// Bits of the number of records that a large group has beyond that.
pub(super) const MORE_BITS: u32 = 16;

/// A record to be written: its id, and whether it begins a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdEntry {
    pub(crate) id: u64,
    /// Whether the record begins a fingerprint.
    pub(crate) begins: bool,
}

/// The greatest distance of two ids, less 1: they lie on a circle of `span` + 1 numbers. Meaningless if span is 0.
pub(super) fn distance_span(span: u64) -> u64 {
    (span - span / 2).saturating_sub(1)
}

/// The records of one fingerprint in a page of groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    number: usize,
    pub(crate) records: usize,
    /// Bits of the sizes before those of the group.
    before: usize,
}

/// The header of groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) groups: usize,
    /// Ones of the section *any*, and of *first*.
    pub(super) any: usize,
    pub(super) first: usize,
    /// Bits of the sizes.
    pub(super) sizes: usize,
    pub(super) large: usize,
    pub(super) pairs: usize,
    pub(super) low_bits: u32,
}

impl Header {
    /// Reads the header of groups of so many records.
    pub(super) fn parse(fields: &mut Fields<'_>, records: usize) -> Result<Self> {
        let header = Self {
            groups: fields.u16("groups")?.into(),
            any: fields.u16("twos with several records")?.into(),
            first: fields.u16("twos that begin with several records")?.into(),
            sizes: fields.u16("bits of sizes")?.into(),
            large: fields.u16("large groups")?.into(),
            pairs: fields.u16("groups of two records")?.into(),
            low_bits: fields.u8("low bits of a gap")?.into(),
        };
        let counts = [header.any, header.first, header.sizes, header.large, header.pairs];
        if !(1..=records).contains(&header.groups)
            || counts.iter().any(|&count| count > records)
            || header.low_bits > 63
        {
            return Err(fields.damaged("the header of groups of ids is not possible"));
        }
        Ok(header)
    }

    /// The header in these bytes, as far as it is possible for so many records.
    #[inline]
    pub(super) fn limited(bytes: [u8; HEADER], records: usize) -> Self {
        let [g0, g1, a0, a1, f0, f1, s0, s1, l0, l1, p0, p1, low_bits] = bytes;
        let count = |low, high| usize::from(u16::from_le_bytes([low, high])).min(records);
        Self {
            groups: count(g0, g1),
            any: count(a0, a1),
            first: count(f0, f1),
            sizes: count(s0, s1),
            large: count(l0, l1),
            pairs: count(p0, p1),
            low_bits: u32::from(low_bits).min(63),
        }
    }
}

/// The groups of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups<'a> {
    /// The bytes behind the header; those behind the groups may follow.
    pub(super) bytes: &'a [u8],
    /// At least as many as groups.
    pub(super) records: usize,
    pub(super) header: Header,
    pub(super) span: u64,
    pub(super) starts: Packing,
}

/// First bits of the sections behind the starts.
struct Sections {
    any: usize,
    first: usize,
    second: usize,
    sizes: usize,
    /// The records of large groups.
    more: usize,
    distances: usize,
}

/// How many groups that some first bits of the sizes describe have two records, and how many are large.
#[derive(Default)]
struct Shapes {
    pairs: usize,
    large: usize,
    /// Whether one has more zeros than a large one.
    too_large: bool,
}

impl<'a> Groups<'a> {
    #[inline]
    fn sections(&self) -> Sections {
        let header = self.header;
        let any = self.starts.length(header.groups);
        let first = any + header.groups.div_ceil(2);
        let (second, sizes) = (first + header.any, first + header.any + header.first);
        let more = sizes + header.sizes;
        Sections { any, first, second, sizes, more, distances: more + header.large * MORE_BITS as usize }
    }

    /// How many bits from this one on end with the one bit number `nth`, from 0.
    fn behind_one(&self, start: usize, nth: usize) -> Option<usize> {
        find_one(self.bytes, start, (self.bytes.len() * 8).saturating_sub(start), nth).map(|before| before + 1)
    }

    /// Records that are not the first ones of their group.
    fn not_first(&self) -> usize {
        self.records - self.header.groups
    }

    /// Of the groups before the large one with this number, the records that their sizes do not tell.
    fn more(&self, sections: &Sections, large: usize) -> usize {
        let more = |large| load_bits(self.bytes, sections.more + large * MORE_BITS as usize, MORE_BITS) as usize;
        (0..large).map(more).sum()
    }

    fn bit(&self, at: usize) -> bool {
        load_bits(self.bytes, at, 1) == 1
    }

    fn starts(&self) -> Joined<'a> {
        Joined { bytes: self.bytes, start: 0, span: self.span, packing: self.starts }
    }

    fn distances(&self, sections: &Sections) -> Joined<'a> {
        let span = distance_span(self.span);
        Joined { bytes: self.bytes, start: sections.distances, span, packing: Packing::best(span) }
    }

    /// The groups that so many bits of the sizes describe.
    fn shapes(&self, sizes: usize, length: usize) -> Shapes {
        /// New bits of a word; those before them are at hand too.
        const STEP: usize = 40;
        let mut shapes = Shapes::default();
        for before in (0..length).step_by(STEP) {
            let known = before.min(LARGE + 1);
            let count = u32::try_from(known + STEP.min(length - before)).unwrap_or(0);
            let word = load_bits(self.bytes, sizes + before - known, count);
            // The first group follows nothing, as if that were another group.
            let (word, known) = if known == 0 { (word << 1 | 1, 1) } else { (word, known) };
            let ones_behind = |zeros: u64| ((word & zeros << 1) >> known).count_ones() as usize;
            let zeros = !word;
            let two = zeros & zeros << 1;
            let four = two & two << 2;
            let eight = four & four << 4;
            shapes.pairs += ones_behind(word);
            shapes.large += ones_behind(eight & eight << (LARGE - 8));
            shapes.too_large |= ones_behind(eight & eight << (LARGE - 7)) > 0;
        }
        shapes
    }

    /// First bits of the low and of the high parts of gaps, and their number.
    fn gap_sections(&self, sections: &Sections) -> (usize, usize, usize) {
        let low = self.distances(sections).end(self.header.pairs);
        let gaps = self.not_first().saturating_sub(self.header.pairs);
        (low, low + gaps * self.header.low_bits as usize, gaps)
    }

    /// The gaps behind the first `skipped` ones.
    fn gaps(&self, sections: &Sections, skipped: usize) -> Result<Gaps<'a>> {
        let ((low, high, _), end) = (self.gap_sections(sections), self.bytes.len() * 8);
        let before = match skipped.checked_sub(1) {
            Some(last) => find_one(self.bytes, high, end.saturating_sub(high), last).ok_or_else(too_few)? + 1,
            None => 0,
        };
        Ok(Gaps {
            low: Forward::new(self.bytes, low + skipped * self.header.low_bits as usize),
            low_bits: self.header.low_bits,
            high: Unary { bits: Forward::new(self.bytes, high + before), end },
        })
    }

    /// The number of bits, if no section contradicts another.
    pub(super) fn check_shape(&self) -> Option<usize> {
        let (sections, length, header) = (self.sections(), self.bytes.len() * 8, self.header);
        let ones = |from: usize, to: usize| count_ones(self.bytes, from, to - from);
        let is_set = |behind: usize| self.bit(behind - 1);
        if sections.distances > length {
            return None;
        }
        // The second one that the last two groups may lack is none of several records.
        let lacks_one = header.groups % 2 == 1 && is_set(sections.first);
        let several = header.any + ones(sections.second, sections.sizes);
        let shapes = self.shapes(sections.sizes, header.sizes);
        let is_sound = ones(sections.any, sections.first) == header.any
            && ones(sections.first, sections.second) == header.first
            && !(lacks_one && (!is_set(sections.second) || is_set(sections.sizes)))
            && ones(sections.sizes, sections.more) == several
            && (several == 0 || self.span > 0 && is_set(sections.more))
            && (shapes.pairs, shapes.large, shapes.too_large) == (header.pairs, header.large, false)
            && header.sizes + self.more(&sections, header.large) == self.not_first();
        if !is_sound {
            return None;
        }
        let (_, high, gaps) = self.gap_sections(&sections);
        match gaps.checked_sub(1) {
            Some(last) => Some(high + find_one(self.bytes, high, length.checked_sub(high)?, last)? + 1),
            None => (high <= length).then_some(high),
        }
    }

    /// Checks that no number is greater than the ids that it joins.
    pub(super) fn check_numbers(&self) -> Result<()> {
        let sections = self.sections();
        self.starts().check(self.header.groups)?;
        self.distances(&sections).check(self.header.pairs)
    }

    /// The group with this number, from 0.
    #[inline]
    pub(super) fn group(&self, number: usize) -> Option<Group> {
        if number >= self.header.groups {
            return None;
        }
        let (any, two, is_second) = (self.starts.length(self.header.groups), number / 2, number % 2 == 1);
        if self.bit(any + two) {
            self.group_of(number, two, is_second)
        } else {
            Some(Group { number, records: 1, before: 0 })
        }
    }

    /// The group with this number, one of two of which one has several records.
    fn group_of(&self, number: usize, two: usize, is_second: bool) -> Option<Group> {
        let sections = self.sections();
        let any = count_ones(self.bytes, sections.any, two);
        let (first, is_first) = (count_ones(self.bytes, sections.first, any), self.bit(sections.first + any));
        let is_several = if is_second { !is_first || self.bit(sections.second + first) } else { is_first };
        if !is_several {
            return Some(Group { number, records: 1, before: 0 });
        }
        let several = any + count_ones(self.bytes, sections.second, first) + usize::from(is_second && is_first);
        let before = several.checked_sub(1).map_or(Some(0), |last| self.behind_one(sections.sizes, last))?;
        let mut records = self.behind_one(sections.sizes + before, 0)? + 1;
        if records == LARGE + 2 {
            let large = self.shapes(sections.sizes, before).large;
            records += self.more(&sections, large + 1) - self.more(&sections, large);
        }
        Some(Group { number, records, before })
    }

    pub(super) fn is_last(&self, group: Group) -> bool {
        group.number + 1 == self.header.groups
    }

    /// Calls `visit` with the excesses of a group, ascending, until it breaks.
    #[inline]
    pub(super) fn visit(&self, group: Group, mut visit: impl FnMut(u64) -> ControlFlow<()>) -> Result<ControlFlow<()>> {
        let start = self.starts().from(group.number).next()?;
        if group.records == 1 {
            return Ok(visit(start));
        }
        let sections = self.sections();
        let shapes = self.shapes(sections.sizes, group.before);
        if group.records == 2 {
            return self.visit_pair(start, &mut self.distances(&sections).from(shapes.pairs), &mut visit);
        }
        let skipped = group.before.saturating_sub(shapes.pairs) + self.more(&sections, shapes.large);
        self.gaps(&sections, skipped)?.visit(start, group.records, self.span, &mut visit)
    }

    /// Calls `visit` with all excesses, and whether each is the first one of its group, until it breaks.
    pub(super) fn visit_all(&self, mut visit: impl FnMut(bool, u64) -> ControlFlow<()>) -> Result<ControlFlow<()>> {
        let sections = self.sections();
        let bits = |start: usize| Forward::new(self.bytes, start);
        let (mut any, mut first, mut second) = (bits(sections.any), bits(sections.first), bits(sections.second));
        let mut sizes = Unary { bits: bits(sections.sizes), end: sections.more };
        let mut more = bits(sections.more);
        let (mut starts, mut distances) = (self.starts().from(0), self.distances(&sections).from(0));
        let (mut gaps, mut next_is_several) = (self.gaps(&sections, 0)?, false);
        for number in 0..self.header.groups {
            let mut is_several = next_is_several;
            if number % 2 == 0 {
                let is_any = any.read(1) == 1;
                is_several = is_any && first.read(1) == 1;
                next_is_several = is_any && (!is_several || second.read(1) == 1);
            }
            let (start, mut begins) = (starts.next()?, true);
            let mut visit = |excess| visit(std::mem::take(&mut begins), excess);
            let visited = match sizes.next_if(is_several)? {
                None => Ok(visit(start)),
                Some(0) => self.visit_pair(start, &mut distances, &mut visit),
                Some(LARGE) => {
                    let beyond = usize::try_from(more.read(MORE_BITS)).unwrap_or(0);
                    gaps.visit(start, LARGE + 2 + beyond, self.span, &mut visit)
                }
                Some(beyond_two) => gaps.visit(start, beyond_two + 2, self.span, &mut visit),
            };
            if visited?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn visit_pair(
        &self,
        start: u64,
        distances: &mut Numbers<'_>,
        visit: &mut impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let (distance, left) = (distances.next()?, self.span - start);
        // `left` numbers follow on the circle before it begins again at 0.
        let (low, high) = if distance < left { (start, start + distance + 1) } else { (distance - left, start) };
        Ok(if visit(low).is_break() { ControlFlow::Break(()) } else { visit(high) })
    }
}

/// Numbers as so many zeros and a one each.
struct Unary<'a> {
    bits: Forward<'a>,
    /// The bit behind them.
    end: usize,
}

impl Unary<'_> {
    #[inline]
    fn next_if(&mut self, condition: bool) -> Result<Option<usize>> {
        if condition { self.next().map(Some) } else { Ok(None) }
    }

    #[inline]
    fn next(&mut self) -> Result<usize> {
        let mut number = 0;
        loop {
            self.bits.refill();
            let zeros = self.bits.peek().trailing_zeros().min(56);
            number += zeros as usize;
            if zeros < 56 {
                self.bits.skip(zeros + 1);
                return Ok(number);
            }
            self.bits.skip(56);
            if self.bits.position() > self.end {
                return Err(too_few());
            }
        }
    }
}

/// The gaps of groups of three records and more.
struct Gaps<'a> {
    low: Forward<'a>,
    low_bits: u32,
    high: Unary<'a>,
}

impl Gaps<'_> {
    /// Calls `visit` with the excesses of the next group, until it breaks.
    #[inline]
    fn visit(
        &mut self,
        start: u64,
        records: usize,
        span: u64,
        visit: &mut impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let mut excess = start;
        for record in 0..records {
            if record > 0 {
                let (high, low) = (self.high.next()? as u64, self.low.read(self.low_bits));
                let gap = (u128::from(high) << self.low_bits) + u128::from(low) + 1;
                let next = u64::try_from(u128::from(excess) + gap).ok().filter(|&next| next <= span);
                excess = next.ok_or_else(|| Error::damaged("an id exceeds its page's range"))?;
            }
            if visit(excess).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cold]
fn too_few() -> Error {
    Error::damaged("a page of ids has fewer gaps than records")
}
