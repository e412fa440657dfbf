//! Makes runs of sealed memtables, oldest first.
//!
//! The logs go only after the manifest names the run, so a failed flush is tried again later. Specified in
//! format-spec/store.md, Flushing.

use crate::db::count::effective;
use crate::db::health::Failing;
use crate::db::store_inner::StoreInner;
use crate::db::version_set::Sealed;
use crate::error::Result;
use crate::executor::Operation;
use crate::extsort::Workspace;
use crate::fingerprint::by_width;
use crate::version::Run;
use std::sync::Arc;

/// Bytes of memory of a flush, and of a background compaction, besides the records.
pub(crate) const MEMORY: u64 = 64 << 20;

impl StoreInner {
    /// Makes runs of the sealed memtables, but of no more than `most`. The records are those of all callers: this does
    /// not end with the operation of one of them.
    pub(crate) fn flush_sealed(&self, most: usize) -> Result<()> {
        let flush = || {
            let _flushing = self.flushing.lock();
            for _ in 0..most {
                if !self.flush_next()? {
                    break;
                }
            }
            Ok(())
        };
        Operation::background().run(|| self.context.options.executor.run_exclusive(flush))
    }

    /// Makes a run of the oldest sealed memtable. Returns whether there was one.
    fn flush_next(&self) -> Result<bool> {
        self.check_poison()?;
        let versions = self.versions();
        let Some(sealed) = versions.sealed.front().cloned() else { return Ok(false) };
        let older = versions.runs.clone();
        drop(versions);
        let flushed = self.flush_one(&sealed, &older);
        flushed.map(|()| true).inspect_err(|error| {
            self.check_place(error);
            let mut versions = self.versions();
            versions.flushing = Some(Failing::again(versions.flushing.as_ref(), error, sealed.last));
            self.changed.notify_all();
        })
    }

    fn flush_one(&self, sealed: &Sealed, older: &[Arc<Run>]) -> Result<()> {
        let workspace = self.workspace();
        let (made, net) = by_width!(self.context.parameters.width(), F => {
            let (entries, net) = effective::<F>(sealed.memtable.entries(sealed.memtable.visible()), older);
            (self.maker().run_of_entries(entries, older.is_empty(), &workspace)?, net)
        });
        let bytes = made.entry.bytes();
        let new = made.numbered(sealed.first, sealed.last, net);
        self.install(
            |manifest, runs| {
                manifest.flushed = sealed.last;
                manifest.first_log = sealed.next_log;
                manifest.next_id = sealed.next_id;
                manifest.written.log = manifest.written.log.saturating_add(sealed.log_bytes);
                manifest.written.new = manifest.written.new.saturating_add(bytes);
                runs.extend(new);
            },
            |versions| {
                versions.sealed.pop_front();
                versions.flushing = None;
            },
        )
    }

    pub(crate) fn workspace(&self) -> Workspace {
        Workspace::of_memory(&self.context.path, &self.context.options, MEMORY)
    }
}
