//! Votes of any weight.

/// The sum of the votes for and against every bit.
#[derive(Clone, Debug)]
pub(super) struct Votes(Vec<f64>);

impl Votes {
    /// No votes, for so many bits.
    pub(super) fn new(width: u32) -> Self {
        Self(vec![0.0; width as usize])
    }

    /// Counts a hash.
    pub(super) fn add(&mut self, hash: u128, weight: f64) {
        for (bit, sum) in self.0.iter_mut().enumerate() {
            *sum += if hash >> bit & 1 == 1 { weight } else { -weight };
        }
    }

    /// The bits with more weight for than against; a tie is as told.
    pub(super) fn majority(&self, tie: bool) -> u128 {
        self.0.iter().enumerate().fold(0, |bits, (bit, sum)| {
            let set = if tie { *sum >= 0.0 } else { *sum > 0.0 };
            bits | u128::from(set) << bit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that is worked through in textbooks.
    #[test]
    fn two_features_of_different_weight() {
        let mut votes = Votes::new(6);
        votes.add(0b10_0101, 3.0);
        votes.add(0b10_1011, 5.0);
        assert_eq!(votes.0, [8.0, 2.0, -2.0, 2.0, -8.0, 8.0]);
        assert_eq!(votes.majority(false), 0b10_1011);
    }
}
