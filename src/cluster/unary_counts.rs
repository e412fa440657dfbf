//! The number of records of each fingerprint, in about two bits each.

/// Small numbers in unary: n is a one and n zeros.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    words: Vec<u64>,
    bits: u64,
}

impl Counts {
    pub(crate) fn bits(&self) -> u64 {
        self.bits
    }

    /// Appends a number, or adds it to the last one.
    pub(crate) fn add(&mut self, count: u32, goes_on: bool) {
        let begin = self.bits;
        self.bits += u64::from(!goes_on) + u64::from(count);
        self.words.resize(index(self.bits.div_ceil(64)), 0);
        if !goes_on && let Some(word) = self.words.get_mut(index(begin / 64)) {
            *word |= 1 << (begin % 64);
        }
    }

    fn bit(&self, at: u64) -> Option<bool> {
        let word = self.words.get(index(at / 64))?;
        (at < self.bits).then_some(word >> (at % 64) & 1 == 1)
    }

    /// The numbers from the one that begins at this bit.
    pub(crate) fn from(&self, mut at: u64) -> impl Iterator<Item = u64> {
        std::iter::from_fn(move || {
            self.bit(at)?;
            let begin = at + 1;
            at = begin;
            while self.bit(at) == Some(false) {
                at += 1;
            }
            Some(at - begin)
        })
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_they_were_added() {
        let mut counts = Counts::default();
        let numbers = [3, 0, 0, 200, 1, 64, 0];
        let mut begins = Vec::new();
        for number in numbers {
            begins.push(counts.bits());
            counts.add(number, false);
        }
        counts.add(5, true);
        for (at, begin) in begins.into_iter().enumerate() {
            let mut expected = numbers[at..].to_vec();
            *expected.last_mut().unwrap() += 5;
            assert!(counts.from(begin).eq(expected.into_iter().map(u64::from)), "{at}");
        }
        assert_eq!(Counts::default().from(0).next(), None);
    }
}
