//! Adding an id index to a store that was created without one.
//!
//! The footer of a segment and the header of a log repeat the manifest's parameters, so all of them are rewritten:
//! everything is flushed and merged to one run with an index, and a manifest with the new parameters replaces the old
//! one. Until then the store is as it was.

use crate::db::{Handle, Maker, StoreInner, compacted_net};
use crate::error::Result;
use crate::fingerprint::IdKind;
use crate::options::{Filters, Maintenance, Options};
use crate::version::manifest;
use std::path::Path;

/// Adds an id index to a store ([`crate::Parameters::with_id_index`]) and merges it to one segment. Returns whether the
/// store had no index. A process that has the store open for reading has to reopen it to see later writes.
///
/// ```
/// use fpstore::admin::add_id_index;
/// use fpstore::{Options, Parameters, Record, Records, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let loaded = Records::WithIds(vec![Record::new(0xaa, 1), Record::new(0xbb, 2)]);
/// drop(Store::<u64>::create_loaded(&path, &Parameters::new(3), &Options::new(), loaded)?);
/// assert!(add_id_index(&path, &Options::new())?);
/// assert_eq!(Store::<u64>::open(&path, &Options::new())?.get_id(2)?, [0xbb]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`crate::Store::open`]; `InvalidInput` if the store has no ids; `Damaged` or `Io` from reading; `Io` from
/// writing, in which case the store is as before.
pub fn add_id_index(path: impl AsRef<Path>, options: &Options) -> Result<bool> {
    // No queries, and no background threads.
    let options = options.clone().with_filters(Filters::Off).with_maintenance(Maintenance::Foreground);
    let kind = manifest::read(&*options.env, path.as_ref())?.parameters.kind();
    Handle::open(path.as_ref(), &options, kind)?.inner.add_id_index()
}

impl StoreInner {
    /// Merges all to one run with an id index. The open store has the old parameters and must not be used afterwards.
    fn add_id_index(&self) -> Result<bool> {
        let context = &self.context;
        if context.parameters.id_index() {
            return Ok(false);
        }
        if context.parameters.ids() == IdKind::None {
            return Err(self.without_ids());
        }
        let parameters = context.parameters.clone().with_id_index(true);
        self.flush()?;
        self.context
            .options
            .executor
            .run_exclusive(|| {
                let compacting = self.lock_compaction();
                let runs = self.versions().runs.clone();
                self.check_room_to_merge(&runs)?;
                let maker = Maker { parameters: &parameters, ..self.maker() };
                let made = self.merge_runs(maker, &runs, true, &self.foreground_workspace(), None)?;
                drop(compacting);
                let mut writing = self.writer()?;
                // The active log has the old parameters, too.
                self.seal(&mut writing)?;
                let (bytes, net) = ((0, made.entry.bytes()), compacted_net(&runs, true, &made));
                let first = runs.first().map_or(1, |run| run.entry.first);
                let run = made.numbered(first, writing.next_sequence, net);
                self.place(&mut writing, bytes, |manifest, all| {
                    manifest.parameters = parameters.clone();
                    *all = run.into_iter().collect();
                })?;
                Ok(true)
            })
            .inspect_err(|error| self.check_place(error))
    }
}
