//! A sharded store: a ring file, and a store for each of its nodes, which has the records whose ids belong to the node.
//!
//! [`Rebalance`] moves records when the ring changes. At every moment all nodes of the ring together have all records:
//!
//! 1. [`Rebalance::prepare`] checks the stores of all nodes, and creates or empties those of joining nodes
//!    (`joining.rs`).
//! 2. [`Rebalance::copy`] copies records to those of their new nodes that do not have them; [`Rebalance::verify`] looks
//!    all of them up again.
//! 3. [`Rebalance::replace`] writes the former ring to a file beside the ring file, then replaces the ring file.
//! 4. [`Rebalance::clean`] removes records from nodes that they do not belong to, after a look at the nodes that they
//!    belong to. [`Rebalance::end`] removes the file of the former ring.
//!
//! [`fpring::file::Lock`] keeps other programs from changing records meanwhile. A store is a set of records, so every
//! step may be repeated. [`run`] takes them all, and continues an interrupted run: a former ring beside the ring file
//! tells that step 4 has not ended.
//!
//! Memory: one store at a time is open for reading, one for writing; sorters of several stores share the rest.

mod compatible;
mod distribute;
mod joining;
mod place;
mod rebalance;
mod summary;

pub use rebalance::{Rebalance, run};
pub use summary::{NodeSummary, Summary};
