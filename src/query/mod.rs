//! Queries: the stored fingerprints, and their records, within a distance of given ones.
//!
//! Answers are complete and exact at any distance, come in the order of [`Match`](crate::Match), and are those of one
//! [`ReadView`](crate::version::ReadView). Memory is bounded wherever a caller gives a bound.
//!
//! * [`Searcher`] is the public interface, one a thread. It owns a [`ViewSearcher`]: one read view, the plans for it,
//!   and all buffers. Before a query, a store's searcher moves on to the latest view.
//! * One query: `visit.rs` asks each segment (`probe/`, a plan a segment) and each memtable, and collects [`hits`]:
//!   where each fingerprint within the distance was found, the newest place first. `records.rs` turns hits into
//!   matches. Where tombstones may hide records, `sources.rs` finds the newest visible entry of each record.
//! * `Searcher::visit` passes on matches of any number in bounded memory, nearest fingerprints first.
//! * Many queries (`batch/`): probing for small batches, or one merge of the sorted queries with each table.
//! * `tables/` is the reverse, the paper's batch: [`QueryTables`] hold the queries, and fingerprints stream by.
//!
//! Batches run on the threads of the store's executor, everything else on the caller's thread. Nothing here takes a
//! lock. The bytes that are searched are specified in format-spec/segment.md.

mod batch;
mod hits;
pub(crate) mod keys;
mod probe;
mod records;
mod searcher;
mod sources;
mod tables;
mod view_searcher;
mod visit;
mod visit_options;

pub use batch::query_batch::BatchStrategy;
pub(crate) use records::Near;
pub use searcher::Searcher;
pub use tables::query_tables::QueryTables;
pub(crate) use view_searcher::ViewSearcher;
pub(crate) use view_searcher::check_distance;
pub use visit_options::Visit;
