//! A consistent state of a store.

use super::context::StoreContext;
use super::super_version::ReadView;
use crate::fingerprint::Fingerprint;
use crate::format::Parameters;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// A store as it was at one moment. It has all earlier writes and no later ones.
///
/// A snapshot keeps the memtables of its moment in memory and the segments on disk. Their files go when the last
/// snapshot of them is dropped or, with background compaction, at most a tenth of a second later.
///
/// ```
/// use fpstore::{Durability, Options, Parameters, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let store = Store::<u64>::create(&path, &Parameters::new(3), &Options::new())?;
/// store.insert(0b0000, 1, Durability::Buffered)?;
/// let before = store.snapshot();
/// store.insert(0b0001, 2, Durability::Buffered)?;
/// store.remove(0b0000, 1, Durability::Buffered)?;
/// assert_eq!(before.searcher().query(0b0000, 3)?[0].id, 1);
/// assert_eq!(store.query(0b0000, 3)?[0].id, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot<F: Fingerprint = u64> {
    context: Arc<StoreContext>,
    view: ReadView,
    width: PhantomData<F>,
}

impl<F: Fingerprint> Snapshot<F> {
    pub(crate) fn new(context: &Arc<StoreContext>, view: ReadView) -> Self {
        Self { context: Arc::clone(context), view, width: PhantomData }
    }

    pub(crate) fn context(&self) -> &Arc<StoreContext> {
        &self.context
    }

    pub(crate) fn read_view(&self) -> &ReadView {
        &self.view
    }

    /// The store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.context.path
    }

    /// The parameters of the store's creation.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.context.parameters
    }
}
