//! The alphabet: the meaning of each symbol, and the rows in which code lengths are stored.

/// Bits of the lower half, which is written as it is.
pub(super) const LOW: u32 = 32;
/// Gaps of upper halves have 0 to 26 bits: with the lower half this fits one unaligned load.
pub(super) const LENGTHS: usize = 27;
/// Most biased bits that a symbol tells.
pub(super) const GROUP_BITS: u32 = 5;
const GROUPS: usize = 1 << GROUP_BITS;
/// How far back the reference of a key may be: 0 is the key before.
pub(in crate::codec) const BACKS: usize = 16;
/// Most bits in which a key may differ from its reference.
pub(super) const MAX_FLIPS: u32 = 8;

const GROUPED: usize = LENGTHS;
const FLIPS: usize = GROUPED + LENGTHS * GROUPS;
pub(super) const SYMBOLS: usize = FLIPS + BACKS * MAX_FLIPS as usize * 64;

/// Limits of the symbols of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) enum Profile {
    /// Few flips, of the key before: fastest to decode.
    Quick,
    Dense,
}

impl Profile {
    /// How many earlier keys a symbol may refer to, and how many bits it may flip.
    pub(super) fn reach(self) -> (usize, u32) {
        match self {
            Self::Quick => (1, QUICK_FLIPS),
            Self::Dense => (BACKS, MAX_FLIPS),
        }
    }
}

/// Most flips of a quick code: a table holds their masks.
pub(super) const QUICK_FLIPS: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Far {
        /// Bit length of the gap.
        length: u32,
        /// The biased bits, if the symbol tells them.
        group: Option<u32>,
    },
    Flips {
        /// How many keys lie between.
        back: u32,
        flips: u32,
        /// The topmost one.
        top: u32,
    },
}

/// The symbol of a gap of upper halves that tells no biased bits.
#[inline]
pub(super) fn plain(length: u32) -> usize {
    length as usize
}

/// The symbol of a gap of upper halves and biased bits.
#[inline]
pub(super) fn grouped(length: u32, group: u32) -> usize {
    GROUPED + length as usize * GROUPS + group as usize
}

#[inline]
pub(super) fn flips(back: usize, flips: u32, top: u32) -> usize {
    FLIPS + ((back * MAX_FLIPS as usize) + flips as usize - 1) * 64 + top as usize
}

/// The meaning of a symbol below [`SYMBOLS`].
#[expect(clippy::cast_possible_truncation, reason = "symbols are below 10,000")]
pub(super) fn meaning(symbol: usize) -> Meaning {
    if let Some(number) = symbol.checked_sub(FLIPS) {
        let row = (number / 64) as u32;
        return Meaning::Flips { back: row / MAX_FLIPS, flips: row % MAX_FLIPS + 1, top: (number % 64) as u32 };
    }
    match symbol.checked_sub(GROUPED) {
        Some(number) => Meaning::Far { length: (number / GROUPS) as u32, group: Some((number % GROUPS) as u32) },
        None => Meaning::Far { length: symbol as u32, group: None },
    }
}

/// The rows of the alphabet in order, each the range of its symbols: all plain gaps; for each length the groups; for
/// each key and number of flips the topmost bits.
pub(super) fn rows() -> impl Iterator<Item = std::ops::Range<usize>> {
    let groups = (GROUPED..FLIPS).step_by(GROUPS).map(|start| start..start + GROUPS);
    let flips = (FLIPS..SYMBOLS).step_by(64).map(|start| start..start + 64);
    std::iter::once(0..LENGTHS).chain(groups).chain(flips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_meanings_agree() {
        for symbol in 0..SYMBOLS {
            let back = match meaning(symbol) {
                Meaning::Far { length, group: None } => plain(length),
                Meaning::Far { length, group: Some(group) } => grouped(length, group),
                Meaning::Flips { back, flips: number, top } => flips(back as usize, number, top),
            };
            assert_eq!(back, symbol);
        }
        assert_eq!(SYMBOLS, 9083);
        assert_eq!(flips(0, 1, 0), 891);
    }
}
