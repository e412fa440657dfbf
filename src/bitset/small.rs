//! A set of small numbers.

#[derive(Debug)]
pub(crate) struct Bitset {
    words: Vec<u64>,
    count: u64,
}

impl Bitset {
    pub(crate) fn new(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)], count: 0 }
    }

    /// The numbers below `bound` for which `has` is true.
    pub(crate) fn of(bound: u32, has: impl Fn(u32) -> bool) -> Self {
        let mut set = Self::new(bound as usize);
        (0..bound).filter(|&number| has(number)).for_each(|number| _ = set.insert(number as usize));
        set
    }

    /// Adds a number below the bound; whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, number: usize) -> bool {
        let bit = 1 << (number % 64);
        let fresh = self.words.get_mut(number / 64).is_some_and(|word| std::mem::replace(word, *word | bit) & bit == 0);
        self.count += u64::from(fresh);
        fresh
    }

    /// Takes a number out.
    #[inline]
    pub(crate) fn remove(&mut self, number: usize) {
        let bit = 1 << (number % 64);
        let had = self.words.get_mut(number / 64).is_some_and(|word| std::mem::replace(word, *word & !bit) & bit != 0);
        self.count -= u64::from(had);
    }

    #[inline]
    pub(crate) fn has(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// An upper bound of all numbers: the bound, rounded up to a multiple of 64.
    pub(crate) fn bound(&self) -> u64 {
        64 * self.words.len() as u64
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The bits, the lowest of each word first.
    pub(super) fn into_words(self) -> Vec<u64> {
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_what_was_added() {
        let mut set = Bitset::new(130);
        assert!([0, 63, 64, 129].into_iter().all(|number| set.insert(number)));
        assert!(!set.insert(64) && !set.insert(192));
        let all: Vec<usize> = (0..256).filter(|&number| set.has(number)).collect();
        assert_eq!((all, set.count()), (vec![0, 63, 64, 129], 4));
        [63, 65, 63, 192].into_iter().for_each(|number| set.remove(number));
        assert!(!set.has(63) && set.has(64) && set.count() == 3);
    }
}
