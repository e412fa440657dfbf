//! A filter of sorted keys in lines of memory: it holds some leading bits of nearly every key, and compares them with a
//! query's.
//!
//! The leading bits of a key name its line ([`LineShape`]), which has the number of its keys and 16 further bits of
//! each, ascending. A query flips a few of the leading bits, looks at one line for each choice, and compares the 16
//! bits there: in the leading part of the table within the radius, and in all bits within the distance. So only
//! prefixes pass that exist and are near, of some 41 bits at a billion keys, and a look-up waits for memory once.
//!
//! Many keys with one prefix are one entry. A line has a place for 31 entries; the greatest keys of a fuller one are
//! missing, and every prefix from the last entry on passes. Where more than two keys a line
//! are missing, there is no such filter.

use super::prefix::{FilterPrefix, Nearness};
use crate::bits::low_mask;
use crate::codec::prefetch;
use crate::env::Array;
use crate::error::Result;
use crate::fingerprint::leading_ones;
use crate::plan::filter_shape::{BEHIND, LineShape, MOST_ENTRIES, MOST_MISSING};

/// Words of a line of memory.
const LINE: usize = 8;
/// Entries in a word.
const LANES: usize = 4;
/// The lowest bit of each lane.
const LOW: u64 = 0x0001_0001_0001_0001;
/// The highest bit of each lane.
const HIGH: u64 = LOW << 15;

type Line = [u64; LINE];

#[derive(Debug)]
pub(crate) struct LineFilter {
    shape: LineShape,
    /// Lines of 32 lanes, four to a word: the number of entries, one more than there are places if some are missing,
    /// then the entries.
    words: Array,
}

impl LineFilter {
    pub(super) fn words(&self) -> &[u64] {
        self.words.as_slice()
    }

    pub(super) fn shape(&self) -> LineShape {
        self.shape
    }

    /// Prefetches the line of a key, given up to the filter's last bit, with some bits flipped.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "lines are numbered in 32 bits")]
    pub(super) fn begin(&self, key: u64, flips: u64) -> FilterPrefix {
        let first = key ^ flips;
        let line = self.line(first) as u32;
        prefetch(self.words.as_slice(), line as usize * LINE);
        FilterPrefix { first, place: line, bits: flips.count_ones() }
    }

    /// Calls `pass` with the least and the greatest possible key of each near prefix.
    #[inline]
    pub(super) fn pass(&self, prefix: &FilterPrefix, near: Nearness, pass: &mut impl FnMut(u64, u64)) {
        let at = prefix.place as usize * LINE;
        let line: Option<&Line> = self.words.as_slice().get(at..).and_then(|words| words.first_chunk());
        let (Some(line), Some(radius), Some(distance)) =
            (line, near.radius.checked_sub(prefix.bits), near.distance.checked_sub(prefix.bits))
        else {
            return;
        };
        let wanted = self.behind(prefix.first);
        let count = usize::from(lane(line[0], 0));
        if count > MOST_ENTRIES && self.may_be_missing(line, wanted) {
            let flipped = leading_ones(self.shape.flipped);
            return pass(prefix.first & flipped, prefix.first | !flipped);
        }
        let found = |entry: u16| {
            if (entry ^ wanted).count_ones() <= distance {
                let bits = self.shape.prefix();
                let key = prefix.first & leading_ones(bits - BEHIND) | u64::from(entry) << (u64::BITS - bits);
                pass(key, key | !leading_ones(bits));
            }
        };
        let (wanted, leading) = (u64::from(wanted) * LOW, u64::from(self.leading()) * LOW);
        // The flipped bits have to be those of the query, and may differ in the rest of the leading part.
        let rest = (u64::from(self.not_flipped()) * LOW) & leading;
        if radius == 0 || rest == 0 {
            lanes(line, count, |word| zero_lanes((word ^ wanted) & leading), found);
        } else {
            let is_near = |bits: u64| zero_lanes(bits & leading & !rest) & at_most(bits & rest, radius);
            lanes(line, count, |word| is_near(word ^ wanted), found);
        }
    }

    #[inline]
    pub(super) fn passes(&self, key: u64) -> bool {
        let mut passes = false;
        let prefix = self.begin(key & leading_ones(self.shape.prefix()), 0);
        self.pass(&prefix, Nearness { radius: 0, distance: 0 }, &mut |_, _| passes = true);
        passes
    }

