//! Counts votes of equal weight for 64 bits at once.
//!
//! The counts of the 64 bits are stored *across* words: word i holds bit i of every count. Adding a hash is an addition
//! with carry, one logical operation for all 64 counts. Eight hashes are first added to each other, so that only one
//! carry in eight is propagated (Harley-Seal counting, as in Warren, Hacker's Delight, chapter 5).

/// Hashes that are added together.
const BATCH: usize = 8;
/// Bits of a count: enough for more features than fit in memory.
const PLANES: usize = 40;

/// Counts of set bits.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    waiting: [u64; BATCH],
    length: usize,
    planes: [u64; PLANES],
    votes: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { waiting: [0; BATCH], length: 0, planes: [0; PLANES], votes: 0 }
    }
}

impl Tally {
    /// Counts a hash.
    #[inline]
    pub(super) fn add(&mut self, hash: u64) {
        if let Some(place) = self.waiting.get_mut(self.length) {
            *place = hash;
        }
        self.length += 1;
        if self.length == BATCH {
            self.add_batch();
        }
    }

    /// Adds the waiting hashes. Unused places are zero.
    fn add_batch(&mut self) {
        let [a, b, c, d, e, f, g, h] = self.waiting;
        let [ones, twos, fours, ..] = &mut self.planes;
        let (sum, twos_a) = full(*ones, a, b);
        let (sum, twos_b) = full(sum, c, d);
        let (sum_twos, fours_a) = full(*twos, twos_a, twos_b);
        let (sum, twos_c) = full(sum, e, f);
        let (sum, twos_d) = full(sum, g, h);
        let (sum_twos, fours_b) = full(sum_twos, twos_c, twos_d);
        let (sum_fours, mut carry) = full(*fours, fours_a, fours_b);
        (*ones, *twos, *fours) = (sum, sum_twos, sum_fours);
        for plane in self.planes.iter_mut().skip(3) {
            (*plane, carry) = (*plane ^ carry, *plane & carry);
            if carry == 0 {
                break;
            }
        }
        self.votes += self.length as u64;
        self.waiting = [0; BATCH];
        self.length = 0;
    }

    /// Returns the bits that more than half of all hashes have set. `decide` receives the bits that exactly half of
    /// them have set, and returns their values.
    pub(super) fn majority(mut self, decide: impl FnOnce(u64) -> u64) -> u64 {
        self.add_batch();
        let (mut set, mut tied) = (0, 0);
        for bit in 0..64 {
            let digits = self.planes.iter().rev();
            let count = digits.fold(0_u64, |count, plane| count << 1 | (plane >> bit & 1));
            // Both sides are doubled, so that half a vote is not lost.
            set |= u64::from(2 * count > self.votes) << bit;
            tied |= u64::from(2 * count == self.votes) << bit;
        }
        if tied == 0 { set } else { set | tied & decide(tied) }
    }
}

/// Adds three bits: returns the sum and the carry.
#[inline]
fn full(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, (a & b) | (half & c))
}

#[cfg(test)]
mod tests {
    use super::super::votes::Votes;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_as_votes_do(hashes in prop::collection::vec(any::<u64>(), 0..200), ties: u64, few in 0_usize..3) {
            // Few distinct hashes make ties.
            let hashes: Vec<u64> = if few > 0 { hashes.iter().map(|hash| hash % (few as u64 + 1)).collect() } else { hashes };
            let (mut tally, mut votes) = (Tally::default(), Votes::new(64));
            for hash in hashes {
                tally.add(hash);
                votes.add(hash.into(), 1.0);
            }
            prop_assert_eq!(u128::from(tally.majority(|_| ties)), votes.majority(|_| ties.into()));
        }
    }

    #[test]
    fn many() {
        let mut tally = Tally::default();
        for i in 0..100_001_u64 {
            tally.add(i % 2);
        }
        assert_eq!(tally.majority(|_| 0), 0);
        let mut tally = Tally::default();
        for i in 0..100_001_u64 {
            tally.add(!(i % 2));
        }
        assert_eq!(tally.majority(|_| 0), u64::MAX);
    }
}
