//! Merging what several sources, one newer than the other, say of records and of keys.
//!
//! [`Merge`] yields the last word on every record, in order; [`MergedTables`] the keys of the tables behind the first, table
//! by table, without those of fingerprints that have no records left. Nothing but a block of each table and a page of ids
//! of each segment is in memory at a time.

mod losers;
mod records;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use records::{LastWord, Merge};
pub(crate) use tables::{Dead, MergedTables};
