//! The threads of a store.
//!
//! Every thread of the library is started here, and has a name that begins with `fpstore`. An [`Executor`] belongs to the
//! options that a store is opened with ([`crate::Options::with_threads`]); nothing runs on a pool of the caller's.
//!
//! **Crews.** Parallel work runs on a crew: as many threads as the options say, all of them for one operation at a time. A crew
//! stays for the next operation. Two operations that run at the same time have two crews. So a thread that waits for its part
//! of an operation takes up other parts of that operation alone, never work that wants a lock which is held for the operation
//! or a queue that the operation fills.
//!
//! **Background threads.** The threads that flush and compact compute alone: each is a crew of one.
//!
//! **Who may block on whom.**
//!
//! | thread | waits for |
//! |---|---|
//! | caller | its crew, locks, the sync of a log, background threads where a write has to wait for a flush |
//! | crew of a load, flush or compaction | its own parts, the thread that writes the segment, the threads that read runs ahead |
//! | crew of a join or a batch of queries | its own parts, and the caller that takes the results |
//! | background thread | locks, changes of the version set, the thread that writes the segment |
//! | thread that writes a segment or a run, or reads ahead | files alone |
//!
//! Threads of a crew never take the locks of `db`, unless the caller's function that they run does: then the operation gets a
//! crew of its own ([`Executor::run_exclusive`]). The locks have an order, which debug builds check ([`RankedMutex`]).

mod background;
mod crew;
mod rank;
mod rate_limiter;
mod spawn;

pub(crate) use background::BackgroundThread;
pub(crate) use crew::Executor;
pub(crate) use rank::{Rank, RankedGuard, RankedMutex};
pub(crate) use rate_limiter::RateLimiter;
pub(crate) use spawn::{spawn, spawn_scoped};
