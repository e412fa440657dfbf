//! Inserts a record unless there is one near it: the crawler's operation.

use crate::db::store_inner::StoreInner;
use crate::db::write_batch::Write;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id, Match, to_words};
use crate::query::Near;
use crate::version::ReadView;
use crate::wal::Durability;
use std::sync::Arc;

/// The result of [`crate::Store::insert_if_new`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertOutcome<F = u64> {
    /// Whether the record was inserted: the store had no near record with another id. If the store has this record
    /// already, it is not inserted, and `own` begins with it.
    pub inserted: bool,
    /// The number of the inserted record, if the store numbers its records.
    pub number: Option<u64>,
    /// Records within the distance with other ids, in the order of [`crate::Store::query`]: those of the nearest
    /// fingerprints, up to the requested number. Without ids, each fingerprint with its count is one.
    pub duplicates: Vec<Match<F>>,
    /// Records within the distance with the same id: earlier states of the same document.
    pub own: Vec<Match<F>>,
}

impl StoreInner {
    /// Inserts a record unless there is one near it; returns at most `most` of those.
    ///
    /// The search runs without the writer lock. Records written meanwhile are at the end of the memtables, and are
    /// compared one by one under the lock. So no write comes between search and insert, and writers wait for a moment
    /// only.
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
            let (found, view) = self.ask(|searcher| {
                let found = searcher.duplicates(fingerprint, id.as_ref(), k, most.max(1));
                found.map(|found| (found, searcher.view.clone()))
            })?;
            let Near { own, duplicates } = found;
            let is_there = own.first().is_some_and(|first| first.distance == 0);
            if is_there || !duplicates.is_empty() {
                // The records found may not be durable yet.
                self.make_durable(durability)?;
                return Ok(InsertOutcome { inserted: false, number: None, duplicates, own });
            }
            let mut writing = self.writer()?;
            if self.may_be_near_later_writes(&view, fingerprint, k) {
                continue;
            }
            let done = self.write_with(&mut writing, &[Write::Insert(to_words(fingerprint), id)]);
            self.write_handed(&mut writing);
            drop(writing);
            let (written, promise) = done?;
            self.wait_durable(promise.as_ref(), durability)?;
            return Ok(InsertOutcome { inserted: true, number: written.first_number, duplicates, own });
        }
    }

    /// Whether a record within the distance may have been written after `view`. The caller has the writer lock.
    fn may_be_near_later_writes<F: Fingerprint>(&self, view: &ReadView, fingerprint: F, k: u32) -> bool {
        let now = self.read_view();
        let last_run = |view: &ReadView| view.version.runs.last().map(|run| run.entry.last);
        if last_run(&now) != last_run(view) {
            // A flush or a load has ended meanwhile.
            return true;
        }
        // So no memtable of `view` is gone.
        let before = view.version.memtables.last();
        let mut known = before.is_none();
        for (memtable, visible) in now.memtables() {
            let is_last = before.is_some_and(|before| Arc::ptr_eq(memtable, before));
            let from = if is_last { view.visible() } else { 0 };
            known |= is_last;
            if known && memtable.any_near_between(from, visible, fingerprint, k) {
                return true;
            }
        }
        !known
    }
}
