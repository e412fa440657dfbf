//! All pairs of stored fingerprints, or of their records, within distance k: of one state, or between two.
//!
//! Every pair comes once: the smaller fingerprint first, or the left state's. The order is the same for any number of
//! threads. Memory is bounded for any data: nothing is left out, and quadratic results are streamed.
//!
//! * [`Pairs`] is the public interface; [`PairIter`] and [`RecordPairIter`] run it on a thread of their own.
//! * `clean.rs` first makes a state one of segments alone, without memtables and tombstones.
//! * [`Join`] (`budget.rs`) divides the memory, and `passes.rs` runs the join: it deals fingerprints to buckets that
//!   agree in some bits, as many at a time as fit the memory, and each bucket is joined by one thread (`group.rs`).
//!   Fingerprints that agree in the first bits of a table's keys need no dealing (`order.rs`, `in_order.rs`), and those
//!   that agree in bits behind them are read in stripes (`in_stripes.rs`), of several segments merged (`merged.rs`). The
//!   plan is [`crate::plan::join`]; `node.rs` explains why every pair is found once. Where dividing does not pay,
//!   `tiles.rs` compares all with all.
//! * [`crate::plan::Part`] limits a join to the pairs that agree in some bits, for joins on several machines.
//! * The threads hand pairs to a [`Taker`] each. Results reach the caller in the order of the tasks (`ordered.rs`); a
//!   thread that is too far ahead waits.
//! * For pairs of records, the pairs of fingerprints are gathered, or sorted (`sorted.rs`), and dealt to the takers of
//!   another crew (`lots.rs`); `expand.rs` makes the pairs of records, and `repeated.rs` finds the fingerprints with
//!   several.
//!
//! `keys/` finds the pairs of a key index, whose records share keys.
//!
//! A join runs on a crew of the store's executor, which no other work uses meanwhile; one that makes pairs of records
//! runs on two. The caller's thread takes the results. Nothing is written but unnamed temporary files: segments
//! (format-spec/segment.md) and sorted runs.

mod buckets;
mod budget;
mod clean;
mod expand;
mod group;
mod hash;
mod in_order;
mod in_stripes;
mod iter;
mod job;
pub(crate) mod keys;
mod lots;
mod merged;
mod node;
mod order;
mod ordered;
mod pair;
mod pairs;
mod passes;
mod repeated;
mod sides;
mod sorted;
mod source;
mod stripes;
mod taker;
mod tiles;

use crate::fingerprint::mask;

pub(crate) use budget::Join;
pub(crate) use clean::CleanSegments;
pub(crate) use hash::Groups;
pub use iter::{PairIter, RecordPairIter};
pub(crate) use job::JobContext;
pub use job::Progress;
pub(crate) use ordered::{Output, Step, ordered};
pub use pair::{Pair, RecordPair, RecordPairs};
pub use pairs::Pairs;
pub(crate) use source::{visit_stored, visit_wanted};
pub(crate) use taker::{Results, Taker, Ticket};
