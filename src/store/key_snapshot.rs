//! A key index as it was at one moment.

use crate::admin::Statistics;
use crate::cluster::{Clusters, KeyLinks};
use crate::error::{Error, Result};
use crate::fingerprint::Id;
use crate::format::Parameters;
use crate::join::Progress;
use crate::join::keys::{KeyPairs, KeyRule};
use crate::query::keys::{KeySearcher, visit_records};
use crate::version::{ReadView, Snapshot, StoreContext};
use std::path::Path;
use std::sync::Arc;

/// A key index as it was at one moment. As [`crate::Snapshot`].
#[derive(Clone, Debug)]
pub struct KeySnapshot {
    context: Arc<StoreContext>,
    view: ReadView,
}

impl KeySnapshot {
    pub(super) fn new(context: &Arc<StoreContext>, view: ReadView) -> Self {
        Self { context: Arc::clone(context), view }
    }

    /// The parameters with which the index was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.context.parameters
    }

    /// The index's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.context.path
    }

    /// A searcher that answers from this state.
    #[must_use]
    pub fn searcher(&self) -> KeySearcher<'_> {
        KeySearcher::of_view(&self.context, self.view.clone())
    }

    /// As [`crate::KeyIndex::pairs`].
    ///
    /// # Errors
    /// As [`crate::KeyIndex::pairs`].
    pub fn pairs(&self, rule: KeyRule) -> Result<KeyPairs> {
        KeyPairs::new(&self.context, self.view.clone(), rule)
    }

    /// As [`crate::KeyIndex::pairs_with`].
    ///
    /// # Errors
    /// As [`crate::KeyIndex::pairs_with`].
    pub fn pairs_with(&self, other: &Self, rule: KeyRule) -> Result<KeyPairs> {
        self.pairs(rule)?.between(&other.context, other.view.clone())
    }

    /// As [`crate::KeyIndex::clusters`].
    ///
    /// # Errors
    /// As [`crate::KeyIndex::clusters`].
    pub fn clusters(&self, rule: KeyRule) -> Result<Clusters> {
        let links = KeyLinks::new(&self.context, self.view.clone(), rule)?;
        Clusters::linked(&Snapshot::new(&self.context, self.view.clone()), None, Arc::new(links))
    }

    /// As [`crate::KeyIndex::visit_records`], until `progress` is stopped.
    ///
    /// # Errors
    /// As [`crate::KeyIndex::visit_records`]; `Stopped` after [`Progress::stop`].
    pub fn visit_records(&self, progress: &Progress, mut visit: impl FnMut(&Id, &[u64], &[u8]) -> bool) -> Result<()> {
        let mut stopped = false;
        let visited = visit_records(
            &self.context,
            &self.view,
            || progress.check(),
            |id, keys, sketch| {
                stopped = !visit(id, keys, sketch);
                if stopped { Err(Error::stopped()) } else { Ok(()) }
            },
        );
        if stopped { Ok(()) } else { visited }
    }

    /// Sizes and counts.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        crate::admin::statistics::of_view(&self.context, &self.view)
    }
}
