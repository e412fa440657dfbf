//! The threads of a store.
//!
//! This module starts every thread of the library; their names begin with `fpstore`. The options of a store own an
//! [`Executor`] ([`crate::Options::with_threads`]); no work runs on a pool of the caller.
//!
//! **Crews** (`crew.rs`). Parallel work runs on a crew: a thread pool that runs one operation at a time. The next
//! operation uses it again; two simultaneous operations have two crews. So a thread that waits for a part of its
//! operation takes other parts of the same operation only, never work that needs a lock or a queue of the waiting
//! operation.
//!
//! **Background threads** (`background.rs`) flush and compact. Each is a crew of one; `rate_limiter.rs` paces
//! compaction.
//!
//! **What each thread may wait for.**
//!
//! | thread | waits for |
//! |---|---|
//! | caller | its crew, locks, the sync of a log, background threads when a write has to wait for a flush |
//! | crew of a load, flush or compaction | its own parts, the thread that writes the segment, the threads that read runs ahead |
//! | crew of a join or a batch of queries | its own parts, the caller that takes the results |
//! | background thread | locks, changes of the version set, the thread that writes the segment |
//! | thread that writes a segment or a run, or reads ahead | files |
//!
//! Threads of a crew take no locks of `db`. If a callback of the caller starts an operation that does, this operation
//! gets a crew of its own ([`Executor::run_exclusive`]). Locks have an order, which debug builds check
//! ([`RankedMutex`], `rank.rs`).

mod background;
mod crew;
mod rank;
mod rate_limiter;
mod spawn;

pub(crate) use background::BackgroundThread;
pub(crate) use crew::{Crew, Executor};
pub(crate) use rank::{Rank, RankedGuard, RankedMutex};
pub(crate) use rate_limiter::RateLimiter;
pub(crate) use spawn::{spawn, spawn_scoped};
