//! The records of some keys of one segment.

use crate::error::Result;
use crate::fingerprint::Record;
use crate::segment::{Segment, SegmentRecords};
use std::sync::Arc;

/// Finds the records of keys that ascend, and decodes few of the blocks between them.
pub(super) struct KeySeeker {
    entries: SegmentRecords,
    next: Option<Record>,
}

impl KeySeeker {
    pub(super) fn new(keys: &Arc<Segment>) -> Self {
        Self { entries: SegmentRecords::new(Arc::clone(keys)), next: None }
    }

    /// Calls `visit` with the numbers of the records that have a key, ascending.
    pub(super) fn visit(&mut self, key: u64, visit: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        if self.next.as_ref().is_none_or(|next| next.fingerprint < key) {
            self.entries.skip_to(key)?;
        }
        loop {
            match &self.next {
                Some(next) if next.fingerprint > key => return Ok(()),
                Some(next) if next.fingerprint == key => next.id.number().map_or(Ok(()), &mut *visit)?,
                _ => {}
            }
            self.next = self.entries.next().transpose()?;
            if self.next.is_none() {
                return Ok(());
            }
        }
    }
}
