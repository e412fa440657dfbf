//! Some of many fingerprints, from all over the order in which they come.

/// Keeps every so many, and every other of those again whenever they become too many.
#[derive(Debug)]
pub(crate) struct Sample<F> {
    kept: Vec<F>,
    most: usize,
    /// Of so many one is kept.
    step: u64,
    /// How many are passed over before the next one that is.
    skip: u64,
}

impl<F: Copy> Sample<F> {
    /// None yet; `most` of them at most will be kept.
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Vec::new(), most: most.max(2), step: 1, skip: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, fingerprint: F) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.kept.len() >= self.most {
            self.kept = self.kept.iter().step_by(2).copied().collect();
            self.step *= 2;
        }
        self.kept.push(fingerprint);
        self.skip = self.step - 1;
    }

    /// Those that were kept.
    pub(crate) fn finish(self) -> Vec<F> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_few_and_some_of_many_from_everywhere() {
        let of = |count: u64, most: usize| {
            let mut sample = Sample::new(most);
            (0..count).for_each(|number| sample.push(number));
            sample.finish()
        };
        assert_eq!(of(5, 5), [0, 1, 2, 3, 4]);
        for (count, most) in [(6, 5), (100, 7), (1000, 100), (12345, 64)] {
            let sample = of(count, most);
            assert!((most / 2..=most).contains(&sample.len()), "{count} {most}");
            let widest = sample.windows(2).map(|two| two[1] - two[0]).max().unwrap();
            assert!(widest <= 4 * count / most as u64 && sample[sample.len() - 1] + widest >= count, "{sample:?}");
        }
    }
}
