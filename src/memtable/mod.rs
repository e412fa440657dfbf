//! The memtable: the latest writes in memory, searched within distance k like a segment.
//!
//! **Guarantees.** A search is complete: the tables and radii are those of the store's design. A reader sees batches
//! whole, and the state of one moment for as long as it likes. Memory is allocated once, and used as it is touched.
//!
//! **Append-only.** Nothing moves or changes but the heads of chains, so readers take no lock. A reader loads the
//! number of visible records once ([`Memtable::visible`]) and ignores later ones. One thread at a time writes; its
//! records become visible when it publishes them.
//!
//! [`Memtable`] (`table.rs`) has each fingerprint once, with a chain of its records, newest first, inserts and
//! tombstones; ids are in a column (`ids.rs`). For each table of the design it has a hash table of key prefixes
//! (`buckets.rs`); [`MemtableShape`] (`shape.rs`) has their prefix lengths. A search (`search.rs`) looks up every
//! prefix that its [`MemtablePlan`] lists and compares the fingerprints of the chains. Look-ups of a known fingerprint,
//! record or id are in `find.rs`. `checked.rs` tests the orders of memory accesses with loom (`atomics.rs`).
//!
//! Nothing of it is on disk: the log has the same writes.

mod atomics;
mod buckets;
mod find;
mod ids;
mod search;
mod shape;
mod table;

#[cfg(test)]
#[cfg(fpstore_loom)]
mod checked;
#[cfg(test)]
#[cfg(not(fpstore_loom))]
mod tests;

pub(crate) use search::{MemtablePlan, MemtableScratch};
pub(crate) use shape::MemtableShape;
pub(crate) use table::Memtable;
