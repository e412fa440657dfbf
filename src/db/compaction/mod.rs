//! Compaction: `picker` decides which runs become one, `compact` merges their records, `tables` their secondary tables.

pub(crate) mod compact;
pub(crate) mod picker;
mod tables;
