//! A batch of queries merged with the tables of a segment, in one pass over each table.
//!
//! Probing waits for memory: every prefix lies somewhere else. A million queries want each block of a table many times,
//! so a merge decodes every block once, in order. [`queries`] sorts the queries as the table is sorted. [`ranges`] cuts
//! the table into ranges of some thousand keys that share their leading bits. The prefixes that queries ask for in a
//! range come from few runs of the sorted queries: those with the same leading bits, and those with a few of them
//! flipped ([`flips`]). A [`worker`] marks them in a bitmap that fits the nearest cache ([`marks`]); few of the decoded
//! keys meet a mark, and these are compared with the queries that made it.
//!
//! Every pair within the distance is found once: by the first table within whose radius it lies, and there by the one
//! flip that makes the prefixes equal. The prefix only selects pairs; they are compared by counting all differing bits.
//!
//! [`query_batch`] decides which segments are merged and which are probed, [`merge_join`] runs the ranges on the
//! threads of the current pool, [`gathered`] reads the ids of what they found, and [`answers`] makes the answers. Threads
//! share a [`batch_budget`] for the memory.

mod answers;
pub(crate) mod batch_budget;
mod flips;
mod gathered;
mod marks;
mod merge_join;
mod queries;
pub(crate) mod query_batch;
mod ranges;
mod worker;
