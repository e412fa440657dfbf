//! Sets of numbers: small ones ([`Bitset`]), or any ([`NumberSet`], [`NumberRanks`]).

mod number_ranks;
mod number_set;
mod small;

pub(crate) use number_ranks::NumberRanks;
pub(crate) use number_set::NumberSet;
pub(crate) use small::Bitset;
