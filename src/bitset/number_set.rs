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
        let dense = (numbers.len() as u64).saturating_mul(BITS_PER_NUMBER);
        match usize::try_from(most - least) {
            Ok(span) if (span as u64) < dense => {
                let mut bits = Bitset::new(span + 1);
                numbers.iter().for_each(|number| _ = bits.insert((number - least) as usize));
                Self::Dense { least, bits }
            }
            _ => Self::Sparse(numbers),
        }
    }

    /// The set of `count` numbers that ascend from `least` to `most`.
    pub(crate) fn of_ascending(
        (least, most, count): (u64, u64, u64),
        numbers: impl Iterator<Item = Result<u64>>,
    ) -> Result<Self> {
        match usize::try_from(most.saturating_sub(least)) {
            Ok(span) if (span as u64) < count.saturating_mul(BITS_PER_NUMBER) => {
                let mut bits = Bitset::new(span + 1);
                for number in numbers {
                    let place = number?.checked_sub(least).and_then(|place| usize::try_from(place).ok());
                    bits.insert(place.unwrap_or(usize::MAX));
                }
                Ok(Self::Dense { least, bits })
            }
            _ => numbers.collect::<Result<_>>().map(Self::Sparse),
        }
    }

    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        match self {
            Self::Dense { least, bits } => number
                .checked_sub(*least)
                .and_then(|place| usize::try_from(place).ok())
                .is_some_and(|place| bits.has(place)),
            Self::Sparse(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }
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
            }
        }
        assert!(matches!(NumberSet::new(vec![0, u64::MAX]), NumberSet::Sparse(_)));
        assert!(matches!(NumberSet::new((100..400).collect()), NumberSet::Dense { .. }));
    }
}
