//! A set of numbers of records that takes memory in proportion to its size, wherever the numbers lie.

use super::small::Bitset;
use crate::error::Result;

/// Bits of a bitmap that cost less than a number in a list.
const BITS_PER_NUMBER: u64 = 64;

/// Numbers in a bitmap if they lie close together, otherwise in a sorted list.
#[derive(Debug)]
pub(crate) enum NumberSet {
    Dense { least: u64, bits: Bitset },
    Sparse(Vec<u64>),
}

impl NumberSet {
    pub(crate) fn new(mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable();
        let (least, most) = (numbers.first().copied().unwrap_or(0), numbers.last().copied().unwrap_or(0));
        let Some(mut bits) = dense(least, most, numbers.len() as u64) else { return Self::Sparse(numbers) };
        numbers.into_iter().for_each(|number| _ = bits.insert(place(number, least)));
        Self::Dense { least, bits }
    }

    /// The set of `count` numbers that ascend from `least` to `most`.
    pub(crate) fn of_ascending(
        (least, most, count): (u64, u64, u64),
        numbers: impl Iterator<Item = Result<u64>>,
    ) -> Result<Self> {
        let Some(mut bits) = dense(least, most, count) else { return numbers.collect::<Result<_>>().map(Self::Sparse) };
        for number in numbers {
            bits.insert(place(number?, least));
        }
        Ok(Self::Dense { least, bits })
    }

    /// The set of `count` numbers that `numbers` returns in order, each time from the first on.
    pub(crate) fn of_sorted<I: Iterator<Item = Result<u64>>>(count: u64, numbers: impl Fn() -> I) -> Result<Self> {
        let mut bounds: Option<(u64, u64)> = None;
        for number in numbers() {
            let number = number?;
            bounds = Some((bounds.map_or(number, |(least, _)| least), number));
        }
        let (least, most) = bounds.unwrap_or_default();
        Self::of_ascending((least, most, count), numbers())
    }

    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        match self {
            Self::Dense { least, bits } => bits.has(place(number, *least)),
            Self::Sparse(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }

    /// Whether one of these numbers is in the set.
    pub(crate) fn has_any(&self, from: u64, to: u64) -> bool {
        match self {
            Self::Dense { least, bits } => {
                let end = place(to, *least).saturating_add(1).min(usize::try_from(bits.bound()).unwrap_or(usize::MAX));
                to >= *least && (place(from.max(*least), *least)..end).any(|place| bits.has(place))
            }
            Self::Sparse(numbers) => {
                numbers.get(numbers.partition_point(|&one| one < from)).is_some_and(|&one| one <= to)
            }
        }
    }
}

/// A bitmap for so many numbers from `least` to `most`, if it takes less memory than a list of them.
pub(super) fn dense(least: u64, most: u64, count: u64) -> Option<Bitset> {
    let span = most.checked_sub(least).filter(|&span| span < count.saturating_mul(BITS_PER_NUMBER))?;
    usize::try_from(span).ok().map(|span| Bitset::new(span + 1))
}

/// The place of a number in a bitmap from `least` on; beyond any bitmap if it is less.
#[inline]
pub(super) fn place(number: u64, least: u64) -> usize {
    number.checked_sub(least).and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_sets_have_their_numbers_and_no_others() {
        for numbers in [vec![], vec![7], vec![u64::MAX], vec![0, u64::MAX], vec![9, 3, 4, 3], (100..400).collect()] {
            let set = NumberSet::new(numbers.clone());
            for number in (0..500).chain(u64::MAX - 70..=u64::MAX) {
                assert_eq!(set.has(number), numbers.contains(&number), "{number} of {numbers:?}");
                for to in [number, number.saturating_add(1), number.saturating_add(90)] {
                    let expected = numbers.iter().any(|one| (number..=to).contains(one));
                    assert_eq!(set.has_any(number, to), expected, "{number} to {to} of {numbers:?}");
                }
            }
        }
        assert!(matches!(NumberSet::new(vec![0, u64::MAX]), NumberSet::Sparse(_)));
        assert!(matches!(NumberSet::new((100..400).collect()), NumberSet::Dense { .. }));
    }
}
