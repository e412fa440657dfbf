//! How the flips of a sample are spread.

use super::symbols::{BACKS, MAX_FLIPS};

/// What the symbols of a code may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) enum Profile {
    /// Few flips, of the key before: fastest to decode.
    Quick,
    /// Everything.
    Dense,
}

impl Profile {
    /// To how many keys a symbol may refer, and how many bits it may flip.
    pub(super) fn reach(self) -> (usize, u32) {
        match self {
            Self::Quick => (1, QUICK_FLIPS),
            Self::Dense => (BACKS, MAX_FLIPS),
        }
    }
}

/// Most flips of a quick code: their masks are looked up.
pub(super) const QUICK_FLIPS: u32 = 4;
