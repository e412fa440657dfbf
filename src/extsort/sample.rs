//! A sample of evenly spaced values of a stream.

/// Keeps every value, then every second, fourth and so on whenever they become too many.
#[derive(Debug)]
pub(crate) struct Sample<T> {
    kept: Vec<T>,
    most: usize,
    step: u64,
    skip: u64,
}

impl<T: Copy> Sample<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Vec::new(), most: most.max(2), step: 1, skip: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.kept.len() >= self.most {
            self.kept = self.kept.iter().step_by(2).copied().collect();
            self.step *= 2;
        }
        self.kept.push(value);
        self.skip = self.step - 1;
    }

    pub(crate) fn finish(self) -> Vec<T> {
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
