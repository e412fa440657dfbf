//! The threads of a store.
//!
//! This module starts every thread of the library; their names begin with `fpstore`. The options of a store own an
//! [`Executor`] ([`crate::Options::with_threads`]); no work runs on a pool of the caller.
//!
//! **Crews** (`crew.rs`). Parallel work runs on a crew: a thread pool that runs one operation at a time. The next
//! operation uses it again; two simultaneous operations have two crews. So a thread that waits for a part of its
//! operation takes other parts of the same operation only, never work that needs a lock or a queue of the waiting
//! operation. A limit on the number of crews would let one operation wait for another that waits for its lock; so the
//! threads are bounded by those of [`crate::Options::with_threads`] for each operation that callers run at a time. A
//! search for pairs of records has two crews: one finds pairs of fingerprints, and mostly waits while the other one makes
//! pairs of records.
//!
//! **Background threads** (`background.rs`) flush and compact. Each is a crew of one; `rate_limiter.rs` paces
//! compaction.
//!
//! **What each thread may wait for.**
//!
//! | thread | waits for |
//! |---|---|
//! | caller | its crew, locks, the sync of a log, background threads when a write has to wait for a flush |
//! | crew of a load, flush or compaction | its own parts, locks of `db`, the threads that write the segment and read runs |
//! | crew of a join or a batch of queries | its own parts, the caller that takes the results |
//! | background thread | locks, changes of the version set, the thread that writes the segment |
//! | thread that makes filters | tables to make them of |
//! | thread of an iterator over pairs, or that matches labels | its crew, the caller's next chunk |
//! | thread that writes a segment or a run | files |
//! | thread that reads runs ahead and merges them | files, parts of merges |
//!
//! Threads of a crew take locks of `db` only in exclusive operations ([`Executor::run_exclusive`]). If a callback of
//! the caller starts such an operation within another one, it gets a crew of its own. Locks have an order, which debug
//! builds check ([`RankedMutex`], `rank.rs`); a crew inherits the locks of the caller that waits for it.
//!
//! **Operations** (`operation.rs`). A caller may run work within an [`Operation`]; its crew and the threads that it
//! starts inherit it. Background threads work for all callers, in an operation of their own.

mod background;
mod crew;
mod locks;
mod operation;
mod rank;
mod rate_limiter;
mod spawn;

pub(crate) use background::BackgroundThread;
pub(crate) use crew::{Crew, Executor};
pub(crate) use locks::{Condvar, Mutex, RwLock};
pub use operation::Operation;
pub(crate) use rank::{Rank, RankedGuard, RankedMutex};
pub(crate) use rate_limiter::RateLimiter;
pub(crate) use spawn::{spawn, spawn_background, spawn_scoped};
