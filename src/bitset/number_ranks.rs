//! The ranks of numbers in a set, without reading a block for each.

use super::number_set::{dense, place};
use crate::error::Result;

/// Words between two counts.
const STEP: usize = 8;

/// Finds the ranks of numbers: in a bitmap if they lie close together, otherwise in a sorted list.
#[derive(Debug)]
pub(crate) enum NumberRanks {
    Dense {
        least: u64,
        words: Vec<u64>,
        /// Numbers before each [`STEP`] words.
        before: Vec<u64>,
    },
    Sparse(Vec<u64>),
}

impl NumberRanks {
    /// Those of `count` numbers that ascend from `least` to `most`.
    pub(crate) fn of_ascending(
        (least, most, count): (u64, u64, u64),
        mut numbers: impl Iterator<Item = Result<u64>>,
    ) -> Result<Self> {
        let Some(mut bits) = dense(least, most, count) else { return numbers.collect::<Result<_>>().map(Self::Sparse) };
        numbers.try_for_each(|number| {
            bits.insert(place(number?, least));
            Ok(())
        })?;
        let words = bits.into_words();
        let ones = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let mut sum = 0;
        let before = words.chunks(STEP).map(|words| {
            let next = sum + ones(words);
            std::mem::replace(&mut sum, next)
        });
        let before = before.collect();
        Ok(Self::Dense { least, words, before })
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        let words = match self {
            Self::Dense { words, before, .. } => words.len() + before.len(),
            Self::Sparse(numbers) => numbers.capacity(),
        };
        (words * size_of::<u64>()) as u64
    }

    /// The number of smaller numbers, if this is one of them.
    #[inline]
    pub(crate) fn of(&self, number: u64) -> Option<u64> {
        match self {
            Self::Dense { least, words, before } => {
                let place = place(number, *least);
                let (at, bit) = (place / 64, 1u64 << (place % 64));
                let word = words.get(at).filter(|word| **word & bit != 0)?;
                let behind = words.get(at / STEP * STEP..at)?;
                let ones: u32 =
                    behind.iter().map(|word| word.count_ones()).sum::<u32>() + (word & (bit - 1)).count_ones();
                Some(before.get(at / STEP)? + u64::from(ones))
            }
            Self::Sparse(numbers) => numbers.binary_search(&number).ok().map(|rank| rank as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_numbers_have_their_ranks() {
        let some: Vec<u64> = (100..3000).filter(|number| number % 7 != 3).collect();
        for numbers in [vec![7], vec![u64::MAX], vec![0, u64::MAX], some] {
            let bounds = (numbers[0], numbers[numbers.len() - 1], numbers.len() as u64);
            let ranks = NumberRanks::of_ascending(bounds, numbers.iter().copied().map(Ok)).unwrap();
            for number in (0..3100).chain(u64::MAX - 70..=u64::MAX) {
                let expected = numbers.binary_search(&number).ok().map(|rank| rank as u64);
                assert_eq!(ranks.of(number), expected, "{number}");
            }
        }
    }
}
