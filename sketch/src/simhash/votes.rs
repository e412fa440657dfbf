//! Counts votes of any weight.

/// The sum of the votes for every bit, minus those against it or, for 1e0ng, minus half of all.
#[derive(Clone, Debug)]
pub(super) struct Votes {
    sums: Vec<f64>,
    total: f64,
    half: bool,
}

impl Votes {
    /// Returns a count of `width` bits without votes.
    pub(super) fn new(width: u32) -> Self {
        Self { sums: vec![0.0; width as usize], total: 0.0, half: false }
    }

    /// Returns a count in which a bit needs more than half of all votes. In floating-point numbers that is not the
    /// same, for weights such as a tenth.
    pub(super) fn more_than_half(width: u32) -> Self {
        Self { half: true, ..Self::new(width) }
    }

    /// Counts a hash.
    pub(super) fn add(&mut self, hash: u128, weight: f64) {
        let against = if self.half { 0.0 } else { -weight };
        self.total += weight;
        for (bit, sum) in self.sums.iter_mut().enumerate() {
            *sum += if hash >> bit & 1 == 1 { weight } else { against };
        }
    }

    /// Returns the bits with more weight for than against. `decide` gives the values of bits with equal weights.
    pub(super) fn majority(&self, decide: impl FnOnce(u128) -> u128) -> u128 {
        let needed = if self.half { self.total / 2.0 } else { 0.0 };
        let bits = |is: fn(&f64, &f64) -> bool| {
            let bits = self.sums.iter().enumerate();
            bits.fold(0, |bits, (bit, sum)| bits | u128::from(is(sum, &needed)) << bit)
        };
        #[allow(clippy::float_cmp, reason = "anything else is no tie")]
        let tied = bits(|sum, needed| sum == needed);
        bits(|sum, needed| sum > needed) | tied & decide(tied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of textbooks.
    #[test]
    fn two_features_of_different_weight() {
        let mut votes = Votes::new(6);
        votes.add(0b10_0101, 3.0);
        votes.add(0b10_1011, 5.0);
        assert_eq!(votes.sums, [8.0, 2.0, -2.0, 2.0, -8.0, 8.0]);
        assert_eq!(votes.majority(|_| 0), 0b10_1011);
    }
}
