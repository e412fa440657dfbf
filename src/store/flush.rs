//! Moving full memtables to segments.
//!
//! Oldest first, each as a run of its own; until the manifest names it, the logs have what is in it, and only then they go.
//! Specified in format-spec/store.md, Flushing.

use super::apart;
use super::core::{Core, lock};
use super::tree::Sealed;
use crate::bulk::Workspace;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use std::sync::Arc;

/// Bytes of memory that a flush, and merging in the background, takes beside what it moves.
pub(super) const MEMORY: u64 = 64 << 20;

impl<F: Fingerprint> Core<F> {
    /// Makes a run of every memtable that waits for it, oldest first.
    ///
    /// # Errors
    /// `Io`: what was written is still in the logs, and in memory.
    pub(super) fn flush_sealed(&self) -> Result<()> {
        apart::run(|| self.flush_all())
    }

    fn flush_all(&self) -> Result<()> {
        let _flushing = lock(&self.flushing);
        loop {
            self.check_poison()?;
            let tree = self.tree();
            let Some(sealed) = tree.sealed.front().cloned() else { return Ok(()) };
            let is_first = tree.runs.is_empty();
            drop(tree);
            self.flush_one(&sealed, is_first)?;
        }
    }

    /// Makes a run of a memtable, the first of all or not.
    fn flush_one(&self, sealed: &Sealed<F>, is_first: bool) -> Result<()> {
        let workspace = self.workspace();
        let mentions = sealed.memtable.mentions(sealed.memtable.visible());
        let parts = self.maker().run_of_mentions(&mentions, is_first, &workspace)?;
        let bytes = parts.bytes();
        let new: Vec<_> = parts.into_run(sealed.first, sealed.last).into_iter().collect();
        self.install(
            &new,
            |manifest, runs| {
                manifest.flushed = sealed.last;
                manifest.first_log = sealed.next_log;
                manifest.next_id = sealed.next_id;
                manifest.written.log = manifest.written.log.saturating_add(sealed.log_bytes);
                manifest.written.new = manifest.written.new.saturating_add(bytes);
                runs.extend(new.iter().map(Arc::clone));
            },
            |tree| _ = tree.sealed.pop_front(),
        )
    }

    /// What a flush, or merging in the background, may use.
    pub(super) fn workspace(&self) -> Workspace {
        Workspace { memory: MEMORY, ..Workspace::new(&self.common.path, &self.common.options) }
    }
}
