//! The records of many ids.
//!
//! Few ids are looked up in the id index, if there is one. For many, or without an index, one pass reads all records.

use crate::db::StoreInner;
use crate::error::{Error, Result};
use crate::extsort::Workspace;
use crate::fingerprint::{Fingerprint, Id, IdKind, by_width};
use crate::load::by_id_scan::{Unknown, find, push};
use crate::load::records::{RecordSorter, SortedRecords};
use crate::load::remove::RemoveReport;
use crate::load::sorted_ids::SortedIds;
use crate::query::ViewSearcher;
use crate::version::ReadView;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A lookup in an id index costs as much as reading this many records.
const RECORDS_PER_LOOK_UP: u64 = 32;

/// Bytes of ids that are looked up together, and the number that one thread takes.
const CHUNK: u64 = 1 << 20;
const PIECE: usize = 64;

/// Bytes of an id in memory without its text.
const ID_BYTES: u64 = 64;

/// The result of a removal by ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoveIdsReport {
    /// Ids in the input, equal ones included.
    pub ids: u64,
    /// Distinct ids that no record has.
    pub unknown: u64,
    /// The smallest five of these.
    pub unknown_ids: Vec<Id>,
    /// Records that were removed.
    pub removed: u64,
    /// Records that are left; an upper bound if damage keeps some from being counted.
    pub left: u64,
}

impl StoreInner {
    pub(crate) fn bulk_remove_ids(&self, ids: &SortedIds) -> Result<RemoveIdsReport> {
        self.writer().map(drop)?;
        match self.context.parameters.ids() {
            IdKind::None => return Err(self.without_ids()),
            kind if ids.kind().fit(kind) => {}
            _ => {
                let (has, remedy) =
                    ("has ids of another kind than the input", "give them as `fpdump scan` prints them");
                return Err(self.refused((has, remedy)));
            }
        }
        let (removal, unknown) = by_width!(self.context.parameters.width(), F => {
            let (records, unknown) = self.records_of_ids::<F>(&self.read_view(), ids, &self.foreground_workspace())?;
            (self.bulk_remove(&records)?, unknown)
        });
        let RemoveReport { removed, left, .. } = removal;
        let unknown_ids = unknown.some.into_iter().collect();
        Ok(RemoveIdsReport { ids: ids.given(), unknown: unknown.count, unknown_ids, removed, left })
    }

    pub(crate) fn without_ids(&self) -> Error {
        self.refused(("has no ids", "name its records by their fingerprints"))
    }

    pub(crate) fn records_of_ids<F: Fingerprint>(
        &self,
        view: &ReadView,
        ids: &SortedIds,
        workspace: &Workspace,
    ) -> Result<(SortedRecords<F>, Unknown)> {
        let sorter = Mutex::new(RecordSorter::within(workspace.part(2)));
        let stored = view.version.segments.iter().map(|segment| segment.footer().records).fold(0, u64::saturating_add);
        let is_few = ids.given().saturating_mul(RECORDS_PER_LOOK_UP) <= stored;
        let unknown = if self.context.parameters.id_index() && is_few {
            self.look_up(view, ids, &sorter)?
        } else {
            find(view.newest_entries().live(), ids, workspace, &sorter)?
        };
        let sorter = sorter.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((sorter.finish()?, unknown))
    }

    fn look_up<F: Fingerprint>(
        &self,
        view: &ReadView,
        ids: &SortedIds,
        found: &Mutex<RecordSorter<F>>,
    ) -> Result<Unknown> {
        let (mut ids, mut unknown) = (ids.ids(), Unknown::default());
        loop {
            let chunk = chunk(&mut ids)?;
            if chunk.is_empty() {
                return Ok(unknown);
            }
            unknown.looked_up += chunk.len() as u64;
            let searcher = || ViewSearcher::new(&self.context, view.clone());
            let looked_up = chunk.par_chunks(PIECE).map_init(searcher, |searcher, ids| {
                let mut unknown = Unknown::default();
                for id in ids {
                    let mut is_known = false;
                    searcher.each_fingerprint_of(id, &mut |fingerprint| {
                        is_known = true;
                        push(found, fingerprint, id)
                    })?;
                    if !is_known {
                        unknown.add(id.clone());
                    }
                }
                Ok(unknown)
            });
            unknown = unknown.and(looked_up.try_reduce(Unknown::default, |a, b| Ok(a.and(b)))?);
        }
    }
}

fn chunk(ids: &mut impl Iterator<Item = Result<(u64, Id)>>) -> Result<Vec<Id>> {
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    while bytes < CHUNK {
        let Some((_, id)) = ids.next().transpose()? else { break };
        bytes += ID_BYTES + id.text().map_or(0, str::len) as u64;
        chunk.push(id);
    }
    Ok(chunk)
}
