//! Chooses a key's symbol: the cheapest under a code, or under a guess before there is a code.

use super::combinations::{binomial, rank, rank_width};
use super::symbols::{self, LENGTHS, LOW, MAX_FLIPS, Meaning, SYMBOLS, meaning};
use crate::bits::{bit_length, low_mask};
use std::sync::LazyLock;

#[derive(Clone, Debug)]
pub(in crate::codec) struct Choice {
    /// A length for each symbol, 0 = none.
    pub(super) lengths: Vec<u8>,
    /// The biased bits, of the lower half.
    pub(super) group: u32,
    /// Number of earlier keys that a symbol may refer to.
    pub(super) backs: usize,
    pub(super) flips: u32,
}

/// [`rank_width`] by number of flips and topmost bit; a prohibitive width for impossible combinations.
static WIDTHS: LazyLock<[[u8; 64]; MAX_FLIPS as usize + 1]> = LazyLock::new(|| {
    let mut rows = [[u8::MAX; 64]; MAX_FLIPS as usize + 1];
    for (row, flips) in rows.iter_mut().zip(0u32..).skip(1) {
        for (slot, top) in row.iter_mut().zip(0u32..) {
            if binomial(top, flips - 1) > 0 {
                *slot = u8::try_from(rank_width(top, flips - 1)).unwrap_or(u8::MAX);
            }
        }
    }
    rows
});

impl Choice {
    /// The lengths before there is a code: few flips are more likely than many, near keys than distant ones.
    pub(super) fn guess(group: u32, backs: usize, flips: u32) -> Self {
        let groups = 1 << group.count_ones();
        let lengths = (0..SYMBOLS)
            .map(|symbol| match meaning(symbol) {
                Meaning::Far { group: None, .. } => 6,
                Meaning::Far { group: Some(value), .. } if groups > 1 && value < groups => {
                    4 + bit_length(groups.into())
                }
                Meaning::Far { .. } => 0,
                Meaning::Flips { back, flips, .. } => (5 + flips + bit_length(back.into())).min(12),
            })
            .map(|length| u8::try_from(length).unwrap_or(0));
        Self { lengths: lengths.collect(), group, backs, flips }
    }

    /// The cheapest symbol for `keys[at]`, and the size in bits of symbol and value; `before` is the key before the
    /// first one. `None` if no symbol can write the key.
    #[inline]
    pub(super) fn cheapest(&self, before: u64, keys: &[u64], at: usize) -> Option<(usize, u32)> {
        let (earlier, rest) = keys.split_at_checked(at)?;
        let key = *rest.first()?;
        let previous = earlier.last().copied().unwrap_or(before);
        let mut best = None;
        let mut least = u32::MAX;
        let mut offer = |symbol: usize, extra: u32| {
            let length = self.lengths.get(symbol).copied().unwrap_or(0);
            let bits = u32::from(length) + extra;
            if length > 0 && bits < least {
                (least, best) = (bits, Some(symbol));
            }
        };
        let length = bit_length(high_gap(previous, key));
        if (length as usize) < LENGTHS {
            let extra = LOW + length.saturating_sub(1);
            offer(symbols::plain(length), extra);
            if self.group != 0 {
                offer(symbols::grouped(length, extract(key, self.group)), extra - self.group.count_ones());
            }
        }
        let widths = &*WIDTHS;
        let references = earlier.iter().rev().copied().chain([before]).take(self.backs);
        for (back, reference) in references.enumerate() {
            let bits = reference ^ key;
            let flips = bits.count_ones();
            if flips <= self.flips && reference < key {
                let top = bit_length(bits).saturating_sub(1);
                let width = widths.get(flips as usize).and_then(|row| row.get(top as usize)).copied();
                offer(symbols::flips(back, flips, top), u32::from(width.unwrap_or(u8::MAX)));
            }
        }
        best.map(|symbol| (symbol, least))
    }
}

/// The difference of two keys' upper halves modulo 2^32.
#[inline]
pub(super) fn high_gap(previous: u64, key: u64) -> u64 {
    (key >> LOW).wrapping_sub(previous >> LOW) & low_mask(64 - LOW)
}

/// The bits of `value` that are set in `mask`, packed.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "one bit at a time")]
pub(super) fn extract(value: u64, mask: u32) -> u32 {
    let (mut rest, mut bits, mut at) = (mask, 0, 0);
    while rest != 0 {
        bits |= ((value >> rest.trailing_zeros()) as u32 & 1) << at;
        rest &= rest - 1;
        at += 1;
    }
    bits
}

/// The value that follows the symbol of `keys[at]`, and its number of bits.
pub(super) fn value(symbol: usize, group: u32, before: u64, keys: &[u64], at: usize) -> (u64, u32) {
    let key = keys.get(at).copied().unwrap_or_default();
    let earlier = |back: usize| at.checked_sub(back + 1).and_then(|i| keys.get(i)).copied().unwrap_or(before);
    match meaning(symbol) {
        Meaning::Far { length, group: told } => {
            let mask = told.map_or(u32::MAX, |_| !group);
            let width = mask.count_ones();
            let high = high_gap(earlier(0), key) & low_mask(length.saturating_sub(1));
            (high << width | u64::from(extract(key, mask)), width + length.saturating_sub(1))
        }
        Meaning::Flips { back, flips, top } => {
            (rank((earlier(back as usize) ^ key) & low_mask(top)), rank_width(top, flips - 1))
        }
    }
}
