//! How many records each fingerprint has, in little memory.

/// Small numbers one after another, each n as a one and n zeros.
#[derive(Debug, Default)]
pub(super) struct Counts {
    words: Vec<u64>,
    bits: u64,
}

impl Counts {
    /// Where the next number will begin.
    pub(super) fn bits(&self) -> u64 {
        self.bits
    }

    /// Adds a number, or adds it to the last one.
    pub(super) fn add(&mut self, count: u32, goes_on: bool) {
        if !goes_on {
            self.push(1);
        }
        (0..count).for_each(|_| self.push(0));
    }

    fn push(&mut self, bit: u64) {
        if self.bits.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words.last_mut().into_iter().for_each(|word| *word |= bit << (self.bits % 64));
        self.bits += 1;
    }

    fn bit(&self, at: u64) -> Option<bool> {
        let word = usize::try_from(at / 64).ok().and_then(|word| self.words.get(word))?;
        (at < self.bits).then_some(word >> (at % 64) & 1 == 1)
    }

    /// The numbers from one on that begins at this bit.
    pub(super) fn from(&self, mut at: u64) -> impl Iterator<Item = u64> {
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
