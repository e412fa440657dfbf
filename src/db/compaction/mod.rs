//! Compaction: `picker` decides which runs become one, `compact` merges their records, `tables` their secondary tables,
//! `keys` those of a key index.

pub(crate) mod compact;
mod keys;
pub(crate) mod picker;
mod tables;
