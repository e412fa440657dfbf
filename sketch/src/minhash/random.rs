//! Random numbers as `numpy.random.RandomState(seed).randint` draws them: Mersenne Twister, and numbers that are too large
//! are drawn again after all bits above the bound's highest are masked.

use rand_mt::Mt;

/// The generator of one seed.
pub(super) struct RandomState(Mt);

impl RandomState {
    pub(super) fn new(seed: u32) -> Self {
        Self(Mt::new(seed))
    }

    /// A number of 0 to `most`, both included, of 32 bits.
    pub(super) fn up_to_32(&mut self, most: u32) -> u32 {
        let mask = u32::MAX >> most.leading_zeros();
        loop {
            let drawn = self.0.next_u32() & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }

    /// A number of 0 to `most`, both included, of 64 bits: the upper half is drawn first.
    pub(super) fn up_to_64(&mut self, most: u64) -> u64 {
        let mask = u64::MAX >> most.leading_zeros();
        loop {
            let high = u64::from(self.0.next_u32());
            let drawn = (high << 32 | u64::from(self.0.next_u32())) & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }
}
