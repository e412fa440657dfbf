//! Ranks of records by the values of a column: the order in which they come.
//!
//! A [`Ranker`] takes a [`Value`] after another, each with a key of the caller's choice, and returns the keys with
//! ranks of 64 bits: a lower rank comes first, equal values have the same one, and [`NO_VALUE`] is the last of all. The
//! key of rows that are counted is `()`; an [`IdRanker`] makes the keys of ids, and its [`IdRanks`] finds them again.
//!
//! Numbers are ordered by their value, exactly: integers with fractions, too. Texts are ordered by their bytes.
//!
//! Memory: 8 bytes a value, and the key (8 bytes for an id that is a number, 16 for a text). Texts go to a temporary
//! file.

mod id_ranks;
mod number;
mod ranker;
mod sorted;
mod value;

pub use self::id_ranks::{IdRanker, IdRanks};
pub use self::ranker::{First, NO_VALUE, Ranked, Ranker, Space};
pub use self::value::Value;
