//! The parts of a join whose fingerprints are not all in one place.
//!
//! The bits of a fingerprint are cut into k + 1 parts. Two fingerprints within distance k agree in one part at least,
//! and their pair belongs to the *first* such part, as in the tree of any join (`join/node.rs`). So fingerprints can be
//! divided into groups, by a part and a hash of its bits: the pairs of that part are between members of one group, and
//! the pairs of all parts together are all pairs, each once. The groups may be joined at different times or on
//! different machines.

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, mask};

/// One of the k + 1 parts of a join at distance k: those pairs that agree in the bits of this part, and differ in
/// those of each part before it.
///
/// ```
/// use fpstore::pairs::Part;
/// use fpstore::{Options, Parameters, Records, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let loaded = Records::Numbered(vec![0b0000u64, 0b0111, 0b1111 << 60]);
/// let (store, _) = Store::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?;
/// let pairs_of = |part| store.pairs(3)?.of_part(part)?.distinct().map(Iterator::count);
/// let counts: Vec<usize> = Part::all(3).map(pairs_of).collect::<fpstore::Result<_>>()?;
/// assert_eq!(counts, [1, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    number: u32,
    k: u32,
}

impl Part {
    /// The part with this number, from 0 to k.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such part.
    pub fn new(number: u32, k: u32) -> Result<Self> {
        if number > k {
            let message = format!("distance {k} has the parts 0 to {k}, and no part {number}");
            return Err(Error::invalid(message));
        }
        Ok(Self { number, k })
    }

    /// All parts for a distance, the first one first.
    pub fn all(k: u32) -> impl Iterator<Item = Self> {
        (0..=k).map(move |number| Self { number, k })
    }

    /// Its number. Pairs of equal fingerprints belong to part 0.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// The distance.
    #[must_use]
    pub fn distance(self) -> u32 {
        self.k
    }

    /// Divides fingerprints into this many groups by the bits of the part. Two fingerprints that agree in the part are
    /// in the same group.
    ///
    /// # Errors
    /// `InvalidInput` if there are to be no groups, or the distance exceeds the width.
    pub fn groups<F: Fingerprint>(self, groups: u32) -> Result<PartGroups<F>> {
        if groups == 0 {
            return Err(Error::invalid("fingerprints cannot be divided into 0 groups"));
        }
        if self.k > F::WIDTH {
            let message = format!("the distance {} exceeds the {} bits of the fingerprints", self.k, F::WIDTH);
            return Err(Error::invalid(message));
        }
        Ok(PartGroups { mask: self.mask(), groups: groups.into() })
    }

    /// Refuses a join at another distance.
    pub(crate) fn check_distance(self, k: u32) -> Result<()> {
        if self.k == k {
            return Ok(());
        }
        Err(Error::invalid(format!("a part for distance {} does not divide a join at distance {k}", self.k)))
    }

    /// Its bits. Part 0 has the most significant ones.
    fn mask<F: Fingerprint>(self) -> F {
        mask::split(mask::all(), self.k + 1).get(self.number as usize).copied().unwrap_or_default()
    }
}

/// Divides fingerprints into groups: [`Part::groups`].
#[derive(Clone, Copy, Debug)]
pub struct PartGroups<F> {
    mask: F,
    groups: u64,
}

impl<F: Fingerprint> PartGroups<F> {
    /// The number of the fingerprint's group: by the hash that format-spec/plan.md specifies.
    #[inline]
    #[must_use]
    pub fn of(&self, fingerprint: F) -> u32 {
        // Not the hash of `Groups`: the fingerprints of a group would share the first bits of their hashes there.
        let mut hash = 0;
        for number in 0..F::WORDS {
            hash = mix(hash ^ (fingerprint.word(number) & self.mask.word(number)));
        }
        u32::try_from(hash % self.groups).unwrap_or_default()
    }
}

/// The finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::U256;

    #[test]
    fn fingerprints_that_agree_in_a_part_share_a_group() {
        let groups: Vec<PartGroups<u64>> = Part::all(3).map(|part| part.groups(7).unwrap()).collect();
        for number in 0..1000u64 {
            let one = mix(number);
            for (part, groups) in (0..).zip(&groups) {
                // Only the 16 bits of the part are the same; the first part has the most significant bits.
                let other = mix(!number) & !(0xffff << (48 - 16 * part)) | one & (0xffff << (48 - 16 * part));
                assert_eq!(groups.of(one), groups.of(other));
            }
        }
    }

    /// The values of format-spec/plan.md.
    #[test]
    fn groups_are_as_specified() {
        fn group<F: Fingerprint>(fingerprint: F, (k, part): (u32, u32), groups: u32) -> u32 {
            Part::new(part, k).unwrap().groups(groups).unwrap().of(fingerprint)
        }
        let (high, low) = (0x832f_e9f6_aa2f_461a_u64, 0x0000_c4d3_ba6c_de29);
        assert_eq!(group(high, (3, 0), 7), 6);
        assert_eq!(group(high, (0, 0), 1000), 239);
        assert_eq!(group(u128::from(high) << 64 | u128::from(low), (5, 2), 1000), 548);
        assert_eq!(group(U256([high, low, high, low]), (31, 31), 1000), 293);
    }

    #[test]
    fn groups_have_about_the_same_size() {
        let groups = Part::new(1, 31).unwrap().groups::<U256>(16).unwrap();
        let mut counts = [0; 16];
        for number in 0..160_000u64 {
            counts[groups.of(U256::from_words(|word| mix(number * 4 + word as u64))) as usize] += 1;
        }
        // 8 bits have 256 values, 16 a group in the mean.
        assert!(counts.iter().all(|&count| (3_000..20_000).contains(&count)), "{counts:?}");
    }

    #[test]
    fn parts_that_do_not_exist_are_refused() {
        assert!(Part::new(4, 3).is_err() && Part::new(3, 3).is_ok());
        assert!(Part::new(0, 3).unwrap().groups::<u64>(0).is_err());
        assert!(Part::new(0, 65).unwrap().groups::<u64>(1).is_err());
    }
}
