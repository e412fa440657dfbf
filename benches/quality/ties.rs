//! Alternative rules for ties. All except that of `native` compute one bit after the other.

use std::collections::BTreeSet;

use fpsketch::{Simhash, SimhashPreset};

/// The rule for a tie among the features of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The bit is 0, as in version 1 of `native`.
    Zero,
    /// A hash of all features.
    All,
    /// For each bit another hash of one of four features: `native` itself.
    Native,
    /// Another hash of the feature with the smallest hash.
    Smallest,
    /// The vote of the feature with the smallest hash.
    SmallestVote,
    /// For each bit the vote of the feature whose hash with the bit's number is the smallest.
    SmallestOfBit,
    /// Votes with up to a millionth more weight, by a hash of the feature with the bit's number.
    Noise,
}

impl Rule {
    pub(crate) const ALL: [Self; 7] =
        [Self::Zero, Self::Native, Self::All, Self::Smallest, Self::SmallestVote, Self::SmallestOfBit, Self::Noise];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zero => "native 1: a tie is 0",
            Self::All => "a hash of all features",
            Self::Native => "native 2: a hash of one of four features",
            Self::Smallest => "a hash of the smallest feature",
            Self::SmallestVote => "the vote of the smallest feature",
            Self::SmallestOfBit => "the vote of the smallest feature of each bit",
            Self::Noise => "votes of slightly different weight",
        }
    }
}

/// A text with its features.
pub(crate) struct Featured {
    pub(crate) text: String,
    /// The hashes of the features of `native`, each once.
    pub(crate) features: BTreeSet<u64>,
}

impl Featured {
    pub(crate) fn new(text: String) -> Self {
        let mut features = BTreeSet::new();
        native().preparation().hashes(text.as_str().into(), |hash| _ = features.insert(hash));
        Self { text, features }
    }

    /// A fingerprint of 64 bits.
    pub(crate) fn fingerprint(&self, rule: Rule) -> u64 {
        if rule == Rule::Native {
            return u64::try_from(native().fingerprint(self.text.as_str().into())).unwrap();
        }
        (0..64).fold(0, |bits, bit| bits | u64::from(self.bit(bit, rule)) << bit)
    }

    fn bit(&self, bit: u64, rule: Rule) -> bool {
        let features = &self.features;
        let ones = features.iter().filter(|feature| *feature >> bit & 1 == 1).count();
        if 2 * ones != features.len() {
            return 2 * ones > features.len();
        }
        let own = |feature: u64| mixed(feature ^ mixed(bit));
        let vote = |feature: Option<&u64>| feature.is_some_and(|feature| feature >> bit & 1 == 1);
        match rule {
            Rule::Zero | Rule::Native => false,
            Rule::Smallest => mixed(features.first().copied().unwrap_or_default()) >> bit & 1 == 1,
            Rule::All => mixed(features.iter().fold(0, |all, feature| all ^ mixed(*feature))) >> bit & 1 == 1,
            Rule::SmallestVote => vote(features.first()),
            Rule::SmallestOfBit => vote(features.iter().min_by_key(|feature| own(**feature))),
            Rule::Noise => {
                let sign = |feature: &u64| if vote(Some(feature)) { 1 } else { -1 };
                features.iter().map(|feature| i128::from(own(*feature)) * sign(feature)).sum::<i128>() > 0
            }
        }
    }
}

fn native() -> Simhash {
    Simhash::new(SimhashPreset::Native)
}

/// The finaliser of SplitMix64.
pub(crate) fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
