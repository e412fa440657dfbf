//! The memtable: the latest writes in memory, searchable within k as fast as a segment.
//!
//! For each table of the store's design there is a hash table of key prefixes; a query looks up every prefix within the
//! table's radius, and compares what it meets there whole, so the guarantee of completeness is that of the segments.
//! Each fingerprint stands in it once, with a chain of what was written about its records, newest first.
//!
//! **Appending only.** Nothing is ever moved or changed but for the heads of chains. So readers need no lock: who knows
//! how many records there were at some moment ([`Memtable::visible`]) sees the state of that moment for as long as it
//! likes, however many come behind. One thread at a time may write; which one is the caller's to see to. What it pushes
//! is invisible until it is published, so a batch is seen whole or not at all.
//!
//! All memory is set aside when a memtable is made, and but for the beginning of each array taken from the system as it is
//! touched.

mod atomics;
mod buckets;
mod by_ids;
mod entries;
mod find;
mod ids;
mod search;
mod shape;
mod table;

pub(crate) use search::{MemtablePlan, MemtableScratch};
pub(crate) use shape::MemtableShape;

#[cfg(test)]
#[cfg(fpstore_loom)]
mod checked;
#[cfg(test)]
#[cfg(not(fpstore_loom))]
mod tests;
pub(crate) use table::Memtable;
