//! The LSM engine: writes, flushes, compaction, recovery.
//!
//! An acknowledged write survives a crash at any moment, to the level of its [`Durability`](crate::Durability). Readers
//! see each batch whole. The engine writes segments of known records only; queries are in `query`. The bytes are
//! specified in format-spec/store.md and runs.md.
//!
//! * [`Handle`] (`handle.rs`) is an open store: the directory's lock, the background threads and the [`StoreInner`].
//! * [`StoreInner`] (`store_inner.rs`) is the shared state with its locks; the other files add its operations.
//! * [`VersionSet`] (`version_set.rs`) has the manifest, the runs and the memtables; `publish` shows them to readers.
//! * [`Writer`] (`writer.rs`) is the state under the writer lock: the log and the next numbers.
//!
//! **Write.** `write.rs` checks the batch, `pressure.rs` may delay it, `combining.rs` takes the writer lock,
//! `resolved.rs` turns the batch into entries, `commit.rs` appends them to the log and the memtable. Then, without the
//! lock, the thread waits for durability. `insert_if_new.rs` first searches for near records.
//!
//! **Background** (`background.rs`). The flush thread makes runs of sealed memtables (`flush.rs`, `count.rs`,
//! `run_builder.rs`) and allocates the next memtable (`next_memtable.rs`); the compaction thread merges runs
//! (`compaction/`). `install.rs` replaces the manifest and publishes the result. `health.rs` reports errors,
//! `filters.rs` builds filters on its own threads.
//!
//! **Open.** `recovery.rs` reads the logs; `follower.rs` opens for reading and follows the writing process.
//!
//! **Locks.** In the order of their ranks ([`Rank`](crate::executor::Rank)): a thread that installs a version takes
//! `writer`, `flushing` or `compacting`, then `installing`, then `versions`, the last for moments only.

mod background;
mod combining;
mod commit;
mod compaction;
mod count;
pub(crate) mod directory;
mod estimate;
pub(crate) mod filters;
mod flush;
mod follower;
mod handle;
mod health;
mod insert_if_new;
mod install;
mod next_memtable;
mod pressure;
mod recovery;
mod resolved;
mod run_builder;
mod store_inner;
mod version_set;
mod write;
mod write_batch;
mod write_pressure;
mod writer;

pub(crate) use compaction::compact::{TEXTS_OF_COMPRESSED, compacted_net};
pub(crate) use count::{effective, pointless, records_of_runs, records_of_view};
pub(crate) use directory::{CREATING, begin_creation, hold_vacant, undo_creation, vacancy_for_store};
pub use filters::FilterStatistics;
pub(crate) use flush::MEMORY;
pub(crate) use handle::Handle;
pub use health::{Health, Trouble};
pub use insert_if_new::InsertOutcome;
pub(crate) use recovery::Recovered;
pub use recovery::{Recovery, TornLog};
pub(crate) use run_builder::{Made, Maker, Parts};
pub(crate) use store_inner::StoreInner;
pub(crate) use version_set::VersionSet;
pub(crate) use write_batch::owned;
pub use write_batch::{WriteBatch, WriteSummary};
pub(crate) use write_pressure::Slowed;
pub use write_pressure::WritePressure;
pub(crate) use writer::{Refused, Writer, check_id_assignment};
