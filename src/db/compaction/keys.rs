//! Merges the keys and sketches of runs of a key index.
//!
//! A record is in one run, and its number is never given again. So the tombstones of the merged runs name exactly the
//! records whose keys go.

use crate::db::run_builder::{Made, Maker};
use crate::error::Result;
use crate::format::KeyFormat;
use crate::segment::{Expected, Making, PageBuffer, Scratch, Segment, SketchSource, chunks};
use crate::version::{Run, SketchCursor, keys_of, removed_numbers};
use std::sync::Arc;

/// The segment of keys of `records`, which were merged from these runs; `None` if they have no keys.
pub(super) fn merged_keys(
    maker: Maker<'_>,
    making: Making<'_>,
    runs: &[Arc<Run>],
    records: Option<&Made>,
) -> Result<Option<Made>> {
    let Some((_, records)) = records.filter(|_| runs.iter().any(|run| run.keys.is_some())) else { return Ok(None) };
    let removed = removed_numbers(runs)?;
    let kept = keys_of(runs.iter()).filter_map(|newest| match newest {
        Ok(newest) if newest.entry.record.id.number().is_some_and(|number| removed.has(number)) => None,
        Ok(newest) => Some(Ok(newest.entry.record)),
        Err(error) => Some(Err(error)),
    });
    let size = maker.parameters.keys().map_or(0, KeyFormat::sketch_bytes);
    let sketches = MergedSketches { runs, records, size };
    let making = Making {
        expected: Expected::default(),
        secondary: None,
        sketches: if size > 0 { Some(&sketches) } else { None },
        ..making
    };
    maker.keys(making, chunks(kept, making.workspace.memory_of_chunks()))
}

/// The sketches of merged records: each is in the run that the record came from.
#[derive(Debug)]
struct MergedSketches<'a> {
    runs: &'a [Arc<Run>],
    records: &'a Arc<Segment>,
    /// Bytes of a sketch.
    size: usize,
}

impl SketchSource for MergedSketches<'_> {
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut sketches = SketchCursor::new(self.runs.iter())?;
        let (table, mut numbers) = (self.records.primary_table()?, Vec::<u64>::new());
        let (mut scratch, mut buffer) = (Scratch::default(), PageBuffer::default());
        // A record of a run without keys has no sketch.
        let none = vec![0; self.size];
        for block in 0..table.index().len() {
            table.fingerprints(block, &mut scratch, &mut numbers)?;
            for &number in &numbers {
                let sketch = sketches.of(number, &mut buffer)?;
                visit(if sketch.is_empty() { &none } else { sketch })?;
            }
        }
        Ok(())
    }
}
