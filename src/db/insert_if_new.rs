//! The crawler's operation: is there something near already? If not, this is it.

use crate::db::store_inner::StoreInner;
use crate::db::write_batch::Write;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Match, to_words};
use crate::query::Near;
use crate::version::ReadView;
use crate::wal::Durability;
use std::sync::Arc;

/// What [`crate::Store::insert_if_new`] has found or done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertOutcome<F = u64> {
    /// Whether the record was inserted: nothing was near, but perhaps records with its own id. If the very record is there
    /// already it is not inserted either; `own` begins with it then.
    pub inserted: bool,
    /// The number that the store has given to it, if it was inserted and the store numbers its records.
    pub number: Option<u64>,
    /// Records within the distance that have other ids, as many as were asked for, those of the nearest fingerprints, in the
    /// order of [`crate::Store::query`]. Where there are no ids, each fingerprint with its count is one.
    pub duplicates: Vec<Match<F>>,
    /// The records within the distance that have the same id: earlier states of the same document.
    pub own: Vec<Match<F>>,
}

impl StoreInner {
    /// Inserts a record unless there is one near it; names at most `most` of those.
    ///
    /// The search goes on without the lock of writers. What was written meanwhile is at the end of the memtables, and is
    /// compared one by one under the lock; so nothing can come in between, and writers wait for each other for a moment only.
    pub(crate) fn insert_if_new<F: Fingerprint>(
        &self,
        fingerprint: F,
        id: Option<Id>,
        (k, most): (u32, usize),
        durability: Durability,
    ) -> Result<InsertOutcome<F>> {
        self.check_id(id.as_ref(), false)?;
        self.slow_down();
        loop {
            let (found, state) = self.ask(|searcher| {
                let found = searcher.duplicates(fingerprint, id.as_ref(), k, most.max(1));
                found.map(|found| (found, searcher.state.clone()))
            })?;
            let Near { own, duplicates } = found;
            // The very record may be there already.
            let is_there = own.first().is_some_and(|first| first.distance == 0);
            if is_there || !duplicates.is_empty() {
                // What was found may have been written a moment ago.
                self.promise_all(durability)?;
                return Ok(InsertOutcome { inserted: false, number: None, duplicates, own });
            }
            let mut writing = self.writer()?;
            if self.is_near_what_came_after(&state, fingerprint, k) {
                continue;
            }
            let done = self.write_with(&mut writing, &[Write::Insert(to_words(fingerprint), id)]);
            self.write_handed(&mut writing);
            drop(writing);
            let (written, promise) = done?;
            promise.map_or(Ok(()), |promise| self.keep(&promise, durability))?;
            return Ok(InsertOutcome { inserted: true, number: written.first_number, duplicates, own });
        }
    }

    /// Whether anything within the distance may have been written after a state, or if nobody can say. The caller is the writer.
    fn is_near_what_came_after<F: Fingerprint>(&self, state: &ReadView, fingerprint: F, k: u32) -> bool {
        let now = self.state();
        let last_run = |state: &ReadView| state.view.runs.last().map(|run| run.entry.last);
        if last_run(&now) != last_run(state) {
            // Memtables went to segments meanwhile, or something was loaded.
            return true;
        }
        // So all memtables are there that were; from where on is there more?
        let before = state.view.memtables.last();
        let mut known = before.is_none();
        for (memtable, visible) in now.memtables() {
            let is_last = before.is_some_and(|before| Arc::ptr_eq(memtable, before));
            let from = if is_last { state.visible() } else { 0 };
            known |= is_last;
            if known && memtable.any_near_between(from, visible, fingerprint, k) {
                return true;
            }
        }
        !known
    }
}
