//! Random numbers as `numpy.random.RandomState(seed).randint` draws them: Mersenne Twister. Bits above the highest bit
//! of the bound are masked, and numbers that are still too large are drawn again.

use rand_mt::Mt;

/// A generator.
pub(super) struct RandomState(Mt);

impl RandomState {
    pub(super) fn new(seed: u32) -> Self {
        Self(Mt::new(seed))
    }

    /// Draws a number from 0 to `most`, both included, of 32 bits.
    pub(super) fn up_to_32(&mut self, most: u32) -> u32 {
        let mask = u32::MAX >> most.leading_zeros();
        loop {
            let drawn = self.0.next_u32() & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }

    /// Draws a number from 0 to `most`, both included, of 64 bits; the upper half is drawn first.
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
