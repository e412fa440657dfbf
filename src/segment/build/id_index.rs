//! The id index of a segment: the fingerprints of each id.
//!
//! It is itself a segment: hashes of ids, just long enough to tell most of them apart, take the place of fingerprints,
//! and ranks in the primary table of the indexed segment the place of ids. Hashes may collide, so a look-up reads the
//! ids of those fingerprints.

use crate::bits::bit_length;
use crate::error::{Error, Result};
use crate::executor::RateLimiter;
use crate::extsort::{NumberedRecord, Sorted, Sorter, Workspace};
use crate::fingerprint::{Fingerprint, IdRef};
use crate::segment::build::chunk::RecordChunk;
use crate::segment::reader::Segment;
use crate::segment::records::SegmentRecords;
use std::ops::ControlFlow;
use std::sync::Arc;
use xxhash_rust::xxh64::xxh64;

/// Bits of a hash beyond those that number the records; they make collisions rare.
const SPARE_BITS: u32 = 8;

/// Records between two steps of the limiter.
const STEP: u64 = 256;

/// The hash of an id in the index of a segment with this many records: a few bits longer than their number.
pub(crate) fn id_hash(id: IdRef<'_>, records: u64) -> u64 {
    let bits = (bit_length(records.saturating_sub(1)) + SPARE_BITS).min(64);
    // Nothing looks up a count.
    id_hash_of(id).unwrap_or(0) >> (64 - bits)
}

/// The full hash of an id. All indexes use its leading bits, so one order of ids suits every index.
pub(crate) fn id_hash_of(id: IdRef<'_>) -> Option<u64> {
    match id {
        IdRef::Number(number) => Some(xxh64(&number.to_le_bytes(), 0)),
        IdRef::Text(text) => Some(xxh64(text.as_bytes(), 0)),
        IdRef::None => None,
    }
}

/// Hashes and ranks, in order.
pub(crate) struct IdIndexEntries(Sorted<NumberedRecord<u64>>);

impl IdIndexEntries {
    /// The index of a segment; `limiter` slows it down.
    pub(crate) fn of<F: Fingerprint>(
        segment: &Arc<Segment>,
        workspace: &Workspace,
        limiter: Option<&RateLimiter>,
    ) -> Result<Self> {
        let records = segment.footer().records;
        let mut sorter = Sorter::new(workspace, workspace.memory_of_records());
        let (mut last, mut rank, mut number) = (None, 0u64, 0u64);
        SegmentRecords::<F>::visit_near(segment, 0, |fingerprint, id| {
            if number.is_multiple_of(STEP) {
                limiter.map_or(Ok(()), RateLimiter::step)?;
            }
            number += 1;
            let before = last.replace(fingerprint);
            rank += u64::from(before.is_some() && before != last);
            sorter.push(NumberedRecord { fingerprint: id_hash(id, records), id: rank })?;
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        Ok(Self(sorter.finish()?))
    }

    pub(crate) fn items(&self, workspace: &Workspace) -> impl Iterator<Item = Result<NumberedRecord<u64>>> {
        self.0.items(workspace.memory_of_chunks())
    }

    /// The entries as records of an index segment.
    pub(crate) fn chunks(&self, workspace: &Workspace) -> impl Iterator<Item = Result<RecordChunk<'_, u64>>> {
        self.0.chunks(workspace.memory_of_chunks()).map(|chunk| Ok(RecordChunk::Numbers(chunk?)))
    }
}
