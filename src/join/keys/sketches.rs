//! The sketches of all records.

use crate::bitset::NumberRanks;
use crate::error::{Error, Result};
use crate::format::KeyFormat;
use crate::query::keys::jaccard;
use crate::segment::{PageBuffer, Segment};
use crate::version::{ReadView, record_ranks};
use std::sync::Arc;

/// Compares the sketches of records.
#[derive(Debug)]
pub(crate) struct Sketches {
    /// The ranks of the records and the keys of each run, if there are sketches.
    runs: Vec<(NumberRanks, Arc<Segment>)>,
    format: KeyFormat,
}

/// Buffers of a thread that compares.
#[derive(Default)]
pub(crate) struct SketchBuffers {
    left: PageBuffer,
    right: PageBuffer,
}

impl Sketches {
    /// Reads the numbers of all records.
    pub(crate) fn new(view: &ReadView, format: KeyFormat) -> Result<Self> {
        let runs = view.version.runs.iter().filter(|_| format.sketch_bits() > 0);
        let runs = runs.filter_map(|run| Some((run.records.as_ref()?, run.keys.as_ref()?)));
        let runs = runs.map(|(records, keys)| Ok((record_ranks(records)?, Arc::clone(keys)))).collect::<Result<_>>()?;
        Ok(Self { runs, format })
    }

    /// Bytes of memory: up to 9 a record.
    pub(crate) fn resident_bytes(&self) -> u64 {
        self.runs.iter().map(|(ranks, _)| ranks.resident_bytes()).sum()
    }

    /// The estimated Jaccard similarity of two records, if there are sketches.
    pub(crate) fn jaccard(&self, a: u64, b: u64, buffers: &mut SketchBuffers) -> Result<Option<f64>> {
        self.jaccard_with(a, (self, b), buffers)
    }

    /// As [`Sketches::jaccard`], of a record of these and one of others.
    pub(super) fn jaccard_with(
        &self,
        a: u64,
        (others, b): (&Self, u64),
        buffers: &mut SketchBuffers,
    ) -> Result<Option<f64>> {
        if self.runs.is_empty() {
            return Ok(None);
        }
        let (a, b) = (self.of(a, &mut buffers.left)?, others.of(b, &mut buffers.right)?);
        Ok(Some(jaccard(self.format, a, b)))
    }

    fn of<'b>(&'b self, number: u64, buffer: &'b mut PageBuffer) -> Result<&'b [u8]> {
        let mut runs = self.runs.iter();
        let found = runs.find_map(|(ranks, keys)| Some((ranks.of(number)?, keys)));
        let (rank, keys) = found.ok_or_else(|| Error::damaged("a record has no sketch"))?;
        keys.sketch(rank, buffer)
    }
}
