//! The paper's batch (section 4.2): queries in memory, for fingerprints that stream by.
//!
//! A fingerprint is looked up among the queries as a query is among stored fingerprints: a
//! [`Design`](crate::plan::Design) says by which bits, and within which radius. The tables are small and hold only
//! queries, and most fingerprints are near none of them. So a table is a hash table of *prefixes* behind a filter that
//! rejects most fingerprints ([`table`]). [`choice`] selects the design and the prefixes that cost least for the number
//! of queries and their likeness.
//!
//! Several tables, and several flips, may see a query. It is reported by the first table within whose radius it lies,
//! and there by the flip that makes the prefixes equal. So no set of reported queries is needed.

mod choice;
pub(crate) mod query_tables;
mod table;
#[cfg(test)]
mod tests;
