//! Sets of numbers: small ones ([`Bitset`]), or any ([`NumberSet`]).

mod number_set;
mod small;

pub(crate) use number_set::NumberSet;
pub(crate) use small::Bitset;