    /// Whether a full line may lack a key with the flipped bits of `wanted`.
    #[inline]
    fn may_be_missing(&self, line: &Line, wanted: u16) -> bool {
        // The keys of a line are less than 2^16 prefixes apart (`LineShape::told`): their distances from the first one
        // tell their order. Prefixes before the first one wrap around and pass without need. A key without a place may
        // share the last entry's flipped bits.
        let least = lane(line[0], 1);
        let from_first = |bits: u16| bits.wrapping_sub(least);
        from_first(wanted | self.not_flipped()) >= from_first(lane(line[LINE - 1], LANES - 1))
    }

    #[inline]
    fn line(&self, key: u64) -> u64 {
        self.shape.line(key & leading_ones(self.shape.flipped))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the last bits of a prefix")]
    fn behind(&self, key: u64) -> u16 {
        (key >> (u64::BITS - self.shape.prefix())) as u16
    }

    /// Those bits of an entry that belong to the leading part of the table.
    #[inline]
    fn leading(&self) -> u16 {
        !self.last_bits(self.shape.prefix().saturating_sub(self.shape.leading))
    }

    /// Those bits of an entry that are never flipped.
    #[inline]
    fn not_flipped(&self) -> u16 {
        self.last_bits(self.shape.prefix().saturating_sub(self.shape.flipped))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "at most 16 bits")]
    fn last_bits(&self, count: u32) -> u16 {
        low_mask(count.min(BEHIND)) as u16
    }
}

pub(in crate::segment) struct LineFilterBuilder {
    filter: LineFilter,
    last: Option<u64>,
    /// Number of entries without a place.
    missing: u64,
}

impl LineFilterBuilder {
    pub(super) fn new(shape: LineShape) -> Option<Self> {
        // Lines are numbered in 32 bits.
        let lines = u32::try_from(shape.lines).ok()? as usize;
        let words = Array::new(lines.checked_mul(LINE)?)?;
        Some(Self { filter: LineFilter { shape, words }, last: None, missing: 0 })
    }

    /// The filter whose words `read` fills.
    pub(super) fn read(mut self, read: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<LineFilter> {
        read(self.filter.words.as_mut_slice())?;
        Ok(self.filter)
    }

    /// Enters a key, not less than those before it.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "lines are numbered in 32 bits")]
    pub(super) fn push(&mut self, key: u64) {
        let first = key & leading_ones(self.filter.shape.prefix());
        if self.last.replace(first) == Some(first) {
            return;
        }
        let (at, entry) = (self.filter.line(key) as usize * LINE, self.filter.behind(key));
        let words = self.filter.words.as_mut_slice().get_mut(at..).and_then(|words| words.first_chunk_mut());
        let Some(line): Option<&mut Line> = words else { return };
        let count = usize::from(lane(line[0], 0));
        if count <= MOST_ENTRIES {
            line[0] += 1;
        }
        let place = count + 1;
        match line.get_mut(place / LANES) {
            Some(word) => *word |= u64::from(entry) << (BEHIND as usize * (place % LANES)),
            None => self.missing += 1,
        }
    }

    /// Whether there are places for nearly all keys so far.
    pub(super) fn fits(&self) -> bool {
        self.missing <= MOST_MISSING * self.filter.shape.lines
    }

    /// The filter; `None` if too many keys have no place.
    pub(super) fn finish(self) -> Option<LineFilter> {
        self.fits().then_some(self.filter)
    }
}

/// Calls `found` with those of the `count` first entries whose lanes are `hit`, as [`HIGH`] marks lanes.
#[inline]
fn lanes(line: &Line, count: usize, hit: impl Fn(u64) -> u64, mut found: impl FnMut(u16)) {
    // Most lines have no hit: one branch that says so is faster than one for each word.
    if line.iter().fold(0, |hits, &word| hits | hit(word)) == 0 {
        return;
    }
    for (number, &word) in line.iter().enumerate() {
        let mut hits = hit(word);
        while hits != 0 {
            let at = hits.trailing_zeros() as usize / BEHIND as usize;
            if (1..=count).contains(&(number * LANES + at)) {
                found(lane(word, at));
            }
            hits &= hits - 1;
        }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a lane")]
fn lane(word: u64, number: usize) -> u16 {
    (word >> (BEHIND as usize * number)) as u16
}

/// [`HIGH`] in the lanes that are zero (Warren, "Hacker's Delight", 6-1).
#[inline]
fn zero_lanes(word: u64) -> u64 {
    !(((word & !HIGH) + !HIGH) | word) & HIGH
}

/// [`HIGH`] in the lanes with at most `limit` ones.
#[inline]
fn at_most(word: u64, limit: u32) -> u64 {
    let pairs = word - ((word >> 1) & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333);
    let bytes = (fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    let counts = (bytes + (bytes >> 8)) & (0x001f * LOW);
    ((HIGH | (u64::from(limit.min(BEHIND)) * LOW)) - counts) & HIGH
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
